// Philox4x32-10, the counter-based generator, with TensorFlow's layout of key
// and counter: number i of a stream depends on nothing but the state and i.
#pragma once

#include <array>
#include <cstdint>

namespace plimsoll::cpu {

struct Philox {
  std::uint32_t key[2] = {};
  std::uint64_t low = 0, high = 0;  // halves of the counter

  static constexpr std::uint32_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57;
  static constexpr std::uint32_t kAdd0 = 0x9E3779B9, kAdd1 = 0xBB67AE85;
  static constexpr int kRounds = 10;

  void skip(std::uint64_t n) noexcept {
    low += n;
    if (low < n) ++high;
  }
  // The four numbers at the counter.
  std::array<std::uint32_t, 4> operator()() const noexcept {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                          static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < kRounds; ++round, k0 += kAdd0, k1 += kAdd1) {
      const std::uint64_t p0 = std::uint64_t{kMul0} * c[0], p1 = std::uint64_t{kMul1} * c[2];
      const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0;
      const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1;
      c[0] = n0, c[1] = static_cast<std::uint32_t>(p1);
      c[2] = n2, c[3] = static_cast<std::uint32_t>(p0);
    }
    return {c[0], c[1], c[2], c[3]};
  }

  // From the `state` of the random ops: a seed pair, or key and counter.
  template <class T>
  static Philox from_state(const T* state, std::int64_t size) noexcept {
    const auto at = [&](int i) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(state[i]));
    };
    Philox p;
    if (size == 3) {
      p.key[0] = static_cast<std::uint32_t>(at(0));
      p.key[1] = static_cast<std::uint32_t>(at(0) >> 32);
      p.low = at(1);
      p.high = at(2);
      return p;
    }
    p.key[0] = 0x3EC8F720;
    p.key[1] = 0x02461E29;
    p.low = at(0);
    p.high = at(1);
    const auto mixed = p();
    p.key[0] = mixed[0];
    p.key[1] = mixed[1];
    p.low = 0;
    p.high = mixed[2] | std::uint64_t{mixed[3]} << 32;
    return p;
  }
};

}  // namespace plimsoll::cpu
