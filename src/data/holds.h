// How much memory a run through a dataset holds, said before it runs.
//
// Steps with functions and generators cannot know the size of what they give: they say it once an
// element has been seen. Two moments count for each step together with those before it: while
// somebody has an element of it (`kept`), and while it makes the next one (`busy`).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

namespace plimsoll::data {

// How far a number of bytes can be trusted, the best first.
enum class Trust {
  kExact,
  kMost,   // threads decide how much of it comes true
  kAbout,  // elements may be larger or more than was seen
};

// Bytes on the host, as budgets count them.
struct Holds {
  std::uint64_t element = 0;   // the size of one that it gives
  std::uint64_t given = 0;     // of it, what was made for it; the rest is shared with somebody
  std::uint64_t owned = 0;     // the same, once the steps before have made another one
  std::uint64_t kept = 0;      // while somebody has an element, without that element
  std::uint64_t busy = 0;      // the most while one is made, that one included
  std::uint64_t ending = 0;    // the most behind the last one, until the end is seen
  bool keeps_last = false;     // the element that was given last stays, for its memory
  bool may_keep_last = false;  // it does at times
  std::uint64_t passing = 0;   // of `given`, what goes with it nevertheless
  Trust trust = Trust::kExact;

  // What stays of the element that was given last.
  std::uint64_t last() const noexcept { return keeps_last ? given - passing : 0; }
  // While elements are used and made in turns, one at a time.
  std::uint64_t most() const noexcept { return std::max(kept + given, busy); }
};

// A step that may read on behind its last element.
inline Holds reading_on(Holds holds) {
  holds.ending = std::max(holds.ending, holds.busy);
  return holds;
}

// What is asked: all that steps hold ahead, or what they cannot do without.
enum class Depth { kFull, kLeast };

// Caches that have all elements, with the bytes of those; and constants of functions.
class FullCaches {
 public:
  bool has(const void* cache) const { return bytes_.contains(cache); }
  void add(const void* cache, std::uint64_t nbytes, Trust trust) {
    bytes_.emplace(cache, nbytes);
    trust_ = std::max(trust_, trust);
  }
  void add(const FullCaches& others) {
    bytes_.insert(others.bytes_.begin(), others.bytes_.end());
    constants_.insert(others.constants_.begin(), others.constants_.end());
    has_open_ = has_open_ || others.has_open_;
    trust_ = std::max(trust_, others.trust_);
  }
  void add_constants(const void* function, std::uint64_t nbytes) {
    constants_.emplace(function, nbytes);
  }
  std::uint64_t cached_bytes() const { return sum_of(bytes_); }
  std::uint64_t nbytes() const { return cached_bytes() + sum_of(constants_); }
  // Of some it is not known how many elements there will be.
  bool has_open() const { return has_open_; }
  void note_open() {
    has_open_ = true;
    trust(Trust::kAbout);
  }
  // How far nbytes() can be trusted.
  Trust trust() const { return trust_; }
  void trust(Trust at_best) { trust_ = std::max(trust_, at_best); }
  // Those that are not among others.
  FullCaches without(const FullCaches& others) const {
    FullCaches rest = *this;
    for (const auto& [cache, nbytes] : others.bytes_) rest.bytes_.erase(cache);
    for (const auto& [function, nbytes] : others.constants_) rest.constants_.erase(function);
    return rest;
  }

 private:
  using Bytes = std::map<const void*, std::uint64_t>;
  static std::uint64_t sum_of(const Bytes& bytes) {
    std::uint64_t sum = 0;
    for (const auto& [key, nbytes] : bytes) sum += nbytes;
    return sum;
  }

  Bytes bytes_, constants_;
  bool has_open_ = false;
  Trust trust_ = Trust::kExact;
};

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

// A run that is asked about.
struct Use {
  Depth depth = Depth::kFull;
  std::int64_t num_taken = kAll;     // elements; kAll: until the end has come
  const FullCaches* full = nullptr;  // taken for full before the run
  FullCaches* filled = nullptr;      // those that will be after it are added here
  FullCaches* there = nullptr;       // those that are full now are added here, and constants

