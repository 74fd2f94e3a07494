// 16-bit floating point: storage types that compute in float.
#pragma once

#include <bit>
#include <cstdint>

namespace plimsoll {

// IEEE binary16. Conversions round to nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  constexpr Half(float value) noexcept : bits(from_float(value)) {}
  constexpr operator float() const noexcept { return to_float(bits); }
  static constexpr Half from_bits(std::uint16_t bits) noexcept {
    Half h;
    h.bits = bits;
    return h;
  }

 private:
  static constexpr std::uint16_t from_float(float value) noexcept {
    const auto x = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = x >> 16 & 0x8000U;
    std::uint32_t magnitude = x & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);  // nan
    if (magnitude >= 0x477FF000U)
      return static_cast<std::uint16_t>(sign | 0x7C00U);  // rounds to inf
    if (magnitude < 0x38800000U) {  // subnormal: let float addition do the rounding
      const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
    }
    magnitude += 0xFFFU + (magnitude >> 13 & 1U) - (112U << 23);
    return static_cast<std::uint16_t>(sign | magnitude >> 13);
  }
  static constexpr float to_float(std::uint16_t h) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
    const std::uint32_t exponent = h >> 10 & 31U;
    const std::uint32_t mantissa = h & 0x3FFU;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | mantissa << 13);
    if (exponent) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    const float small = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
  }
};

// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  constexpr BFloat16(float value) noexcept : bits(from_float(value)) {}
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  static constexpr BFloat16 from_bits(std::uint16_t bits) noexcept {
    BFloat16 b;
    b.bits = bits;
    return b;
  }

 private:
  static constexpr std::uint16_t from_float(float value) noexcept {
    const auto x = std::bit_cast<std::uint32_t>(value);
    if ((x & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>(x >> 16 | 0x40U);  // nan
    return static_cast<std::uint16_t>((x + 0x7FFFU + (x >> 16 & 1U)) >> 16);
  }
};

}  // namespace plimsoll
