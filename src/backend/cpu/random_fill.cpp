// Compiled without contraction to fused multiply-adds: numbers are
// TensorFlow's, to the bit for uniform ones, on every instruction set.
#include "backend/cpu/random_fill.h"

#include <algorithm>

#include "backend/cpu/cpu.h"
#include "backend/cpu/scalar_math.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/random_fill.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

constexpr int kGroups = 64;  // counters at a time

// The numbers of kGroups counters, `stride` apart, as four columns.
struct Numbers {
  alignas(64) std::uint32_t c[4][kGroups];
};
void draw(const Philox& start, std::uint64_t first, std::uint64_t stride, Numbers& out) {
  Philox p = start;
  p.skip(first * stride);
  auto& [c0, c1, c2, c3] = out.c;
  for (int i = 0; i < kGroups; ++i) {
    const std::uint64_t low = p.low + static_cast<std::uint64_t>(i) * stride;
    const std::uint64_t high = p.high + (low < p.low);
    c0[i] = static_cast<std::uint32_t>(low);
    c1[i] = static_cast<std::uint32_t>(low >> 32);
    c2[i] = static_cast<std::uint32_t>(high);
    c3[i] = static_cast<std::uint32_t>(high >> 32);
  }
  std::uint32_t k0 = start.key[0], k1 = start.key[1];
  for (int round = 0; round < Philox::kRounds; ++round) {
    for (int i = 0; i < kGroups; ++i) {
      const std::uint64_t p0 = std::uint64_t{Philox::kMul0} * c0[i];
      const std::uint64_t p1 = std::uint64_t{Philox::kMul1} * c2[i];
      c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<std::uint32_t>(p1);
      c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<std::uint32_t>(p0);
    }
    k0 += Philox::kAdd0;
    k1 += Philox::kAdd1;
  }
}

// Uniform in [0, 1).
HWY_INLINE float to_unit(std::uint32_t x) {
  return std::bit_cast<float>(0x3F800000U | (x & 0x7FFFFFU)) - 1.0F;
}
HWY_INLINE double to_unit(std::uint32_t x0, std::uint32_t x1) {
  const std::uint64_t mantissa = std::uint64_t{x0 & 0xFFFFFU} << 32 | x1;
  return std::bit_cast<double>(0x3FF0000000000000U | mantissa) - 1.0;
}
template <class T>
HWY_INLINE float to_unit16(std::uint32_t x) {  // from the low 16 bits, in T's precision
  if constexpr (std::is_same_v<T, Half>) {
    return static_cast<float>(static_cast<int>(x & 0x3FFU)) * 0x1p-10F;
  } else {
    return static_cast<float>(static_cast<int>(x & 0x7FU)) * 0x1p-7F;
  }
}

// sin and cos of 0 <= v < 2 pi.
HWY_INLINE void sin_cos(float v, float& sine, float& cosine) {
  const float magic = v * 0.636619772F + scalar::kRoundMagic;
  const float q = magic - scalar::kRoundMagic;
  const std::int32_t quadrant = scalar::bits_of(magic);
  const float r = ((v - q * 1.5703125F) - q * 4.837512969970703125e-4F) - q * 7.54978995489e-8F;
  const float s = r * r;
  float p = -1.9515295891e-4F;
  p = p * s + 8.3321608736e-3F;
  p = p * s + -1.6666654611e-1F;
  p = p * s * r + r;
  float c = 2.443315711809948e-5F;
  c = c * s + -1.388731625493765e-3F;
  c = c * s + 4.166664568298827e-2F;
  c = c * s * s - 0.5F * s + 1.0F;
  const bool is_odd = quadrant & 1;
  const float a = is_odd ? c : p, b = is_odd ? p : c;
  sine = quadrant & 2 ? -a : a;
  cosine = (quadrant + 1) & 2 ? -b : b;
}
HWY_INLINE void box_muller(std::uint32_t x0, std::uint32_t x1, float& f0, float& f1) {
  const float u = to_unit(x0);
  const float radius = std::sqrt(-2.0F * scalar::log_of_normal(u < 1.0e-7F ? 1.0e-7F : u, 0));
  sin_cos(6.28318548F * to_unit(x1), f0, f1);
  f0 *= radius;
  f1 *= radius;
}
void box_muller(std::uint32_t x0, std::uint32_t x1, std::uint32_t x2, std::uint32_t x3, double& f0,
                double& f1) {
  const double u = to_unit(x0, x1);
  const double v = 2 * M_PI * to_unit(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u < 1.0e-7 ? 1.0e-7 : u));
  f0 = std::sin(v) * radius;
  f1 = std::cos(v) * radius;
}

