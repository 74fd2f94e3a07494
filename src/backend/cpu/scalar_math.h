// The functions that the expressions of scalar_ops.def may call, for float, double and integers.
//
// Those for float are free of branches and table look-ups, so that compilers turn loops over them
// into vector code; they stay within 3 units in the last place. Others that have no such form here
// are the C library's. Double is the C library's throughout.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/base.h>

namespace plimsoll::cpu::scalar {

using std::abs;
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atan2;
using std::atanh;
using std::ceil;
using std::cosh;
using std::floor;
using std::fmod;
using std::sinh;
using std::sqrt;
using std::tan;

// Double: the C library's.
HWY_INLINE double exp(double x) noexcept {
  return std::exp(x);
}
HWY_INLINE double sin(double x) noexcept {
  return std::sin(x);
}
HWY_INLINE double cos(double x) noexcept {
  return std::cos(x);
}
HWY_INLINE double expm1(double x) noexcept {
  return std::expm1(x);
}
HWY_INLINE double log(double x) noexcept {
  return std::log(x);
}
HWY_INLINE double log1p(double x) noexcept {
  return std::log1p(x);
}
HWY_INLINE double tanh(double x) noexcept {
  return std::tanh(x);
}
HWY_INLINE double erf(double x) noexcept {
  return std::erf(x);
}
HWY_INLINE double erfc(double x) noexcept {
  return std::erfc(x);
}
HWY_INLINE double pow(double x, double y) noexcept {
  return std::pow(x, y);
}
HWY_INLINE float pow(float x, float y) noexcept {
  return std::pow(x, y);
}

HWY_INLINE std::int32_t bits_of(float x) noexcept {
  return std::bit_cast<std::int32_t>(x);
}
HWY_INLINE float of_bits(std::int32_t x) noexcept {
  return std::bit_cast<float>(x);
}
HWY_INLINE float with_sign(float magnitude, float sign) noexcept {
  return of_bits(bits_of(magnitude) | (bits_of(sign) & std::numeric_limits<std::int32_t>::min()));
}
HWY_INLINE float abs_of(float x) noexcept {
  return of_bits(bits_of(x) & 0x7FFFFFFF);
}
// Left shift of the bits, without regard to the sign.
HWY_INLINE std::int32_t shift_bits(std::int32_t x, int by) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << by);
}

template <class T>
HWY_INLINE T round_even(T x) noexcept {
  constexpr T kMagic = std::is_same_v<T, float> ? T(8388608) : T(4503599627370496);
  const T magnitude = x < T(0) ? -x : x;
  const T rounded = magnitude < kMagic ? (magnitude + kMagic) - kMagic : magnitude;
  return std::copysign(rounded, x);
}

// x = n ln2 + r with |r| <= ln2 / 2; n comes with its integer in the low bits of `magic`.
struct Reduced {
  float r;
  float n;
  std::int32_t magic;
};
constexpr float kRoundMagic = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
HWY_INLINE Reduced reduce_exp(float x) noexcept {
  const float magic = x * 1.44269502F + kRoundMagic;
  const float n = magic - kRoundMagic;
  return {(x - n * 0.693359375F) - n * -2.12194440e-4F, n, bits_of(magic)};
}
HWY_INLINE std::int32_t exponent_of(const Reduced& p) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(p.magic) -
                                   static_cast<std::uint32_t>(bits_of(kRoundMagic)));
}
// exp(x + low), for |low| << 1.
HWY_INLINE float exp_with(float x, float low) noexcept {
  // Outside of these the result is infinite or zero anyway; nan passes through.
  const float clamped = x > 90.0F ? 90.0F : (x < -105.0F ? -105.0F : x);
  Reduced p = reduce_exp(clamped);
  const float r = p.r + low;
  float q = 1.39508070e-3F;
  q = q * r + 8.36907327e-3F;
  q = q * r + 4.16662022e-2F;
  q = q * r + 1.66665167e-1F;
  q = q * r + 0.5F;
  q = q * (r * r) + r + 1.0F;
  // 2^n in two factors, so that neither leaves the range of float.
  const std::int32_t n = exponent_of(p);
  const std::int32_t half = n >> 1;
  return q * of_bits(shift_bits(half + 127, 23)) * of_bits(shift_bits(n - half + 127, 23));
}
HWY_INLINE float exp(float x) noexcept {
  return exp_with(x, 0.0F);
}

