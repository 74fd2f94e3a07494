// Steps that choose among elements, or take them apart.
#include <algorithm>

#include "base/check.h"
#include "data/measured.h"
#include "data/waiting.h"
#include "plimsoll/ops.h"
#include "runtime/call_site.h"

namespace plimsoll::data {
namespace {

class FunctionRun : public Iterator {
 public:
  explicit FunctionRun(std::function<std::optional<Element>()> next) : next_(std::move(next)) {}
  std::optional<Element> next() override {
    if (!next_) return std::nullopt;
    const TagScope tag(memory::Tag::kDataset);
    std::optional<Element> element = next_();
    if (!element) next_ = nullptr;  // what it holds goes with the last element
    return element;
  }

 private:
  std::function<std::optional<Element>()> next_;
};

// Iterators are copied into functions, which may be copied. The element that was looked at last
// comes again until it is taken: a function without memory for it can be tried again. After any
// other error it is gone.
class SharedRun {
 public:
  explicit SharedRun(const Dataset& dataset) : run_(dataset.make_iterator()) {}
  // Whether there is another element.
  bool look() {
    check_going();
    if (!element_) element_ = run_->next();
    return element_.has_value();
  }
  // pre for both: an element was found.
  template <class F>
  auto call(F&& f) {
    try {
      return f(*element_);
    } catch (const ResourceExhaustedError&) {
      throw;
    } catch (...) {
      element_.reset();
      throw;
    }
  }
  Element take() {
    Element element = std::move(*element_);
    element_.reset();
    return element;
  }
  std::optional<Element> next() { return look() ? std::optional(take()) : std::nullopt; }

 private:
  std::unique_ptr<Iterator> run_;
  std::optional<Element> element_;
};
std::shared_ptr<SharedRun> shared_run(const Dataset& dataset) {
  return std::make_shared<SharedRun>(dataset);
}

std::int64_t rows_of(const Element& element) {
  std::optional<std::int64_t> num_rows;
  element.for_each([&](const Tensor& t) {
    PLIMSOLL_CHECK(t.rank() > 0, InvalidArgumentError,
                   "Cannot unbatch an element with scalar components.");
    if (!num_rows) num_rows = t.shape()[0];
    PLIMSOLL_CHECK(*num_rows == t.shape()[0], InvalidArgumentError,
                   "Input element must have the same batch size in each component. Component 0 had "
                   "size {} but another had size {}.",
                   *num_rows, t.shape()[0]);
  });
  return num_rows.value_or(0);
}

struct StepNode : DatasetNode, std::enable_shared_from_this<StepNode> {
  Step step;

  std::unique_ptr<Iterator> iterate() const override {
    return make_noted_run(shared_from_this(), step.run());
  }
  std::int64_t cardinality() const override { return step.count(); }
  BatchRows batch_rows() const override {
    if (!step.keeps_rows || step.from.empty()) return {};
    BatchRows all{.trust = Trust::kExact};
    for (const Dataset& in : step.from) {
      const BatchRows one = in.node()->batch_rows();
      for (const std::int64_t num : one.rows) {
        if (std::ranges::find(all.rows, num) == all.rows.end()) all.rows.push_back(num);
      }
      all.trust = std::max(all.trust, one.trust);
      all.are_in_order = all.are_in_order && one.are_in_order;
    }
    if (step.from.size() > 1) all = all.in_any_order();
    return step.leaves_out ? all.of_a_part() : all;
  }
  bool can_begin_again() const override {
    return std::ranges::all_of(step.from,
                               [](const Dataset& in) { return in.node()->can_begin_again(); });
  }
  Holds holds(const Use& use) const override {
    const std::uint64_t seen = largest_seen();
    if (step.holds) return step.holds(use, seen);
    return {.element = seen, .given = seen, .owned = seen, .busy = seen, .trust = Trust::kMost};
  }
};

}  // namespace

Dataset make_step(Step step) {
  auto node = std::make_shared<StepNode>();
  node->step = std::move(step);
  return Dataset(std::move(node));
}
std::function<Holds(const Use&, std::uint64_t)> passing_on(const Dataset& in,
                                                           std::function<Use(const Use&)> use_in) {
  return [in, use_in](const Use& use, std::uint64_t) {
    return use_in ? reading_on(in.node()->holds(use_in(use))) : in.node()->holds(use);
  };
}
std::unique_ptr<Iterator> make_run(std::function<std::optional<Element>()> next) {
  return std::make_unique<FunctionRun>(std::move(next));
}

namespace {

// A function that says yes or no to elements.
struct Predicate {
  std::function<bool(const Element&)> fn;
  Measured measured;

