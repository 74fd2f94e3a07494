// The holes of a heap, ordered by size, then address: a treap whose nodes are the segments
// themselves, so that freeing a block never allocates.
#pragma once

#include "memory/segment.h"

namespace plimsoll::memory {

class HoleTree {
 public:
  void insert(Segment* hole) noexcept;
  void erase(Segment* hole) noexcept;
  // The smallest hole of at least `size` bytes, the lowest address among equals; null if none.
  Segment* find_at_least(std::uint64_t size) const noexcept;
  // The next larger (or equal, at a higher address) hole; null if none.
  Segment* find_after(const Segment* hole) const noexcept;
  Segment* find_largest() const noexcept;  // null if none
  bool contains(const Segment* hole) const noexcept;
  bool is_valid() const noexcept;  // for walkers

 private:
  Segment* root_ = nullptr;
};

}  // namespace plimsoll::memory
