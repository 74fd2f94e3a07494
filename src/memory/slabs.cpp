#include "memory/slabs.h"

#include "memory/region.h"

namespace plimsoll::memory {

Slab::Slab(Segment* of, int index) noexcept
    : segment(of),
      class_index(static_cast<std::uint16_t>(index)),
      num_slots(static_cast<std::uint16_t>(kSlabBytes / class_bytes(index))),
      num_free(num_slots) {
  for (unsigned slot = 0; slot < num_slots; ++slot) free[slot / 64] |= 1ULL << (slot % 64);
}

void Slabs::link(Slab* slab) noexcept {
  Slab*& head = classes_[slab->class_index].partial;
  slab->prev = nullptr;
  slab->next = head;
  if (head) head->prev = slab;
  head = slab;
}

void Slabs::unlink(Slab* slab) noexcept {
  (slab->prev ? slab->prev->next : classes_[slab->class_index].partial) = slab->next;
  if (slab->next) slab->next->prev = slab->prev;
  slab->prev = slab->next = nullptr;
}

Slab* Slabs::take_spare(std::uint8_t now, int min_age) noexcept {
  for (Class& c : classes_) {
    if (c.spare && tick_age(now, c.spare->emptied_at) >= min_age) {
      return std::exchange(c.spare, nullptr);
    }
  }
  return nullptr;
}

bool Slabs::has_spare() const noexcept {
  for (const Class& c : classes_) {
    if (c.spare) return true;
  }
  return false;
}

bool Slabs::is_valid() const noexcept {
  for (int c = 0; c < kNumClasses; ++c) {
    const Class& own = classes_[static_cast<std::size_t>(c)];
    if (own.spare && own.spare->num_free != own.spare->num_slots) return false;
    for (const Slab* slab = own.partial; slab; slab = slab->next) {
      int bits = 0;
      for (std::size_t w = 0; w < slab->free.size(); ++w) {
        bits += std::popcount(slab->free[w]);
        if (w < slab->first_word && slab->free[w]) return false;
      }
      if (slab->class_index != c || bits != slab->num_free) return false;
      if (bits == 0 || bits == slab->num_slots) return false;
      if (slab->next && slab->next->prev != slab) return false;
    }
  }
  return true;
}

}  // namespace plimsoll::memory
