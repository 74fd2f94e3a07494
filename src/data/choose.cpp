// Steps that choose among elements, or take them apart.
#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "data/node.h"
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
  Holds holds(Depth depth) const override {
    const std::uint64_t seen = largest_seen();
    if (step.holds) return step.holds(depth, seen);
    return {.element = seen, .given = seen, .kept = 0, .busy = seen, .is_exact = false};
  }
};

// What a cached dataset gave, once it has been run to its end.
struct Cached {
  std::mutex mutex;
  std::vector<Element> elements;
  bool is_whole = false;
};

// All elements, if they are not there already. How many those are may not be known.
Holds held(const Dataset& in, Cached& cached, Depth depth, std::uint64_t seen) {
  std::scoped_lock lock(cached.mutex);
  if (cached.is_whole) return {.element = seen};
  const Holds before = in.node()->holds(depth);
  const auto count =
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, in.node()->cardinality()));
  Holds holds = with_buffer(before, count - 1);
  holds.kept += before.given;  // that which was given is kept too
  holds.given = 0;
  holds.is_exact = false;
  return holds;
}

}  // namespace

Dataset make_step(Step step) {
  auto node = std::make_shared<StepNode>();
  node->step = std::move(step);
  return Dataset(std::move(node));
}
std::function<Holds(Depth, std::uint64_t)> passing_on(const Dataset& in) {
  return [in](Depth depth, std::uint64_t) { return in.node()->holds(depth); };
}
std::unique_ptr<Iterator> make_run(std::function<std::optional<Element>()> next) {
  return std::make_unique<FunctionRun>(std::move(next));
}

Dataset Dataset::filter(std::function<bool(const Element&)> predicate) const {
  PLIMSOLL_CHECK(predicate, InvalidArgumentError, "filter needs a function");
  return make_step({.run =
                        [in = *this, predicate] {
                          return make_run(
                              [run = shared_run(in), predicate]() -> std::optional<Element> {
                                while (run->look()) {
                                  const bool is_wanted = run->call(predicate);
                                  Element taken = run->take();
                                  if (is_wanted) return taken;
                                }
                                return std::nullopt;
                              });
                        },
                    .holds = passing_on(*this)});
}

Dataset Dataset::take_while(std::function<bool(const Element&)> predicate) const {
  PLIMSOLL_CHECK(predicate, InvalidArgumentError, "take_while needs a function");
  return make_step({.run =
                        [in = *this, predicate] {
                          return make_run(
                              [run = shared_run(in), predicate]() -> std::optional<Element> {
                                if (!run->look() || !run->call(predicate)) return std::nullopt;
                                return run->take();
                              });
                        },
                    .holds = passing_on(*this)});
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
                    .holds =
                        [in = *this](Depth depth, std::uint64_t) {
                          Holds holds = in.node()->holds(depth);
                          holds.element += kNumber;
                          holds.given += kNumber;
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
  return make_step({.run =
                        [in = *this, num_shards, index] {
                          return make_run(
                              [run = shared_run(in), num_shards, index,
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
                    .holds = passing_on(*this)});
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
       .holds =
           [in = *this, state = bytes_of(initial_state)](Depth depth, std::uint64_t seen) {
             Holds holds =
                 made_from(in.node()->holds(depth), {.element = seen, .work = seen + state});
             holds.kept += state;  // and the next one beside it
             holds.busy += state;
             holds.is_exact = false;
             return holds;
           }});
}

Dataset Dataset::cache() const {
  const auto kept = std::make_shared<Cached>();
  return make_step(
      {.run = [in = *this, kept]() -> std::unique_ptr<Iterator> {
         std::scoped_lock lock(kept->mutex);
         if (kept->is_whole) {
           return make_run([kept, at = std::size_t{0}]() mutable -> std::optional<Element> {
             if (at == kept->elements.size()) return std::nullopt;
             return kept->elements[at++];
           });
         }
         return make_run([kept, run = shared_run(in),
                          seen = std::vector<Element>()]() mutable -> std::optional<Element> {
           auto element = run->next();
           if (element) {
             seen.push_back(*element);
             return element;
           }
           std::scoped_lock end(kept->mutex);
           if (!kept->is_whole) kept->elements = std::move(seen);
           kept->is_whole = true;
           return std::nullopt;
         });
       },
       .count = [in = *this] { return in.cardinality(); },
       .holds = [in = *this, kept](Depth depth,
                                   std::uint64_t seen) { return held(in, *kept, depth, seen); }});
}

}  // namespace plimsoll::data
