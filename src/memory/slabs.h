// Small blocks: slabs of 64 KiB, each cut into slots of one size class.
//
// A slab in which slots have been freed is looked at once they have been so for a while: pages on
// which no slot lives are given back (its slots on them are cold then), and taken again when the
// class has no other slot left.
//
// The tree mutex of the budget guards all this, so that booking and taking a slot are one critical
// section. Pages are the heap's work.
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

using SlotBits = std::array<std::uint64_t, 16>;  // a bit per slot

struct Slab {
  enum class Where : std::uint8_t { kNowhere, kFresh, kSettled, kChilled };

  Segment* segment = nullptr;
  Slab* prev = nullptr;  // in the list that `where` says
  Slab* next = nullptr;
  Where where = Where::kNowhere;
  std::uint8_t touched_at = 0;  // tick of the last free
  std::uint16_t class_index = 0;
  std::uint16_t num_slots = 0;
  std::uint16_t num_free = 0;    // slots to be had at once
  std::uint16_t num_cold = 0;    // free slots on pages that were given back
  std::uint16_t cold_pages = 0;  // a bit per page
  std::uint16_t first_word = 0;  // no free slot in the words before
  SlotBits free{};
  SlotBits cold{};

  Slab(Segment* of, int class_index) noexcept;
  Address slot_address(std::uint16_t slot) const noexcept {
    return segment->address + slot * class_bytes(class_index);
  }
  bool is_empty() const noexcept { return num_free + num_cold == num_slots; }
};

class Slabs {
 public:
  // A free slot of a class; null if it has none, or only cold ones.
  Slab* take(int class_index, std::uint16_t* slot) noexcept {
    Class& c = classes_[static_cast<std::size_t>(class_index)];
    Slab* slab = c.fresh.head ? c.fresh.head : c.settled.head;
    if (!slab) {
      if (!c.spare) [[unlikely]]
        return nullptr;
      slab = std::exchange(c.spare, nullptr);
      move(slab, Slab::Where::kSettled);
    }
    unsigned word = slab->first_word;
    while (slab->free[word] == 0) ++word;
    slab->first_word = static_cast<std::uint16_t>(word);
    const int bit = std::countr_zero(slab->free[word]);
    slab->free[word] &= slab->free[word] - 1;
    *slot = static_cast<std::uint16_t>(word * 64 + static_cast<unsigned>(bit));
    if (--slab->num_free == 0) [[unlikely]]
      move(slab, slab->num_cold ? Slab::Where::kChilled : Slab::Where::kNowhere);
    return slab;
  }
  // A class keeps one empty slab to spare; another one is returned, for the caller to give back.
  Slab* give(Slab* slab, std::uint16_t slot, std::uint8_t tick) noexcept {
    const unsigned word = slot / 64;
    slab->free[word] |= 1ULL << (slot % 64);
    if (word < slab->first_word) slab->first_word = static_cast<std::uint16_t>(word);
    ++slab->num_free;
    slab->touched_at = tick;
    if (slab->is_empty()) {
      move(slab, Slab::Where::kNowhere);
      return slab->num_cold ? slab : keep(slab);
    }
    if (slab->where != Slab::Where::kFresh) move(slab, Slab::Where::kFresh);
    return nullptr;
  }
  // Makes an empty slab the spare one of its class; returns it if there is one already.
  Slab* keep(Slab* slab) noexcept {
    Class& c = classes_[slab->class_index];
    if (c.spare) return slab;
    c.spare = slab;
    return nullptr;
  }
  // Takes a spare slab out that has been empty for `min_age` ticks; null if there is none.
  Slab* take_spare(std::uint8_t now, int min_age) noexcept;

  // The next slab of a class to look at, of those whose last free was `min_age` ticks ago; `budget`
  // counts down the slabs looked at. It is settled from now on. null: none.
  Slab* next_to_cool(int class_index, std::uint8_t now, int min_age,
                     std::uint64_t* budget) noexcept;
  std::uint64_t num_fresh(int class_index) const noexcept {
    return classes_[static_cast<std::size_t>(class_index)].fresh.size;
  }
  // Makes slots cold that lie on pages without a living one; returns those pages, a bit each.
  std::uint16_t cool(Slab* slab, std::uint64_t page_bytes) noexcept;
  // A slab with cold slots and no others free; null if the class has none.
  Slab* chilled(int class_index) const noexcept {
    return classes_[static_cast<std::size_t>(class_index)].chilled.head;
  }
  void warm_up(Slab* slab) noexcept;  // its cold pages are there again

  bool has_work() const noexcept;  // spare slabs, or some to look at
  bool is_valid() const noexcept;  // for walkers

 private:
  struct List {
    Slab* head = nullptr;
    Slab* tail = nullptr;
    std::uint64_t size = 0;
  };
  struct Class {
    List fresh;             // some slots free; freed into since they were looked at
    List settled;           // some slots free; looked at
    List chilled;           // free slots are all cold
    Slab* spare = nullptr;  // an empty one
  };
  List* list_of(Slab* slab) noexcept;
  void move(Slab* slab, Slab::Where to) noexcept;  // to the end of a list

  std::array<Class, kNumClasses> classes_{};
};

}  // namespace plimsoll::memory
