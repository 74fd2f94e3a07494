// Steps that bring several datasets together.
#include <algorithm>
#include <deque>
#include <exception>
#include <limits>

#include "base/check.h"
#include "data/node.h"
#include "data/retry.h"
#include "plimsoll/ops.h"

namespace plimsoll::data {
namespace {

constexpr std::int64_t kCycle = 4;  // datasets that AUTOTUNE opens at a time

// The smaller of two cardinalities, as zip has it.
std::int64_t shorter(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a == kInfinite || b == kInfinite) return a == kInfinite ? b : a;
  return std::min(a, b);
}

class ZipRun : public Iterator {
 public:
  explicit ZipRun(const Nest<Dataset>& datasets)
      : sources_(datasets.map([](const Dataset& d) {
          return std::make_shared<Source>(Source{.run = d.make_iterator()});
        })) {}

  std::optional<Element> next() override {
    // Elements that are there wait for those that there is no memory for yet.
    sources_.for_each([&](const std::shared_ptr<Source>& source) {
      if (is_over_ || source->element || source->has_failed) return;
      try {
        source->element = source->run->next();
        is_over_ = !source->element;
      } catch (const ResourceExhaustedError&) {
        throw;
      } catch (...) {  // all others go on with it, so that they stay in step
        source->has_failed = true;
        if (!error_) error_ = std::current_exception();
      }
    });
    if (is_over_) look_for_ends();
    if (!error_ && !is_over_) return join(sources_);
    sources_.for_each([](const std::shared_ptr<Source>& source) {
      source->element.reset();
      source->has_failed = false;
    });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }

 private:
  struct Source {
    std::unique_ptr<Iterator> run;
    std::optional<Element> element = {};
    bool has_failed = false;  // an error came instead
  };
  using Sources = Nest<std::shared_ptr<Source>>;

  // Where the first one has ended, the others may be at their end too: caches in them want to see
  // it. What comes instead is nobody's.
  void look_for_ends() {
    const std::vector<std::shared_ptr<Source>> all = sources_.flatten();
    if (all[0]->element || all[0]->has_failed) return;
    for (std::size_t i = 1; i < all.size(); ++i) {
      try {
        all[i]->run->next();
      } catch (...) {  // there is no element that it could stand for
      }
    }
  }

  static Element join(const Sources& sources) {
    if (sources.is_none()) return {};
    if (sources.is_leaf()) {
      Element element = std::move(*sources.leaf()->element);
      sources.leaf()->element.reset();
      return element;
    }
    if (sources.is_list()) {
      Element::List list;
      for (const Sources& inner : sources.list()) list.push_back(join(inner));
      return list;
    }
    Element::Dict dict;
    for (const auto& [key, inner] : sources.dict()) dict.emplace_back(key, join(inner));
    return dict;
  }

  const Sources sources_;
  std::exception_ptr error_;  // the first one, until all sources have gone on
  bool is_over_ = false;
};

bool same_form(const Nest<DType>& a, const Element& b) {
  if (a.is_leaf() && b.is_leaf()) return a.leaf() == b.leaf().dtype();
  if (a.is_list() != b.is_list() || a.is_dict() != b.is_dict() || a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size() && !a.is_leaf(); ++i) {
    if (a.is_dict() && a.dict()[i].first != b.dict()[i].first) return false;
    if (!same_form(a[i], b[i])) return false;
  }
  return true;
}

// Elements of several datasets in turns.
class InterleaveRun : public Iterator {
 public:
  InterleaveRun(std::unique_ptr<Iterator> in, Dataset::DatasetFn fn, std::size_t cycle,
                std::int64_t block)
      : in_(std::move(in)), fn_(std::move(fn)), open_(cycle), block_(block) {}

  std::optional<Element> next() override {
    std::size_t num_empty = 0;
    while (num_empty < open_.size()) {
      std::unique_ptr<Iterator>& run = open_[at_];
      if (!run && !(run = open_next())) {
        ++num_empty;
        advance();
        continue;
      }
      num_empty = 0;
      if (auto element = run->next()) {
        if (++num_given_ == block_) advance();
        return element;
      }
      run.reset();  // its place is filled when its turn comes again
      advance();
    }
    return std::nullopt;
  }

 private:
  std::unique_ptr<Iterator> open_next() {
    if (is_over_) return nullptr;
    if (!waiting_) waiting_ = in_->next();
    is_over_ = !waiting_;
    if (is_over_) return nullptr;
    auto run =
        call_or_drop([&] { return fn_(*waiting_).make_iterator(); }, [&] { waiting_.reset(); });
    waiting_.reset();  // not before: without memory for it it waits for another try
    return run;
  }
  void advance() {
    at_ = (at_ + 1) % open_.size();
    num_given_ = 0;
  }

  const std::unique_ptr<Iterator> in_;
  const Dataset::DatasetFn fn_;
  std::optional<Element> waiting_;
  std::vector<std::unique_ptr<Iterator>> open_;
  const std::int64_t block_;
  std::size_t at_ = 0;
  std::int64_t num_given_ = 0;
  bool is_over_ = false;
};

// Lists of neighbouring elements.
class WindowRun : public Iterator {
 public:
  WindowRun(std::unique_ptr<Iterator> in, const WindowOptions& options)
      : in_(std::move(in)), options_(options), shift_(options.shift.value_or(options.size)) {}