HWY_INLINE float expm1(float x) noexcept {
  const float clamped = x > 89.0F ? 89.0F : (x < -30.0F ? -30.0F : x);
  const Reduced p = reduce_exp(clamped);
  float q = 1.99139496e-4F;
  q = q * p.r + 1.39412913e-3F;
  q = q * p.r + 8.33327323e-3F;
  q = q * p.r + 4.16663513e-2F;
  q = q * p.r + 1.66666672e-1F;
  q = q * p.r + 0.5F;
  q = q * (p.r * p.r) + p.r;
  const std::int32_t n = exponent_of(p);
  const float half = of_bits(shift_bits(n + 126, 23));  // 2^(n-1)
  const float wide = (q * half + (half - 0.5F)) * 2.0F;
  return n == 0 ? (x == 0.0F ? x : q) : wide;
}

// log(x * 2^shift), for normal x > 0.
HWY_INLINE float log_of_normal(float x, std::int32_t shift) noexcept {
  const auto above =  // sqrt(1/2); any x may come here, so without overflow
      static_cast<std::int32_t>(static_cast<std::uint32_t>(bits_of(x)) - 0x3F3504F3U);
  const float k = static_cast<float>((above >> 23) + shift);
  const float f = of_bits((above & 0x007FFFFF) + 0x3F3504F3) - 1.0F;
  float q = 6.91557825e-2F;
  q = q * f + -1.17887996e-1F;
  q = q * f + 1.18723094e-1F;
  q = q * f + -1.23844944e-1F;
  q = q * f + 1.42187804e-1F;
  q = q * f + -1.66692451e-1F;
  q = q * f + 2.00022191e-1F;
  q = q * f + -2.49999866e-1F;
  q = q * f + 3.33333105e-1F;
  const float square = f * f;
  const float low = (q * f) * square + k * -2.12194440e-4F - 0.5F * square;
  return (low + f) + k * 0.693359375F;
}
HWY_INLINE float log(float x) noexcept {
  const bool is_tiny = x < 1.17549435e-38F;
  const float y = log_of_normal(is_tiny ? x * 8388608.0F : x, is_tiny ? -23 : 0);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const float special = x == 0.0F ? -kInf : (x < 0.0F ? kNan : x);
  return x > 0.0F && x < kInf ? y : special;
}
HWY_INLINE float log1p(float x) noexcept {
  const float u = 1.0F + x;
  const float rounded = u - 1.0F;
  const float y = log(u) * (x / (rounded == 0.0F ? 1.0F : rounded));
  return rounded == 0.0F || u == std::numeric_limits<float>::infinity() ? x : y;
}
// For 0 <= x <= 1.
HWY_INLINE float log1p_of_fraction(float x) noexcept {
  const float u = 1.0F + x;
  const float rounded = u - 1.0F;
  const float y = log_of_normal(u, 0) * (x / rounded);
  return rounded == 0.0F ? x : y;
}
HWY_INLINE double log1p_of_fraction(double x) noexcept {
  return std::log1p(x);
}

HWY_INLINE float tanh(float x) noexcept {
  const float magnitude = abs_of(x);
  const float s = x * x;
  float q = 2.13111402e-3F;
  q = q * s + -8.16529430e-3F;
  q = q * s + 2.16961913e-2F;
  q = q * s + -5.39460182e-2F;
  q = q * s + 1.33332014e-1F;
  q = q * s + -3.33333313e-1F;
  const float small = q * s * x + x;
  const float e = exp_with(magnitude + magnitude, 0.0F);
  const float large = 1.0F - 2.0F / (e + 1.0F);
  return magnitude < 0.625F ? small : with_sign(large, x);
}

