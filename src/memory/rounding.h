// Rounding of sizes and addresses to powers of two.
#pragma once

#include <cstdint>

namespace plimsoll::memory {

inline constexpr std::uint64_t kGrain = 64;  // every size is counted in multiples of this

// pre: unit is a power of two, and value + unit does not overflow.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) & ~(unit - 1);
}
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept {
  return value & ~(unit - 1);
}

}  // namespace plimsoll::memory
