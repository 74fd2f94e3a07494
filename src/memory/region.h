// A reserved range of addresses, with one byte per granule that says what its page is doing.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "memory/segment.h"

namespace plimsoll::memory {

// States of a granule. Ticks count from kFirstTick to 255 and around: a freed granule carries the
// tick at which it was freed.
inline constexpr std::uint8_t kCold = 0;  // not committed
inline constexpr std::uint8_t kLive = 1;  // committed, touched by at least one block
inline constexpr std::uint8_t kFirstTick = 2;
inline constexpr int kNumTicks = 254;

constexpr int tick_age(std::uint8_t now, std::uint8_t then) noexcept {
  return (now - then + kNumTicks) % kNumTicks;
}

struct Region {
  Address base = 0;
  std::uint64_t size = 0;
  std::uint64_t granule = 0;  // of the source
  std::uint64_t huge = 0;     // bytes of a huge page; 0: none
  Segment* first = nullptr;
  Address high = 0;  // no byte from here on was ever committed
  // Zeroed by calloc, so only the parts that are used cost memory.
  std::unique_ptr<std::uint8_t, decltype(&std::free)> states{nullptr, &std::free};
  std::unique_ptr<std::uint8_t, decltype(&std::free)> advised{nullptr,
                                                              &std::free};  // per huge page

  std::uint8_t& state(std::uint64_t granule_index) noexcept { return states.get()[granule_index]; }
  std::uint64_t index(Address address) const noexcept { return (address - base) / granule; }
  // First granule that begins at or after an address / past the last that ends at or before it.
  std::uint64_t index_up(Address address) const noexcept {
    return (address - base + granule - 1) / granule;
  }
  Address address_of(std::uint64_t granule_index) const noexcept {
    return base + granule_index * granule;
  }
};

}  // namespace plimsoll::memory