  std::optional<Element> next() override {
    const auto span = static_cast<std::size_t>((options_.size - 1) * options_.stride + 1);
    while (num_to_skip_ > 0 && !buffer_.empty()) {
      buffer_.pop_front();
      --num_to_skip_;
    }
    while (buffer_.size() < span && !is_over_) {
      auto element = in_->next();
      is_over_ = !element;
      if (is_over_) break;
      if (num_to_skip_ > 0) {
        --num_to_skip_;
      } else {
        buffer_.push_back(std::move(*element));
      }
    }
    if (buffer_.empty() || (options_.drop_remainder && buffer_.size() < span)) return {};
    Element::List window;
    for (std::size_t i = 0; i < buffer_.size() && i < span;
         i += static_cast<std::size_t>(options_.stride))
      window.push_back(buffer_[i]);
    num_to_skip_ = shift_;
    return Element(std::move(window));
  }

 private:
  const std::unique_ptr<Iterator> in_;
  const WindowOptions options_;
  const std::int64_t shift_;
  std::deque<Element> buffer_;
  std::int64_t num_to_skip_ = 0;
  bool is_over_ = false;
};

// What concatenate holds: caches of the first one stay while the other is run.
Holds one_after_another(const Dataset& first, const Dataset& other, const Use& use) {
  FullCaches filled, full;
  Use use_first = use;
  use_first.filled = &filled;
  const Holds a = first.node()->holds(use_first);
  if (use.full) full.add(*use.full);
  full.add(filled);
  if (use.filled) use.filled->add(filled);
  Use use_other = use;
  use_other.full = &full;
  const std::int64_t num_first = first.cardinality();
  if (num_first >= 0 && use.num_taken != kAll)
    use_other.num_taken = std::max<std::int64_t>(0, use.num_taken - num_first);
  const Holds b = other.node()->holds(use_other);
  return {.element = std::max(a.element, b.element),
          .given = std::max(a.given, b.given),
          .owned = std::max(a.owned, b.owned),
          .kept = std::max(a.kept, filled.nbytes() + b.kept),
          .busy = std::max(a.busy, filled.nbytes() + b.busy),
          .ending = std::max(a.ending, filled.nbytes() + b.ending),
          .keeps_last = a.keeps_last || b.keeps_last,
          .may_keep_last = a.may_keep_last || b.may_keep_last,
          .trust = std::max({a.trust, b.trust, b.element > 0 ? Trust::kMost : Trust::kAbout})};
}

// How many windows there are of n elements.
std::int64_t num_windows(std::int64_t n, const WindowOptions& options) {
  if (n < 0) return n;
  const std::int64_t shift = options.shift.value_or(options.size);
  const std::int64_t span = (options.size - 1) * options.stride + 1;
  if (!options.drop_remainder) return (n + shift - 1) / shift;
  return n < span ? 0 : (n - span) / shift + 1;
}

}  // namespace

Dataset Dataset::zip(const Nest<Dataset>& datasets) {
  PLIMSOLL_CHECK(!datasets.flatten().empty(), InvalidArgumentError, "zip got no datasets");
  return make_step({.run = [datasets] { return std::make_unique<ZipRun>(datasets); },
                    .count =
                        [datasets] {
                          std::int64_t shortest = kInfinite;
                          datasets.for_each([&](const Dataset& d) {
                            shortest = shorter(shortest, d.cardinality());
                          });
                          return shortest;
                        },
                    .from = datasets.flatten(),
                    .keeps_rows = true,
                    .holds =
                        [datasets](const Use& use, std::uint64_t) {
                          Holds all;
                          bool is_even = true;  // all end together
                          const std::int64_t num = datasets.flatten()[0].cardinality();
                          datasets.for_each([&](const Dataset& d) {
                            const Holds one = d.node()->holds(use);
                            all.busy =
                                std::max(all.kept + all.given + one.busy, all.busy + one.kept);
                            all.element += one.element;
                            all.given += one.given;
                            all.owned += one.owned;
                            all.kept += one.kept;
                            all.ending += one.ending;
                            all.trust = std::max(all.trust, one.trust);
                            is_even = is_even && d.cardinality() == num;
                            all.passing += one.keeps_last ? one.passing : one.given;
                            all.keeps_last = all.keeps_last || one.keeps_last;
                          });
                          if (!is_even) all = reading_on(all);
                          return all;
                        }});
}