// sin(x + shift pi / 2), for |x| <= kMaxAngle: the rest after multiples of pi / 2 in double, then
// polynomials.
constexpr float kMaxAngle = 1.0e6F;
HWY_INLINE float sin_shifted(float x, std::int32_t shift) noexcept {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
  const double wide = static_cast<double>(x);
  const double q = (wide * 0.63661977236758138 + kMagic) - kMagic;
  // The first part of pi / 2 has 33 bits: its product with q is exact.
  const auto r =
      static_cast<float>((wide - q * 1.57079632673412561417) - q * 6.07710050650619224932e-11);
  const std::int32_t quadrant = static_cast<std::int32_t>(q) + shift;
  const float s = r * r;
  float p = -1.9515295891e-4F;
  p = p * s + 8.3321608736e-3F;
  p = p * s + -1.6666654611e-1F;
  p = p * s * r + r;
  float c = 2.443315711809948e-5F;
  c = c * s + -1.388731625493765e-3F;
  c = c * s + 4.166664568298827e-2F;
  c = c * s * s - 0.5F * s + 1.0F;
  const float y = quadrant & 1 ? c : p;
  return of_bits(bits_of(y) ^ shift_bits(quadrant & 2, 30));
}
HWY_INLINE float sin(float x) noexcept {
  return sin_shifted(x, 0);
}
HWY_INLINE float cos(float x) noexcept {
  return sin_shifted(x, 1);
}

// erf for |x| <= 1.
HWY_INLINE float erf_small(float x) noexcept {
  const float s = x * x;
  float q = 7.88911930e-5F;
  q = q * s + -8.02084105e-4F;
  q = q * s + 5.18953521e-3F;
  q = q * s + -2.68544443e-2F;
  q = q * s + 1.12836003e-1F;
  q = q * s + -3.76126260e-1F;
  q = q * s + 1.28379166e-1F;
  return q * x + x;
}
// erfc(t) for t >= 0.5, and exp(-t^2) for any t >= 0.
struct Tail {
  float erfc, exp;
};
HWY_INLINE Tail tail_of(float t) noexcept {
  const float clamped = t > 10.5F ? 10.5F : t;
  const float u = 1.0F / (1.0F + 0.4F * clamped);
  float q = 6.02185801e-2F;
  q = q * u + -2.20651984e-1F;
  q = q * u + 2.28498802e-1F;
  q = q * u + -5.58709614e-2F;
  q = q * u + 1.66174293e-1F;
  q = q * u + 1.61374643e-1F;
  q = q * u + 2.09018067e-1F;
  q = q * u + 2.25571617e-1F;
  q = q * u + 2.25678965e-1F;
  const float high = of_bits(bits_of(clamped) & static_cast<std::int32_t>(0xFFFFF000));
  const float low = (clamped - high) * (clamped + high);  // t^2 = high^2 + low, without rounding
  const float e = exp_with(-high * high, -low);
  return {q * u * e, e};
}
HWY_INLINE float erf(float x) noexcept {
  const float magnitude = abs_of(x);
  return magnitude < 0.9F ? erf_small(x) : with_sign(1.0F - tail_of(magnitude).erfc, x);
}
HWY_INLINE float erfc(float x) noexcept {
  const float magnitude = abs_of(x);
  const float large = tail_of(magnitude).erfc;
  return magnitude < 0.5F ? 1.0F - erf_small(x) : (x < 0.0F ? 2.0F - large : large);
}