// A tile of kGroups groups in order: elements per group are 4, of double 2.
template <class T>
constexpr int kPerGroup = std::is_same_v<T, double> ? 2 : 4;
template <class T>
constexpr int kTile = kGroups* kPerGroup<T>;
template <class T>
using Tile = compute_t<T>[kTile<T>];

template <class T>
void uniform_tile(const Numbers& n, Tile<T>& out) {
  for (int i = 0; i < kGroups; ++i) {
    if constexpr (std::is_same_v<T, double>) {
      out[2 * i] = to_unit(n.c[0][i], n.c[1][i]);
      out[2 * i + 1] = to_unit(n.c[2][i], n.c[3][i]);
    } else if constexpr (std::is_same_v<T, float>) {
      for (int k = 0; k < 4; ++k) out[4 * i + k] = to_unit(n.c[k][i]);
    } else {
      for (int k = 0; k < 4; ++k) out[4 * i + k] = to_unit16<T>(n.c[k][i]);
    }
  }
}
template <class T>
void normal_tile(const Numbers& n, Tile<T>& out) {
  if constexpr (std::is_same_v<T, double>) {
    for (int i = 0; i < kGroups; ++i)
      box_muller(n.c[0][i], n.c[1][i], n.c[2][i], n.c[3][i], out[2 * i], out[2 * i + 1]);
  } else {
    alignas(64) float f[4][kGroups];
    for (int i = 0; i < kGroups; ++i) box_muller(n.c[0][i], n.c[1][i], f[0][i], f[1][i]);
    for (int i = 0; i < kGroups; ++i) box_muller(n.c[2][i], n.c[3][i], f[2][i], f[3][i]);
    for (int i = 0; i < kGroups; ++i) {
      for (int k = 0; k < 4; ++k) out[4 * i + k] = f[k][i];
    }
  }
}

// The elements of one group of truncated normals: draws until all lie within 2
// standard deviations.
template <class T>
void truncated_group(Philox p, compute_t<T>* out) {
  using C = compute_t<T>;
  for (int found = 0;; p.skip(1)) {
    const auto x = p();
    C f[4];
    if constexpr (std::is_same_v<T, double>) {
      box_muller(x[0], x[1], x[2], x[3], f[0], f[1]);
    } else {
      box_muller(x[0], x[1], f[0], f[1]);
      box_muller(x[2], x[3], f[2], f[3]);
    }
    for (int k = 0; k < kPerGroup<T>; ++k) {
      if (std::abs(f[k]) < C(2)) out[found++] = f[k];
      if (found == kPerGroup<T>) return;
    }
  }
}
template <class T>
constexpr std::uint64_t kTruncatedStride = kPerGroup<T> * 256 / 4;  // counters set aside per group
template <class T>
void truncated_tile(const Philox& start, std::uint64_t first_group, const Numbers& n,
                    Tile<T>& out) {
  normal_tile<T>(n, out);
  for (int i = 0; i < kGroups; ++i) {
    bool is_inside = true;
    for (int k = 0; k < kPerGroup<T>; ++k)
      is_inside &= std::abs(out[kPerGroup<T> * i + k]) < compute_t<T>(2);
    if (is_inside) continue;
    Philox p = start;
    p.skip((first_group + static_cast<std::uint64_t>(i)) * kTruncatedStride<T>);
    truncated_group<T>(p, out + kPerGroup<T> * i);
  }
}

