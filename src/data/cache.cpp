// Elements that are kept the first time that a run comes to its end.
#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "data/node.h"
#include "plimsoll/bytes.h"
#include "runtime/call_site.h"

namespace plimsoll::data {
namespace {

struct Cached {
  std::mutex mutex;  // guards what follows, until it is whole
  std::vector<Element> elements;
  bool is_whole = false;
};
using CachedPtr = std::shared_ptr<Cached>;

// pre: it is whole.
class CachedRun : public Iterator {
 public:
  explicit CachedRun(CachedPtr cached) : cached_(std::move(cached)) {}
  std::optional<Element> next() override {
    if (at_ == cached_->elements.size()) return std::nullopt;
    return cached_->elements[at_++];
  }

 private:
  const CachedPtr cached_;
  std::size_t at_ = 0;
};

// The run that fills it, if it comes to its end; else what it has kept goes with it.
class FillingRun : public Iterator {
 public:
  FillingRun(CachedPtr cached, std::unique_ptr<Iterator> in)
      : cached_(std::move(cached)), in_(std::move(in)) {}

  std::optional<Element> next() override {
    if (!in_) return std::nullopt;
    std::optional<Element> element = next_in();
    if (element) {
      elements_.push_back(*element);
      return element;
    }
    in_.reset();
    std::scoped_lock lock(cached_->mutex);
    if (!cached_->is_whole) cached_->elements = std::move(elements_);
    cached_->is_whole = true;
    return std::nullopt;
  }

 private:
  std::optional<Element> next_in() {
    const TagScope tag(memory::Tag::kDataset);
    try {
      return in_->next();
    } catch (const ResourceExhaustedError& error) {
      if (elements_.empty()) throw;
      std::uint64_t nbytes = 0;
      for (const Element& element : elements_) nbytes += bytes_of(element);
      throw ResourceExhaustedError(fmt::format(
          "{}\n  cache() keeps {} elements by now ({}); cache(filename) keeps them in a file",
          error.what(), elements_.size(), format_bytes(nbytes)));
    }
  }

  const CachedPtr cached_;
  std::unique_ptr<Iterator> in_;
  std::vector<Element> elements_;
};

// Of elements that were made for it. pre: it is whole.
std::uint64_t whole_bytes(const Dataset& in, const Cached& cached, const Use& use) {
  if (in.node()->holds(use).owned == 0) return 0;  // another cache has them
  std::uint64_t nbytes = 0;
  for (const Element& element : cached.elements) nbytes += bytes_of(element);
  return nbytes;
}

// All elements that are taken, unless they are there already.
Holds held(const Dataset& in, Cached& cached, const Use& use, std::uint64_t seen) {
  {
    std::scoped_lock lock(cached.mutex);
    if (cached.is_whole) {
      if (use.there) use.there->add(&cached, whole_bytes(in, cached, use), Trust::kExact);
      return {.element = seen};
    }
  }
  const std::int64_t size = in.cardinality();
  if (use.full && use.full->has(&cached)) {
    Use nothing_new = use;
    nothing_new.filled = nothing_new.there = nullptr;
    return {.element = std::max(seen, in.node()->holds(nothing_new).element)};
  }
  const Holds before = in.node()->holds(use);
  const std::int64_t most = size >= 0 ? std::min(size, use.num_taken) : use.num_taken;
  const bool is_open = most == kAll;
  const auto count = static_cast<std::uint64_t>(is_open ? 1 : most);
  Holds holds = before;
  if (count > 0) holds = with_buffer(before, count - 1);
  holds.kept += count > 0 ? before.given : 0;  // that which was given is kept too
  holds.ending = count * before.owned + before.ending;
  holds.busy = std::max(holds.busy, holds.ending);
  const bool ends = use.num_taken == kAll || (size >= 0 && use.num_taken > size);
  holds.given = 0;
  holds.owned = ends ? 0 : before.owned;  // else they are forgotten when the run is
  holds.trust = std::max(before.trust, is_open ? Trust::kAbout : Trust::kMost);
  if (use.filled && ends) {
    // Behind threads the elements are the same; of a smaller last batch it is not known how small.
    const bool is_sure = in.node()->batch_rows().rows.size() <= 1 && !is_open;
    use.filled->add(&cached, count * before.owned, is_sure ? Trust::kExact : holds.trust);
  }
  if (use.filled && is_open) use.filled->note_open();
  return holds;
}

}  // namespace

Dataset Dataset::cache() const {
  const auto cached = std::make_shared<Cached>();
  const auto run = [in = *this, cached]() -> std::unique_ptr<Iterator> {
    std::scoped_lock lock(cached->mutex);
    if (cached->is_whole) return std::make_unique<CachedRun>(cached);
    return std::make_unique<FillingRun>(cached, in.make_iterator());
  };
  return make_step(
      {.run = run,
       .count = [in = *this] { return in.cardinality(); },
       .from = {*this},
       .keeps_rows = true,
       .holds = [in = *this, cached](const Use& use,
                                     std::uint64_t seen) { return held(in, *cached, use, seen); }});
}

}  // namespace plimsoll::data
