// A plain Philox4x32-10, after the generator's description, and TensorFlow's ways from its numbers
// to floats.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plimsoll/dtype.h"

namespace plimsoll::testing_ops {

using Four = std::array<std::uint32_t, 4>;

inline Four philox(Four counter, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * counter[0], p1 = 0xCD9E8D57ULL * counter[2];
    counter = {
        static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return counter;
}

// The numbers of a stream: those of counter i.
class Stream {
 public:
  explicit Stream(const std::vector<double>& state) {
    const auto word = [&](std::size_t i, int high) {
      const auto v = static_cast<std::uint64_t>(static_cast<std::int64_t>(state[i]));
      return static_cast<std::uint32_t>(high ? v >> 32 : v);
    };
    if (state.size() == 3) {
      key_ = {word(0, 0), word(0, 1)};
      start_ = {word(1, 0), word(1, 1), word(2, 0), word(2, 1)};
      return;
    }
    const Four mixed =
        philox({word(0, 0), word(0, 1), word(1, 0), word(1, 1)}, 0x3EC8F720U, 0x02461E29U);
    key_ = {mixed[0], mixed[1]};
    start_ = {0, 0, mixed[2], mixed[3]};
  }
  Four at(std::uint64_t i) const {
    const std::uint64_t low = (std::uint64_t{start_[1]} << 32 | start_[0]) + i;
    std::uint64_t high = std::uint64_t{start_[3]} << 32 | start_[2];
    if (low < i) ++high;
    return philox({static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                   static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)},
                  key_[0], key_[1]);
  }

 private:
  std::array<std::uint32_t, 2> key_;
  Four start_;
};

inline double unit32(std::uint32_t x) {
  return (x & 0x7FFFFFU) * 0x1p-23;
}
inline double unit64(std::uint32_t x0, std::uint32_t x1) {
  return static_cast<double>(std::uint64_t{x0 & 0xFFFFFU} << 32 | x1) * 0x1p-52;
}
// Element i of a uniform tensor.
inline double uniform_at(const Stream& s, DType dtype, std::uint64_t i) {
  if (dtype == DType::kFloat64) {
    const Four x = s.at(i / 2);
    return i % 2 ? unit64(x[2], x[3]) : unit64(x[0], x[1]);
  }
  const std::uint32_t x = s.at(i / 4)[i % 4];
  if (dtype == DType::kFloat16) return (x & 0x3FFU) * 0x1p-10;
  return dtype == DType::kBFloat16 ? (x & 0x7FU) * 0x1p-7 : unit32(x);
}
// The normal numbers that four random ones make: two in double, else four.
inline std::vector<double> normals(const Four& x, DType dtype) {
  const auto pair = [](double u, double v) {
    const double radius = std::sqrt(-2 * std::log(std::max(u, 1e-7)));
    return std::pair(std::sin(v) * radius, std::cos(v) * radius);
  };
  if (dtype == DType::kFloat64) {
    const auto [a, b] = pair(unit64(x[0], x[1]), 2 * M_PI * unit64(x[2], x[3]));
    return {a, b};
  }
  const auto angle = [](std::uint32_t n) {
    return 6.2831854820251465F * static_cast<float>(unit32(n));
  };
  const auto [a, b] = pair(unit32(x[0]), angle(x[1]));
  const auto [c, d] = pair(unit32(x[2]), angle(x[3]));
  return {a, b, c, d};
}

}  // namespace plimsoll::testing_ops
