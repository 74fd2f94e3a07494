// A hash for keys of a few words.
#pragma once

#include <cstdint>

namespace plimsoll {

// Mixes a value into a hash.
constexpr std::uint64_t hash_mix(std::uint64_t hash, std::uint64_t value) noexcept {
  std::uint64_t x = (hash ^ value) * 0x9E3779B97F4A7C15ULL + value;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ULL;
  return x ^ x >> 32;
}

}  // namespace plimsoll