// Calls f(first element, count, tile) for the tiles that cover [begin, end).
template <class T, class Make, class F>
void for_tiles(const Philox& start, std::uint64_t stride, std::int64_t begin, std::int64_t end,
               Make&& make, F&& f) {
  Numbers numbers;
  alignas(64) Tile<T> tile;
  for (std::int64_t i = begin; i < end; i += kTile<T>) {
    const auto group = static_cast<std::uint64_t>(i / kPerGroup<T>);
    draw(start, group, stride, numbers);
    make(group, numbers, tile);
    f(i, std::min<std::int64_t>(kTile<T>, end - i), tile);
  }
}

// tile * scale + shift, rounded to T after each step, as TensorFlow's two ops
// do.
template <class T>
void store(const Tile<T>& tile, compute_t<T> scale, compute_t<T> shift, T* out,
           std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    if constexpr (std::is_same_v<T, compute_t<T>>) {
      out[k] = tile[k] * scale + shift;
    } else {
      const float scaled = T(static_cast<float>(T(tile[k])) * scale);
      out[k] = T(scaled + shift);
    }
  }
}
template <class T>
compute_t<T> rounded(double x) {
  return static_cast<compute_t<T>>(static_cast<T>(static_cast<compute_t<T>>(x)));
}

template <class T>
void fill_uniform(const FillArgs& args, std::int64_t begin, std::int64_t end) {
  const auto lo = rounded<T>(args.a);
  const auto range = rounded<T>(rounded<T>(args.b) - lo);
  for_tiles<T>(
      args.start, 1, begin, end,
      [](std::uint64_t, const Numbers& n, Tile<T>& tile) { uniform_tile<T>(n, tile); },
      [&](std::int64_t i, std::int64_t count, const Tile<T>& tile) {
        store<T>(tile, range, lo, static_cast<T*>(args.out) + i, count);
      });
}
template <class T>
void fill_normal(const FillArgs& args, std::int64_t begin, std::int64_t end) {
  for_tiles<T>(
      args.start, 1, begin, end,
      [](std::uint64_t, const Numbers& n, Tile<T>& tile) { normal_tile<T>(n, tile); },
      [&](std::int64_t i, std::int64_t count, const Tile<T>& tile) {
        store<T>(tile, rounded<T>(args.b), rounded<T>(args.a), static_cast<T*>(args.out) + i,
                 count);
      });
}
template <class T>
void fill_truncated(const FillArgs& args, std::int64_t begin, std::int64_t end) {
  for_tiles<T>(
      args.start, kTruncatedStride<T>, begin, end,
      [&](std::uint64_t group, const Numbers& n, Tile<T>& tile) {
        truncated_tile<T>(args.start, group, n, tile);
      },
      [&](std::int64_t i, std::int64_t count, const Tile<T>& tile) {
        store<T>(tile, rounded<T>(args.b), rounded<T>(args.a), static_cast<T*>(args.out) + i,
                 count);
      });
}
template <class T>
void drop(const FillArgs& args, const void* from, std::int64_t begin, std::int64_t end) {
  using C = compute_t<T>;
  const C rate = rounded<T>(args.a);
  const C scale = rounded<T>(1 / (1 - args.a));
  for_tiles<T>(
      args.start, 1, begin, end,
      [](std::uint64_t, const Numbers& n, Tile<T>& tile) { uniform_tile<T>(n, tile); },
      [&](std::int64_t i, std::int64_t count, const Tile<T>& tile) {
        const T* x = static_cast<const T*>(from) + i;
        T* out = static_cast<T*>(args.out) + i;
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) {
          const C kept = static_cast<C>(x[k]) * scale;
          out[k] = static_cast<T>(tile[k] >= rate ? kept : C(0));
        }
      });
}

template <class T>
constexpr FillKernels kernels_of() {
  return {fill_uniform<T>, fill_normal<T>, fill_truncated<T>, drop<T>};
}
const FillKernels* make_fill_kernels() {
  static constexpr FillKernels kKernels[] = {kernels_of<float>(), kernels_of<double>(),
                                             kernels_of<Half>(), kernels_of<BFloat16>()};
  return kKernels;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_fill_kernels);

const FillKernels& fill_kernels(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const FillKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_fill_kernels)();
  return kernels[static_cast<int>(dtype)];
}

}  // namespace plimsoll::cpu
#endif
