#include "backend/cpu/norm_rows.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/cpu.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/norm_rows.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/activate.h"
#include "backend/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// The mean of a row (0 if it is not wanted) and 1 / sqrt(variance + epsilon).
template <class C>
struct RowStats {
  C mean, r;
};
template <class T>
RowStats<compute_t<T>> stats_of(const T* x, std::int64_t n, double epsilon, bool has_mean) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile];
  double sum = 0;
  if (has_mean) {
    for_tiles(n, [&](std::int64_t i, std::int64_t count) {
      sum += static_cast<double>(sum_of(read_tile(x + i, tile, count), count));
    });
  }
  const C mean = static_cast<C>(sum / static_cast<double>(n));
  double squares = 0;
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    const C* in = read_tile(x + i, tile, count);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) tile[k] = in[k] - mean;
    squares += static_cast<double>(dot_of(tile, tile, count));
  });
  return {mean, static_cast<C>(1 / std::sqrt(squares / static_cast<double>(n) + epsilon))};
}

template <class T>
void run_row(const RowNormArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile];
  const C* scale = static_cast<const C*>(args.scale);
  const C* offset = static_cast<const C*>(args.offset);
  for (std::int64_t row = first; row < last; ++row) {
    const T* x = static_cast<const T*>(args.x) + row * args.n;
    T* out = static_cast<T*>(args.out) + row * args.n;
    const RowStats<C> s = stats_of(x, args.n, args.epsilon, args.has_mean);
    for_tiles(args.n, [&](std::int64_t i, std::int64_t count) {
      const C* in = read_tile(x + i, tile, count);
      if (offset) {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k)
          tile[k] = (in[k] - s.mean) * s.r * scale[i + k] + offset[i + k];
      } else {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) tile[k] = (in[k] - s.mean) * s.r * scale[i + k];
      }
      write_tile(tile, out + i, count);
    });
  }
}

// dx = r (g - mean(g) - n mean(g n)), g = dy scale, n = (x - mean) r.
template <class T>
void run_row_grad(const RowNormArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  alignas(64) C x_tile[kRowTile], dy_tile[kRowTile];
  alignas(64) C normal[kRowTile], by_scale[kRowTile];
  const C* scale = static_cast<const C*>(args.scale);
  const auto n = static_cast<double>(args.n);
  for (std::int64_t row = first; row < last; ++row) {
    const T* x = static_cast<const T*>(args.x) + row * args.n;
    const T* dy = static_cast<const T*>(args.dy) + row * args.n;
    T* out = static_cast<T*>(args.out) + row * args.n;
    const RowStats<C> s = stats_of(x, args.n, args.epsilon, args.has_mean);
    double sum = 0, dot = 0;
    for_tiles(args.n, [&](std::int64_t i, std::int64_t count) {
      const C* in = read_tile(x + i, x_tile, count);
      const C* d = read_tile(dy + i, dy_tile, count);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) {
        normal[k] = (in[k] - s.mean) * s.r;
        by_scale[k] = d[k] * scale[i + k];
      }
      double* dscale = args.sums + i;
      double* doffset = args.sums + args.n + i;
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) dscale[k] += static_cast<double>(d[k] * normal[k]);
      if (args.has_mean) {
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) doffset[k] += static_cast<double>(d[k]);
        sum += static_cast<double>(sum_of(by_scale, count));
      }
      dot += static_cast<double>(dot_of(by_scale, normal, count));
    });
    const C mean_g = static_cast<C>(sum / n), mean_gn = static_cast<C>(dot / n);
    for_tiles(args.n, [&](std::int64_t i, std::int64_t count) {
      const C* in = read_tile(x + i, x_tile, count);
      const C* d = read_tile(dy + i, dy_tile, count);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) {
        const C normal_k = (in[k] - s.mean) * s.r;
        by_scale[k] = s.r * (d[k] * scale[i + k] - mean_g - normal_k * mean_gn);
      }
      write_tile(by_scale, out + i, count);
    });
  }
}

// Sums over rows: a block of rows at a time in C, a tile of channels at a time, then in double.
constexpr std::int64_t kRowBlock = 16;
template <class T, class F>
void sum_columns(const ColumnArgs& args, std::int64_t first, std::int64_t last, F&& add_row) {
  using C = compute_t<T>;
  alignas(64) C a[kRowTile], b[kRowTile];
  for (std::int64_t row = first; row < last; row += kRowBlock) {
    const std::int64_t end = std::min(last, row + kRowBlock);
    for_tiles(args.c, [&](std::int64_t i, std::int64_t count) {
      std::fill_n(a, count, C(0));
      std::fill_n(b, count, C(0));
      for (std::int64_t r = row; r < end; ++r) add_row(r * args.c + i, i, count, a, b);
      double* sum_a = args.sums + i;
      double* sum_b = args.sums + args.c + i;
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) sum_a[k] += static_cast<double>(a[k]);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) sum_b[k] += static_cast<double>(b[k]);
    });
  }
}
template <class T>
void run_sums(const ColumnArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile], shift_tile[kRowTile];
  sum_columns<T>(
      args, first, last, [&](std::int64_t at, std::int64_t i, std::int64_t count, C* a, C* b) {
        const C* x = read_tile(static_cast<const T*>(args.x) + at, tile, count);
        const C* shift = read_tile(static_cast<const T*>(args.mean) + i, shift_tile, count);
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) {
          const C d = x[k] - shift[k];
          a[k] += d;
          b[k] += d * d;
        }
      });
}
// A gradient on its way back through the activation of (x - mean) a + offset.
template <class C, class A>
struct Gate {
  const C* a;
  const C* offset;

