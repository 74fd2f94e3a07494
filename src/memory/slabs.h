// Small blocks: slabs of 64 KiB, each cut into slots of one size class.
//
// The tree mutex of the budget guards them, so that booking and taking a slot are one critical
// section. Getting a slab and giving it back is the heap's work, outside of that lock.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "memory/rounding.h"
#include "memory/segment.h"

namespace plimsoll::memory {

inline constexpr std::uint64_t kSlabBytes = 64U << 10;
inline constexpr std::uint64_t kMaxSmall = 8U << 10;
inline constexpr int kNumClasses = 40;

// Size classes: multiples of 64 to 512, then eight to a doubling; at most 1/8 of a slot is lost.
constexpr int size_class(std::uint64_t nbytes) noexcept {
  if (nbytes <= 512) return static_cast<int>((nbytes - 1) / 64);
  const int log =
      static_cast<int>(std::bit_width(nbytes - 1)) - 1;  // 2^log < nbytes <= 2^(log + 1)
  return 8 + (log - 9) * 8 + static_cast<int>((nbytes - 1 - (1ULL << log)) >> (log - 3));
}
constexpr std::uint64_t class_bytes(int c) noexcept {
  if (c < 8) return static_cast<std::uint64_t>(c + 1) * 64;
  const int log = 9 + (c - 8) / 8;
  return (1ULL << log) + ((c - 8) % 8 + 1ULL) * (1ULL << (log - 3));
}
static_assert(size_class(kMaxSmall) == kNumClasses - 1 &&
              class_bytes(kNumClasses - 1) == kMaxSmall);

struct Slab {
  Segment* segment = nullptr;
  Slab* prev = nullptr;  // in the list of its class, if some slots are free and some are not
  Slab* next = nullptr;
  std::uint16_t class_index = 0;
  std::uint16_t num_slots = 0;
  std::uint16_t num_free = 0;
  std::uint16_t first_word = 0;          // no free slot in the words before
  std::uint8_t emptied_at = 0;           // tick
  std::array<std::uint64_t, 16> free{};  // a bit per slot

  Slab(Segment* of, int class_index) noexcept;
  Address slot_address(std::uint16_t slot) const noexcept {
    return segment->address + slot * class_bytes(class_index);
  }
};

class Slabs {
 public:
  // A free slot of a class; null if the class has none.
  Slab* take(int class_index, std::uint16_t* slot) noexcept {
    Class& c = classes_[static_cast<std::size_t>(class_index)];
    if (!c.partial) {
      if (!c.spare) [[unlikely]]
        return nullptr;
      link(std::exchange(c.spare, nullptr));
    }
    Slab* slab = c.partial;
    unsigned word = slab->first_word;
    while (slab->free[word] == 0) ++word;
    slab->first_word = static_cast<std::uint16_t>(word);
    const int bit = std::countr_zero(slab->free[word]);
    slab->free[word] &= slab->free[word] - 1;
    *slot = static_cast<std::uint16_t>(word * 64 + static_cast<unsigned>(bit));
    if (--slab->num_free == 0) unlink(slab);
    return slab;
  }
  // A class keeps one empty slab to spare; a second one is returned, for the caller to give back.
  Slab* give(Slab* slab, std::uint16_t slot, std::uint8_t tick) noexcept {
    const unsigned word = slot / 64;
    slab->free[word] |= 1ULL << (slot % 64);
    if (word < slab->first_word) slab->first_word = static_cast<std::uint16_t>(word);
    if (slab->num_free++ == 0) link(slab);
    if (slab->num_free < slab->num_slots) return nullptr;
    unlink(slab);
    return keep(slab, tick);
  }
  // Makes an empty slab the spare one of its class; returns it if there is one already.
  Slab* keep(Slab* slab, std::uint8_t tick) noexcept {
    Class& c = classes_[slab->class_index];
    if (c.spare) return slab;
    slab->emptied_at = tick;
    c.spare = slab;
    return nullptr;
  }
  // Takes a spare slab out that has been empty for `min_age` ticks; null if there is none.
  Slab* take_spare(std::uint8_t now, int min_age) noexcept;
  bool has_spare() const noexcept;
  bool is_valid() const noexcept;  // for walkers

 private:
  struct Class {
    Slab* partial = nullptr;  // list of slabs with some slots free, some not
    Slab* spare = nullptr;    // an empty one
  };
  void link(Slab* slab) noexcept;
  void unlink(Slab* slab) noexcept;

  std::array<Class, kNumClasses> classes_{};
};

}  // namespace plimsoll::memory
