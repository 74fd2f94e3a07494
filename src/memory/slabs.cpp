#include "memory/slabs.h"

#include <algorithm>

#include "memory/region.h"

namespace plimsoll::memory {
namespace {

bool has_bit(const SlotBits& bits, std::uint64_t slot) noexcept {
  return bits[slot / 64] >> (slot % 64) & 1U;
}

int count(const SlotBits& bits) noexcept {
  int sum = 0;
  for (const std::uint64_t word : bits) sum += std::popcount(word);
  return sum;
}

}  // namespace

Slab::Slab(Segment* of, int index) noexcept
    : segment(of),
      class_index(static_cast<std::uint16_t>(index)),
      num_slots(static_cast<std::uint16_t>(kSlabBytes / class_bytes(index))),
      num_free(num_slots) {
  for (unsigned slot = 0; slot < num_slots; ++slot) free[slot / 64] |= 1ULL << (slot % 64);
}

Slabs::List* Slabs::list_of(Slab* slab) noexcept {
  Class& c = classes_[slab->class_index];
  switch (slab->where) {
    case Slab::Where::kNowhere:
      return nullptr;
    case Slab::Where::kFresh:
      return &c.fresh;
    case Slab::Where::kSettled:
      return &c.settled;
    case Slab::Where::kChilled:
      return &c.chilled;
  }
  return nullptr;
}

void Slabs::move(Slab* slab, Slab::Where to) noexcept {
  if (List* from = list_of(slab)) {
    (slab->prev ? slab->prev->next : from->head) = slab->next;
    (slab->next ? slab->next->prev : from->tail) = slab->prev;
    --from->size;
  }
  slab->where = to;
  slab->prev = slab->next = nullptr;
  if (List* list = list_of(slab)) {
    slab->prev = list->tail;
    (list->tail ? list->tail->next : list->head) = slab;
    list->tail = slab;
    ++list->size;
  }
}

Slab* Slabs::take_spare(std::uint8_t now, int min_age) noexcept {
  for (Class& c : classes_) {
    if (c.spare && tick_age(now, c.spare->touched_at) >= min_age) {
      return std::exchange(c.spare, nullptr);
    }
  }
  return nullptr;
}

Slab* Slabs::next_to_cool(int class_index, std::uint8_t now, int min_age,
                          std::uint64_t* budget) noexcept {
  Class& c = classes_[static_cast<std::size_t>(class_index)];
  while (*budget && c.fresh.head) {
    --*budget;
    Slab* slab = c.fresh.head;
    if (tick_age(now, slab->touched_at) < min_age) {
      move(slab, Slab::Where::kFresh);  // to the end: its time comes
      continue;
    }
    move(slab, Slab::Where::kSettled);
    return slab;
  }
  return nullptr;
}

std::uint16_t Slabs::cool(Slab* slab, std::uint64_t page_bytes) noexcept {
  const std::uint64_t slot_bytes = class_bytes(slab->class_index);
  std::uint16_t pages = 0;
  for (std::uint64_t page = 0; page < kSlabBytes / page_bytes; ++page) {
    if (slab->cold_pages >> page & 1U) continue;
    const std::uint64_t first = page * page_bytes / slot_bytes;
    const std::uint64_t last = std::min<std::uint64_t>(
        slab->num_slots, ((page + 1) * page_bytes + slot_bytes - 1) / slot_bytes);
    bool has_living = false;
    for (std::uint64_t slot = first; slot < last && !has_living; ++slot) {
      has_living = !has_bit(slab->free, slot) && !has_bit(slab->cold, slot);
    }
    if (has_living) continue;
    pages = static_cast<std::uint16_t>(pages | 1U << page);
    for (std::uint64_t slot = first; slot < last; ++slot) {
      slab->free[slot / 64] &= ~(1ULL << (slot % 64));
      slab->cold[slot / 64] |= 1ULL << (slot % 64);
    }
  }
  slab->cold_pages = static_cast<std::uint16_t>(slab->cold_pages | pages);
  slab->num_free = static_cast<std::uint16_t>(count(slab->free));
  slab->num_cold = static_cast<std::uint16_t>(count(slab->cold));
  if (slab->num_free == 0)
    move(slab, slab->num_cold ? Slab::Where::kChilled : Slab::Where::kNowhere);
  return pages;
}

void Slabs::warm_up(Slab* slab) noexcept {
  for (std::size_t w = 0; w < slab->free.size(); ++w)
    slab->free[w] |= std::exchange(slab->cold[w], 0);
  slab->num_free =
      static_cast<std::uint16_t>(slab->num_free + std::exchange(slab->num_cold, std::uint16_t{0}));
  slab->cold_pages = 0;
  slab->first_word = 0;
  move(slab, Slab::Where::kSettled);
}

bool Slabs::has_work() const noexcept {
  for (const Class& c : classes_) {
    if (c.spare || c.fresh.head) return true;
  }
  return false;
}

bool Slabs::is_valid() const noexcept {
  for (int index = 0; index < kNumClasses; ++index) {
    const Class& c = classes_[static_cast<std::size_t>(index)];
    if (c.spare &&
        (c.spare->num_free != c.spare->num_slots || c.spare->where != Slab::Where::kNowhere)) {
      return false;
    }
    for (const List* list : {&c.fresh, &c.settled, &c.chilled}) {
      std::uint64_t size = 0;
      for (const Slab* slab = list->head; slab; slab = slab->next, ++size) {
        for (std::size_t w = 0; w < slab->free.size(); ++w) {
          if (slab->free[w] & slab->cold[w]) return false;
          if (w < slab->first_word && slab->free[w]) return false;
        }
        if (slab->class_index != index || count(slab->free) != slab->num_free) return false;
        if (count(slab->cold) != slab->num_cold || slab->is_empty()) return false;
        if ((slab->num_free == 0) != (list == &c.chilled)) return false;
        if (slab->next ? slab->next->prev != slab : list->tail != slab) return false;
      }
      if (size != list->size) return false;
    }
  }
  return true;
}

}  // namespace plimsoll::memory