  Gate(const ColumnArgs& args, std::int64_t i)
      : a(static_cast<const C*>(args.a) + i), offset(static_cast<const C*>(args.offset) + i) {}
  HWY_INLINE C operator()(C dy, C centred, std::int64_t k) const {
    if constexpr (std::is_same_v<A, NoActivation>) {
      return dy;
    } else {
      return A::gate(dy, centred * a[k] + offset[k]);
    }
  }
};
template <class T, class A>
void run_grad_sums(const ColumnArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile], dy_tile[kRowTile];
  sum_columns<T>(args, first, last,
                 [&](std::int64_t at, std::int64_t i, std::int64_t count, C* a, C* b) {
                   const C* x = read_tile(static_cast<const T*>(args.x) + at, tile, count);
                   const C* dy = read_tile(static_cast<const T*>(args.dy) + at, dy_tile, count);
                   const Gate<C, A> gate(args, i);
                   const C* mean = static_cast<const C*>(args.mean) + i;
#pragma GCC ivdep
                   for (std::int64_t k = 0; k < count; ++k) {
                     const C centred = x[k] - mean[k];
                     const C d = gate(dy[k], centred, k);
                     a[k] += d;
                     b[k] += d * centred;
                   }
                 });
}

template <class T, class F>
void map_columns(const ColumnArgs& args, std::int64_t first, std::int64_t last, F&& f) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile], other_tile[kRowTile];
  const T* others = static_cast<const T*>(args.dy ? args.dy : args.added);
  for (std::int64_t row = first; row < last; ++row) {
    for_tiles(args.c, [&](std::int64_t i, std::int64_t count) {
      const std::int64_t at = row * args.c + i;
      const C* x = read_tile(static_cast<const T*>(args.x) + at, tile, count);
      const C* other = others ? read_tile(others + at, other_tile, count) : nullptr;
      T* out = static_cast<T*>(args.out) + at;
      if constexpr (std::is_same_v<T, C>) {
        f(i, count, x, other, out);
      } else {
        f(i, count, x, other, tile);
        write_tile(tile, out, count);
      }
    });
  }
}
template <class T, class A>
void run_scale(const ColumnArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  map_columns<T>(args, first, last,
                 [&](std::int64_t i, std::int64_t count, const C* x, const C* added, C* out) {
                   const C* mean = static_cast<const C*>(args.mean) + i;
                   const C* a = static_cast<const C*>(args.a) + i;
                   const C* b = static_cast<const C*>(args.b) + i;
                   if (added) {
#pragma GCC ivdep
                     for (std::int64_t k = 0; k < count; ++k)
                       out[k] = A::activate((x[k] - mean[k]) * a[k] + b[k] + added[k]);
                   } else {
#pragma GCC ivdep
                     for (std::int64_t k = 0; k < count; ++k)
                       out[k] = A::activate((x[k] - mean[k]) * a[k] + b[k]);
                   }
                 });
}
template <class T, class A>
void run_grad(const ColumnArgs& args, std::int64_t first, std::int64_t last) {
  using C = compute_t<T>;
  map_columns<T>(args, first, last,
                 [&](std::int64_t i, std::int64_t count, const C* x, const C* dy, C* out) {
                   const Gate<C, A> gate(args, i);
                   const C* mean = static_cast<const C*>(args.mean) + i;
                   const C* a = static_cast<const C*>(args.a) + i;
                   const C* b = static_cast<const C*>(args.b) + i;
                   const C* d = static_cast<const C*>(args.d) + i;
#pragma GCC ivdep
                   for (std::int64_t k = 0; k < count; ++k) {
                     const C centred = x[k] - mean[k];
                     out[k] = (gate(dy[k], centred, k) - b[k] - centred * d[k]) * a[k];
                   }
                 });
}

template <class T>
constexpr NormKernels kernels_for() {
  return {run_row<T>,
          run_row_grad<T>,
          run_sums<T>,
          {run_grad_sums<T, NoActivation>, run_grad_sums<T, ReluActivation>,
           run_grad_sums<T, Relu6Activation>},
          {run_scale<T, NoActivation>, run_scale<T, ReluActivation>, run_scale<T, Relu6Activation>},
          {run_grad<T, NoActivation>, run_grad<T, ReluActivation>, run_grad<T, Relu6Activation>}};
}
const NormKernels* make_norm_kernels() {
  static constexpr NormKernels kKernels[] = {kernels_for<float>(), kernels_for<double>(),
                                             kernels_for<Half>(), kernels_for<BFloat16>()};
  return kKernels;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_norm_kernels);

const NormKernels& norm_kernels_of(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const NormKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_norm_kernels)();
  return kernels[static_cast<int>(dtype)];
}

}  // namespace plimsoll::cpu
#endif
