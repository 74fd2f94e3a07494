// Steps that bring several datasets together.
#include <algorithm>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>

#include "base/check.h"
#include "data/node.h"
#include "data/retry.h"
#include "data/waiting.h"
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

// The most that a dataset inside of another one held besides the element that it gave, as far as
// runs have shown.
class InnerHolds {
 public:
  void open(const Dataset& inner) {
    std::scoped_lock lock(mutex_);
    opened_ = inner.node();
  }
  void close(const Dataset& inner) { note(*inner.node()); }
  std::uint64_t nbytes() {
    if (const NodePtr inner = opened()) note(*inner);
    std::scoped_lock lock(mutex_);
    return nbytes_;
  }

 private:
  NodePtr opened() {
    std::scoped_lock lock(mutex_);
    return opened_.lock();
  }
  // Datasets may be inside of themselves.
  void note(const DatasetNode& inner) {
    constexpr int kMaxDepth = 8;
    static constinit thread_local int depth = 0;
    if (depth == kMaxDepth) return;
    ++depth;
    FullCaches filled;
    const Holds holds = inner.holds({.filled = &filled});
    --depth;
    const std::uint64_t most = std::max({holds.most(), holds.ending, filled.nbytes()});
    std::scoped_lock lock(mutex_);
    nbytes_ = std::max(nbytes_, most - std::min(most, holds.given));
  }

  std::mutex mutex_;                         // guards what follows
  std::weak_ptr<const DatasetNode> opened_;  // the last one
  std::uint64_t nbytes_ = 0;
};

// Elements of several datasets in turns.
class InterleaveRun : public Iterator {
 public:
  InterleaveRun(std::unique_ptr<Iterator> in, Dataset::DatasetFn fn, std::size_t cycle,
                std::int64_t block, std::shared_ptr<InnerHolds> holds)
      : in_(std::move(in)),
        fn_(std::move(fn)),
        open_(cycle),
        block_(block),
        holds_(std::move(holds)) {}
  ~InterleaveRun() override {
    for (Open& open : open_) close(open);
  }

  std::optional<Element> next() override {
    const Depth depth;
    std::size_t num_empty = 0;
    while (num_empty < open_.size()) {
      Open& open = open_[at_];
      if (!open.run && !open_next(open)) {
        ++num_empty;
        advance();
        continue;
      }
      num_empty = 0;
      if (auto element = open.run->next()) {
        if (++num_given_ == block_) advance();
        return element;
      }
      close(open);  // its place is filled when its turn comes again
      advance();
    }
    return std::nullopt;
  }

 private:
  // How many such runs call each other on this thread. One whose function gives the dataset itself
  // would do so without end.
  struct Depth {
    static constexpr int kMost = 256;
    inline static constinit thread_local int depth = 0;
    Depth() {
      PLIMSOLL_CHECK(depth < kMost, InvalidArgumentError,
                     "datasets of flat_map and interleave are nested more than {} deep: does a "
                     "function give the dataset that it is a step of?",
                     kMost);
      ++depth;
    }
    ~Depth() { --depth; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
  };

  struct Open {
    std::optional<Dataset> dataset;
    std::unique_ptr<Iterator> run;
  };

  bool open_next(Open& open) {
    check_going();
    if (is_over_) return false;
    if (!waiting_) waiting_ = in_->next();
    is_over_ = !waiting_;
    if (is_over_) return false;
    call_or_drop(
        [&] {
          open.dataset = fn_(*waiting_);
          open.run = open.dataset->make_iterator();
          holds_->open(*open.dataset);
        },
        [&] { waiting_.reset(); });
    waiting_.reset();  // not before: without memory for it it waits for another try
    return true;
  }
  void close(Open& open) {
    if (!open.run) return;
    holds_->close(*open.dataset);
    open.run.reset();
    open.dataset.reset();
  }
  void advance() {
    at_ = (at_ + 1) % open_.size();
    num_given_ = 0;
  }

  const std::unique_ptr<Iterator> in_;
  const Dataset::DatasetFn fn_;
  std::optional<Element> waiting_;
  std::vector<Open> open_;
  const std::int64_t block_;
  const std::shared_ptr<InnerHolds> holds_;
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
  // Of the datasets that it opens, the largest elements that came are known, and what those held
  // that were there; others may hold more.
  const auto inner = std::make_shared<InnerHolds>();
  const auto holds = [in = *this, cycle, inner](const Use& use, std::uint64_t seen) {
    Holds made = in.node()->holds(use.taking_all());
    const std::uint64_t besides = inner->nbytes();
    const std::uint64_t open = static_cast<std::uint64_t>(cycle) * (seen + besides);
    made.kept += made.given + open;
    made.busy += open + seen;
    made.element = made.given = made.owned = seen;
    made.trust = std::max(made.trust, besides > 0 ? Trust::kAbout : Trust::kMost);
    return made;
  };
  return make_step({.run =
                        [in = *this, fn, cycle, block = options.block_length, inner] {
                          return std::make_unique<InterleaveRun>(in.make_iterator(), fn,
                                                                 static_cast<std::size_t>(cycle),
                                                                 block, inner);
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