  Use taking(std::int64_t num) const {
    Use use = *this;
    use.num_taken = num;
    return use;
  }
  Use taking_all() const { return taking(kAll); }
  Use taking_more(std::int64_t num) const {
    return num_taken > kAll - num ? taking_all() : taking(num_taken + num);
  }
  Use taking_times(std::int64_t num) const {
    return num_taken > kAll / num ? taking_all() : taking(num_taken * num);
  }
};

// 64 bytes are the least that a budget counts.
constexpr std::uint64_t rounded_up(std::uint64_t nbytes) noexcept {
  return (nbytes + 63) / 64 * 64;
}

// What a function does with an element.
struct Making {
  std::uint64_t element = 0;  // bytes of what it gives
  std::uint64_t shared = 0;   // of them, what it passes on of what it was given
  std::uint64_t work = 0;     // that it takes meanwhile, with what it makes
  bool keeps_work = false;    // all of it stays for the next one
  std::uint64_t others = 0;   // at most: what stays of elements in other shapes
};
// Beside what a function does with elements of one shape, what it keeps of those in others.
inline Holds with_others(Holds holds, const Making& making) {
  if (making.others == 0) return holds;
  holds.kept += making.others;
  holds.busy += making.others;
  holds.trust = std::max(holds.trust, Trust::kMost);
  return holds;
}
// A step that makes an element out of one, on the thread that asks.
inline Holds made_from(const Holds& in, const Making& making) {
  Holds holds = in;
  const bool is_others = in.given == 0;  // as elements of a cache are, while it is run
  const std::uint64_t passed_on =
      std::min({making.shared, making.element, is_others ? in.element : in.given});
  const std::uint64_t made = making.element - passed_on;
  const std::uint64_t work = std::max(making.work, made);
  const std::uint64_t stays = making.keeps_work ? work - made : 0;
  holds.element = making.element;
  // What stays of the element before is there anyway; else nobody else has what it passes on.
  holds.given = in.keeps_last ? made + std::min(in.passing, making.shared)
                : is_others   ? made
                              : making.element;
  holds.owned = in.owned == 0 ? made : making.element;
  holds.passing = making.keeps_work ? holds.given - made : 0;
  // What it passes on may be in the element that steps before keep.
  const bool is_mixed = making.shared > 0 && in.given < in.owned && !is_others;
  if (making.shared > passed_on || is_mixed) holds.trust = std::max(in.trust, Trust::kMost);
  holds.kept += in.last() + stays;
  holds.busy =
      std::max(in.busy + stays + (making.keeps_work ? made : 0), in.kept + in.given + work);
  holds.keeps_last = making.keeps_work;
  holds.may_keep_last = false;
  return with_others(holds, making);
}

// A step that collects so many elements and makes one of them.
inline Holds collected(const Holds& in, std::uint64_t count, std::uint64_t element) {
  Holds holds = in;
  holds.element = holds.given = holds.owned = element;
  holds.kept += in.last();
  holds.passing = 0;
  holds.keeps_last = holds.may_keep_last = false;
  const std::uint64_t others = count > 0 ? (count - 1) * in.owned : 0;
  const std::uint64_t last = count > 0 ? in.given : 0;
  holds.busy = std::max(others + in.busy, in.kept + others + last + element);
  return holds;
}

// A step that makes one of so many elements, and copies them into it as they come.
inline Holds placed(const Holds& in, std::uint64_t count, std::uint64_t element) {
  Holds holds = collected(in, 0, element);
  holds.busy = std::max(in.busy, in.kept + in.given + element);
  if (count > 1) holds.busy = std::max(holds.busy, element + in.busy);
  return holds;
}

// A step that keeps so many elements besides that which it gives.
inline Holds with_buffer(const Holds& in, std::uint64_t count) {
  Holds holds = in;
  holds.given = in.owned;  // others were made since
  holds.kept += count * in.owned;
  holds.busy += count * in.owned;
  holds.may_keep_last = in.keeps_last || in.may_keep_last;
  holds.keeps_last = false;
  return holds;
}

}  // namespace plimsoll::data