Dataset Dataset::concatenate(const Dataset& other) const {
  const auto run = [first = *this, other] {
    return make_run([run = std::shared_ptr<Iterator>(first.make_iterator()), other,
                     is_second = false,
                     form = std::optional<Nest<DType>>()]() mutable -> std::optional<Element> {
      auto element = run ? run->next() : std::nullopt;
      if (!element && !is_second) {
        run.reset();  // its end comes once
        run = other.make_iterator();
        is_second = true;  // not before: without memory for it it is begun at another try
        element = run->next();
      }
      if (!element) return std::nullopt;
      if (!form) form = element->map([](const Tensor& t) { return t.dtype(); });
      PLIMSOLL_CHECK(!is_second || same_form(*form, *element), InvalidArgumentError,
                     "Incompatible types of input datasets: the elements of the second have "
                     "another structure or other types than those of the first");
      return element;
    });
  };
  return make_step({.run = run,
                    .count =
                        [first = *this, other] {
                          const std::int64_t a = first.cardinality(), b = other.cardinality();
                          if (a == kInfinite || b == kInfinite) return kInfinite;
                          return a == kUnknown || b == kUnknown ? kUnknown : a + b;
                        },
                    .from = {*this, other},
                    .keeps_rows = true,
                    .holds = [first = *this, other](
                                 const Use& use,
                                 std::uint64_t) { return one_after_another(first, other, use); }});
}

Dataset Dataset::flat_map(DatasetFn fn) const {
  return interleave(std::move(fn),
                    {.cycle_length = 1, .block_length = std::numeric_limits<std::int64_t>::max()});
}

Dataset Dataset::interleave(DatasetFn fn, const InterleaveOptions& options) const {
  PLIMSOLL_CHECK(fn, InvalidArgumentError, "interleave and flat_map need a function");
  PLIMSOLL_CHECK(options.cycle_length > 0 || options.cycle_length == kAutotune,
                 InvalidArgumentError, "`cycle_length` must be > 0 or AUTOTUNE. Received: {}",
                 options.cycle_length);
  PLIMSOLL_CHECK(options.block_length > 0, InvalidArgumentError,
                 "`block_length` must be > 0. Received: {}", options.block_length);
  const std::int64_t cycle = options.cycle_length == kAutotune ? kCycle : options.cycle_length;
  // Of the datasets that it opens, the largest elements that came are known.
  const auto holds = [in = *this, cycle](const Use& use, std::uint64_t seen) {
    Holds made = in.node()->holds(use.taking_all());
    made.kept += made.given + static_cast<std::uint64_t>(cycle) * seen;
    made.busy += static_cast<std::uint64_t>(cycle) * seen + seen;
    made.element = made.given = made.owned = seen;
    made.trust = std::max(made.trust, Trust::kMost);
    return made;
  };
  return make_step({.run =
                        [in = *this, fn, cycle, block = options.block_length] {
                          return std::make_unique<InterleaveRun>(
                              in.make_iterator(), fn, static_cast<std::size_t>(cycle), block);
                        },
                    .from = {*this},
                    .holds = holds});
}

Dataset Dataset::window(const WindowOptions& options) const {
  for (const auto& [name, value] :
       {std::pair("size", options.size), std::pair("shift", options.shift.value_or(1)),
        std::pair("stride", options.stride)})
    PLIMSOLL_CHECK(value > 0, InvalidArgumentError, "Window {} must be greater than zero, got {}",
                   name, value);
  return make_step(
      {.run = [in = *this,
               options] { return std::make_unique<WindowRun>(in.make_iterator(), options); },
       .count = [in = *this, options] { return num_windows(in.cardinality(), options); },
       .from = {*this},
       .holds =
           [in = *this, options](const Use& use, std::uint64_t seen) {
             const auto span = static_cast<std::uint64_t>((options.size - 1) * options.stride + 1);
             Holds holds = with_buffer(in.node()->holds(use.taking_all()), span);
             holds.element = seen;
             holds.given = holds.owned = 0;  // shared with the buffer
             holds.trust = std::max(holds.trust, Trust::kMost);
             return holds;
           }});
}

Dataset Dataset::window(const WindowOptions& options,
                        std::function<Dataset(const Dataset&)> fn) const {
  PLIMSOLL_CHECK(fn, InvalidArgumentError, "window needs a function");
  return window(options).flat_map(
      [fn](const Element& elements) { return fn(from_elements(elements.list())); });
}

Dataset Dataset::from_elements(std::vector<Element> elements) {
  const auto kept = std::make_shared<const std::vector<Element>>(std::move(elements));
  return make_step(
      {.run =
           [kept] {
             return make_run([kept, at = std::size_t{0}]() mutable -> std::optional<Element> {
               if (at == kept->size()) return std::nullopt;
               return (*kept)[at++];
             });
           },
       .count = [kept] { return static_cast<std::int64_t>(kept->size()); },
       .holds = [](const Use&, std::uint64_t seen) { return Holds{.element = seen}; }});
}

Dataset Dataset::keeping(std::shared_ptr<void> needed) const {
  struct KeepingRun : Iterator {
    std::shared_ptr<void> needed;
    std::unique_ptr<Iterator> run;
    ~KeepingRun() override { run.reset(); }
    std::optional<Element> next() override { return run->next(); }
  };
  return make_step({.run =
                        [in = *this, needed] {
                          auto made = std::make_unique<KeepingRun>();
                          made->needed = needed;
                          made->run = in.make_iterator();
                          return made;
                        },
                    .count = [in = *this] { return in.cardinality(); },
                    .from = {*this},
                    .keeps_rows = true,
                    .holds = passing_on(*this)});
}

}  // namespace plimsoll::data
