// A run of addresses in a region: a block, or a hole between blocks.
#pragma once

#include <cstdint>

#include "plimsoll/memory/source.h"

namespace plimsoll::memory {

struct Region;

struct Segment {
  enum class State : std::uint8_t {
    kHole,   // free; in the hole tree
    kBlock,  // in use
    kBusy,   // a hole whose pages are being given back, without the lock; in no tree
  };

  Address address = 0;
  std::uint64_t size = 0;
  Region* region = nullptr;
  Segment* prev = nullptr;  // neighbours in address order; null at the ends of a region
  Segment* next = nullptr;
  State state = State::kHole;
  bool has_cold = false;  // a block some of whose pages were given back (a slab)

  // Holes only.
  std::uint8_t oldest = 0;       // tick of the page that has been warm for longest
  std::uint64_t warm_bytes = 0;  // committed pages inside
  Segment* warm_prev = nullptr;  // list of holes with warm pages, oldest first
  Segment* warm_next = nullptr;
  Segment* left = nullptr;  // hole tree
  Segment* right = nullptr;

  Address end() const noexcept { return address + size; }
};

}  // namespace plimsoll::memory