// 1 / (1 + exp(-x)), from the side that does not overflow.
template <class T>
HWY_INLINE T sigmoid(T x) noexcept {
  const T e = exp(x < T(0) ? x : -x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
// log(1 + exp(x)).
template <class T>
HWY_INLINE T softplus(T x) noexcept {
  return (x > T(0) ? x : T(0)) + log1p_of_fraction(exp(-std::fabs(x)));
}

// Gradients of activations at y, times x.
template <class T>
HWY_INLINE T silu_grad(T x, T y) noexcept {
  const T s = sigmoid(y);
  return x * (s * (T(1) + y * (T(1) - s)));
}
HWY_INLINE float gelu_grad(float x, float y) noexcept {  // one exponential for both terms
  const float z = y * -0.70710678118654752F;
  const float magnitude = abs_of(z);
  const Tail tail = tail_of(magnitude);
  const float twice =
      magnitude < 0.5F ? 1.0F - erf_small(z) : (z < 0.0F ? 2.0F - tail.erfc : tail.erfc);
  return x * (0.5F * twice + y * (0.39894228040143268F * tail.exp));
}
HWY_INLINE double gelu_grad(double x, double y) noexcept {
  return x * (0.5 * erfc(y * -0.70710678118654752) + y * (0.39894228040143268 * exp(-0.5 * y * y)));
}
template <class T>
HWY_INLINE T gelu_tanh_grad(T x, T y) noexcept {
  const T square = y * y;
  const T s = sigmoid(T(1.5957691216057308) * (y + T(0.044715) * (square * y)));
  const T inner = T(1.5957691216057308) * (T(1) + T(0.134145) * square);
  return x * (s + y * (s * (T(1) - s)) * inner);
}
template <class T>
HWY_INLINE T mish_grad(T x, T y) noexcept {
  const T t = tanh(softplus(y));
  return x * (t + y * sigmoid(y) * (T(1) - t * t));
}

// Division that rounds down, and its remainder, with the sign of y. Integers: 0 where y is 0.
template <class T>
HWY_INLINE T floor_div(T x, T y) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return floor(x / y);
  } else if constexpr (std::is_unsigned_v<T>) {
    return y == T(0) ? T(0) : static_cast<T>(x / y);
  } else {
    if (y == T(0)) return T(0);
    if (y == T(-1)) return static_cast<T>(-x);
    const T q = static_cast<T>(x / y);
    return static_cast<T>(q - T(x % y != 0 && (x < 0) != (y < 0)));
  }
}
template <class T>
HWY_INLINE T floor_mod(T x, T y) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    const T m = fmod(x, y);
    return m != T(0) && (y < T(0)) != (m < T(0)) ? m + y : m;
  } else if constexpr (std::is_unsigned_v<T>) {
    return y == T(0) ? T(0) : static_cast<T>(x % y);
  } else {
    if (y == T(0) || y == T(-1)) return T(0);
    const T m = static_cast<T>(x % y);
    return m != 0 && (m < 0) != (y < 0) ? static_cast<T>(m + y) : m;
  }
}
// Integer powers by squaring; 0 for negative exponents.
template <class T>
requires std::is_integral_v<T>
inline T pow(T x, T y) noexcept {
  if (y < T(0)) return T(0);
  T product = T(1);
  for (; y != T(0); y = static_cast<T>(y >> 1)) {
    if (y & T(1)) product = static_cast<T>(product * x);
    x = static_cast<T>(x * x);
  }
  return product;
}
// Shifts by 0 to the number of bits less one: others are clamped, as TensorFlow does.
template <class T>
HWY_INLINE int clamp_shift(T y) noexcept {
  constexpr int kMax = 8 * static_cast<int>(sizeof(T)) - 1;
  return y < T(0) ? 0 : (y > T(kMax) ? kMax : static_cast<int>(y));
}
template <class T>
HWY_INLINE T left_shift(T x, T y) noexcept {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << clamp_shift(y));
}
template <class T>
HWY_INLINE T right_shift(T x, T y) noexcept {
  return static_cast<T>(x >> clamp_shift(y));
}

template <class T>
HWY_INLINE bool is_nan(T x) noexcept {
  return x != x;
}
template <class T>
HWY_INLINE bool is_inf(T x) noexcept {
  return x == std::numeric_limits<T>::infinity() || x == -std::numeric_limits<T>::infinity();
}
template <class T>
HWY_INLINE bool is_finite(T x) noexcept {
  return x - x == T(0);
}

}  // namespace plimsoll::cpu::scalar
