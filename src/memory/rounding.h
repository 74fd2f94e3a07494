// Rounding of sizes and addresses to powers of two.
#pragma once

#include <cstdint>

namespace plimsoll::memory {

inline constexpr std::uint64_t kGrain = 64;  // every size is counted in multiples of this
// Where memory comes in buffers, a block up to this size shares one with others, and a larger one
// has its own. So much may pages pass a limit by there.
inline constexpr std::uint64_t kSharedBytes = 1U << 20;

// pre: unit is a power of two, and value + unit does not overflow.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) & ~(unit - 1);
}
constexpr std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) noexcept {
  return value & ~(unit - 1);
}

}  // namespace plimsoll::memory