  bool call(const Element& element) const {
    return measured.call(
        element, [&] { return fn(element); }, [](bool) { return std::uint64_t{0}; });
  }
  Holds held(Holds holds, const Use& use, const BatchRows& batches) const {
    const Making making = measured.making(0, use, batches);
    const std::uint64_t stays = making.keeps_work ? making.work : 0;
    holds.busy = std::max(holds.busy + stays, holds.kept + holds.given + making.work);
    holds.kept += stays;
    // Nothing is known of what kernels keep for other shapes.
    holds.trust = std::max(holds.trust, making.others > 0 ? Trust::kAbout : Trust::kMost);
    return with_others(holds, making);
  }
};

// At its end the function's work space goes.
struct PredicateRun {
  PredicateRun(const Dataset& in, std::shared_ptr<const Predicate> function)
      : elements(std::in_place, in), predicate(std::move(function)) {}
  ~PredicateRun() {
    elements.reset();
    predicate->measured.trim();
  }
  PredicateRun(const PredicateRun&) = delete;
  PredicateRun& operator=(const PredicateRun&) = delete;
  bool is_wanted() {
    return elements->call([&](const Element& element) { return predicate->call(element); });
  }
  std::optional<SharedRun> elements;
  const std::shared_ptr<const Predicate> predicate;
};

Dataset chosen(const Dataset& in, std::function<bool(const Element&)> fn,
               const WorkOptions& options, bool ends_with_no) {
  const std::shared_ptr<const Predicate> predicate(
      new Predicate{.fn = std::move(fn), .measured = Measured(options)});
  return make_step({.run =
                        [in, predicate, ends_with_no] {
                          return make_run([run = std::make_shared<PredicateRun>(in, predicate),
                                           ends_with_no]() -> std::optional<Element> {
                            while (run->elements->look()) {
                              const bool is_wanted = run->is_wanted();
                              if (!is_wanted && ends_with_no) return std::nullopt;
                              Element taken = run->elements->take();
                              if (is_wanted) return taken;
                            }
                            return std::nullopt;
                          });
                        },
                    .from = {in},
                    .keeps_rows = true,
                    .leaves_out = true,
                    .holds =
                        [in, predicate](const Use& use, std::uint64_t) {
                          return reading_on(predicate->held(in.node()->holds(use.taking_all()), use,
                                                            in.node()->batch_rows()));
                        }});
}

}  // namespace

Dataset Dataset::filter(std::function<bool(const Element&)> predicate,
                        const WorkOptions& options) const {
  PLIMSOLL_CHECK(predicate, InvalidArgumentError, "filter needs a function");
  return chosen(*this, std::move(predicate), options, false);
}

Dataset Dataset::take_while(std::function<bool(const Element&)> predicate,
                            const WorkOptions& options) const {
  PLIMSOLL_CHECK(predicate, InvalidArgumentError, "take_while needs a function");
  return chosen(*this, std::move(predicate), options, true);
}

Dataset Dataset::enumerate(std::int64_t start) const {
  constexpr std::uint64_t kNumber = 64;  // bytes of a scalar
  return make_step({.run =
                        [in = *this, start] {
                          return make_run([run = shared_run(in),
                                           number = start]() mutable -> std::optional<Element> {
                            if (!run->look()) return std::nullopt;
                            const Tensor counted = constant(number);
                            ++number;
                            return Element{counted, run->take()};
                          });
                        },
                    .count = [in = *this] { return in.cardinality(); },
                    .from = {*this},
                    .holds =
                        [in = *this](const Use& use, std::uint64_t) {
                          Holds holds = in.node()->holds(use);
                          holds.element += kNumber;
                          holds.given += kNumber;
                          holds.passing += kNumber;
                          holds.owned += kNumber;
                          holds.busy += kNumber;
                          return holds;
                        }});
}

Dataset Dataset::shard(std::int64_t num_shards, std::int64_t index) const {
  PLIMSOLL_CHECK(num_shards > 0, InvalidArgumentError,
                 "Number of shards must be greater than zero (currently num_shards = {}).",
                 num_shards);
  PLIMSOLL_CHECK(index >= 0 && index < num_shards, InvalidArgumentError,
                 "Index must be between 0 and {} (currently index = {}).", num_shards - 1, index);
  return make_step(
      {.run =
           [in = *this, num_shards, index] {
             return make_run([run = shared_run(in), num_shards, index,
                              at = std::int64_t{0}]() mutable -> std::optional<Element> {
               while (auto element = run->next()) {
                 if (at++ % num_shards == index) return element;
               }
               return std::nullopt;
             });
           },
       .count =
           [in = *this, num_shards, index] {
             const std::int64_t n = in.cardinality();
             return n < 0 ? n : n / num_shards + (n % num_shards > index ? 1 : 0);
           },
       .from = {*this},
       .keeps_rows = true,
       .leaves_out = true,
       .holds = passing_on(*this,
                           [num_shards](const Use& use) { return use.taking_times(num_shards); })});
}

Dataset Dataset::unbatch() const {
  return flat_map([](const Element& element) {
    rows_of(element);
    return from_tensor_slices(element);
  });
}

Dataset Dataset::scan(const Element& initial_state, ScanFn fn) const {
  PLIMSOLL_CHECK(fn, InvalidArgumentError, "scan needs a function");
  return make_step(
      {.run =
           [in = *this, initial_state, fn] {
             return make_run([run = shared_run(in), state = initial_state,
                              fn]() mutable -> std::optional<Element> {
               if (!run->look()) return std::nullopt;
               auto [next, output] =
                   run->call([&](const Element& element) { return fn(state, element); });
               run->take();
               state = std::move(next);
               return output;
             });
           },
       .count = [in = *this] { return in.cardinality(); },
       .from = {*this},
       .holds =
           [in = *this, state = bytes_of(initial_state)](const Use& use, std::uint64_t seen) {
             Holds holds =
                 made_from(in.node()->holds(use), {.element = seen, .work = seen + state});
             holds.kept += state;  // and the next one beside it
             holds.busy += state;
             holds.trust = std::max(holds.trust, Trust::kMost);
             return holds;
           }});
}

}  // namespace plimsoll::data
