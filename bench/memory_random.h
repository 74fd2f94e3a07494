// Random numbers that are the same everywhere: SplitMix64, and no distribution of the library.
#pragma once

#include <cstdint>

namespace plimsoll::bench {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }     // pre: n > 0
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {  // both included
    return low + below(high - low + 1);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  // 2^low to 2^high, every power of two as likely as the next.
  std::uint64_t any_scale(unsigned low, unsigned high) {
    const std::uint64_t base = std::uint64_t{1} << between(low, high - 1);
    return base + below(base + 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace plimsoll::bench
