#include "backend/cpu/softmax_rows.h"

#include <algorithm>

#include "backend/cpu/cpu.h"
#include "backend/cpu/scalar_math.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/softmax_rows.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// The largest element and the sum of exp(x - largest) of a row.
template <class C>
struct Norm {
  C max, sum;
};
template <class T>
Norm<compute_t<T>> norm_of(const T* x, std::int64_t n) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile];
  C max = -std::numeric_limits<C>::infinity();
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    max = std::max(max, max_of(read_tile(x + i, tile, count), count));
  });
  C sum = 0;
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    const C* in = read_tile(x + i, tile, count);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) tile[k] = scalar::exp(in[k] - max);
    sum += sum_of(tile, count);
  });
  return {max, sum};
}

// out = exp(x - max) / sum, or x - max - log(sum).
template <class T>
void softmax_row(const T* x, T* out, std::int64_t n, bool is_log) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile];
  if constexpr (std::is_same_v<T, C>) {
    if (!is_log) {  // exponentials wait in the output
      C max = max_of(x, n);
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) out[i] = scalar::exp(x[i] - max);
      const C scale = C(1) / sum_of(out, n);
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) out[i] *= scale;
      return;
    }
  }
  const Norm<C> norm = norm_of(x, n);
  const C log_sum = scalar::log(norm.sum);
  const C scale = C(1) / norm.sum;
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    const C* in = read_tile(x + i, tile, count);
    if (is_log) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) tile[k] = in[k] - norm.max - log_sum;
    } else {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) tile[k] = scalar::exp(in[k] - norm.max) * scale;
    }
    write_tile(tile, out + i, count);
  });
}

// (dy - sum(dy y)) y, or dy - exp(y) sum(dy).
template <class T>
void softmax_grad_row(const T* dy, const T* y, T* out, std::int64_t n, bool is_log) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile], other[kRowTile];
  C sum = 0;
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    const C* d = read_tile(dy + i, tile, count);
    sum += is_log ? sum_of(d, count) : dot_of(d, read_tile(y + i, other, count), count);
  });
  for_tiles(n, [&](std::int64_t i, std::int64_t count) {
    const C* d = read_tile(dy + i, tile, count);
    const C* o = read_tile(y + i, other, count);
    if (is_log) {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) tile[k] = d[k] - scalar::exp(o[k]) * sum;
    } else {
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) tile[k] = (d[k] - sum) * o[k];
    }
    write_tile(tile, out + i, count);
  });
}

// Columns of a slice: as many rows at a time as fit a few vectors.
constexpr std::int64_t kColumns = 64;
template <class T>
void softmax_columns(const T* x, T* out, std::int64_t n, std::int64_t stride, std::int64_t count,
                     bool is_log) {
  using C = compute_t<T>;
  C max[kColumns], sum[kColumns] = {};
  std::fill_n(max, count, -std::numeric_limits<C>::infinity());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const C v = static_cast<C>(x[i * stride + k]);
      max[k] = v > max[k] ? v : max[k];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k)
      sum[k] += scalar::exp(static_cast<C>(x[i * stride + k]) - max[k]);
  }
  for (std::int64_t k = 0; k < count; ++k) sum[k] = is_log ? scalar::log(sum[k]) : C(1) / sum[k];
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const C v = static_cast<C>(x[i * stride + k]) - max[k];
      out[i * stride + k] = static_cast<T>(is_log ? v - sum[k] : scalar::exp(v) * sum[k]);
    }
  }
}
template <class T>
void softmax_grad_columns(const T* dy, const T* y, T* out, std::int64_t n, std::int64_t stride,
                          std::int64_t count, bool is_log) {
  using C = compute_t<T>;
  C sum[kColumns] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const C d = static_cast<C>(dy[i * stride + k]);
      sum[k] += is_log ? d : d * static_cast<C>(y[i * stride + k]);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k) {
      const C d = static_cast<C>(dy[i * stride + k]), o = static_cast<C>(y[i * stride + k]);
      out[i * stride + k] = static_cast<T>(is_log ? d - scalar::exp(o) * sum[k] : (d - sum[k]) * o);
    }
  }
}

template <class T>
void run_rows(const RowArgs& args, std::int64_t first, std::int64_t last) {
  const T* x = static_cast<const T*>(args.x);
  const T* y = static_cast<const T*>(args.y);
  T* out = static_cast<T*>(args.out);
  const bool is_log = args.op == RowOp::kLogSoftmax || args.op == RowOp::kLogSoftmaxGrad;
  if (args.inner == 1) {
    if (y) return softmax_grad_row(x, y, out, args.n, is_log);
    return softmax_row(x, out, args.n, is_log);
  }
  for (std::int64_t c = first; c < last; c += kColumns) {
    const std::int64_t count = std::min(kColumns, last - c);
    if (y) {
      softmax_grad_columns(x + c, y + c, out + c, args.n, args.inner, count, is_log);
    } else {
      softmax_columns(x + c, out + c, args.n, args.inner, count, is_log);
    }
  }
}

// Loss: sum(labels (log(sum) + max - x)). Gradient: dloss (softmax - labels).
template <class T>
void run_loss(const LossArgs& args) {
  using C = compute_t<T>;
  alignas(64) C tile[kRowTile], other[kRowTile];
  const T* x = static_cast<const T*>(args.logits);
  const T* labels = static_cast<const T*>(args.labels);
  T* out = static_cast<T*>(args.out);
  const Norm<C> norm = norm_of(x, args.n);
  if (args.dloss) {
    const C d = static_cast<C>(*static_cast<const T*>(args.dloss));
    const C scale = d / norm.sum;
    for_tiles(args.n, [&](std::int64_t i, std::int64_t count) {
      const C* in = read_tile(x + i, tile, count);
#pragma GCC ivdep
      for (std::int64_t k = 0; k < count; ++k) tile[k] = scalar::exp(in[k] - norm.max) * scale;
      if (labels) {
        const C* l = read_tile(labels + i, other, count);
#pragma GCC ivdep
        for (std::int64_t k = 0; k < count; ++k) tile[k] -= l[k] * d;
      } else if (args.label >= i && args.label < i + count) {
        tile[args.label - i] -= d;
      }
      write_tile(tile, out + i, count);
    });
    return;
  }
  const C log_sum = scalar::log(norm.sum);
  if (!labels) {
    *out = static_cast<T>(log_sum - (static_cast<C>(x[args.label]) - norm.max));
    return;
  }
  C loss = 0;
  for_tiles(args.n, [&](std::int64_t i, std::int64_t count) {
    const C* in = read_tile(x + i, tile, count);
    const C* l = read_tile(labels + i, other, count);
#pragma GCC ivdep
    for (std::int64_t k = 0; k < count; ++k) {
      const C part = l[k] * (log_sum - (in[k] - norm.max));
      tile[k] = l[k] == C(0) ? C(0) : part;  // no nan where the logit is -inf
    }
    loss += sum_of(tile, count);
  });
  *out = static_cast<T>(loss);
}

const RowKernels* make_row_kernels() {
  static constexpr RowKernels kKernels[] = {{run_rows<float>, run_loss<float>},
                                            {run_rows<double>, run_loss<double>},
                                            {run_rows<Half>, run_loss<Half>},
                                            {run_rows<BFloat16>, run_loss<BFloat16>}};
  return kKernels;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_row_kernels);

const RowKernels& row_kernels(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const RowKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_row_kernels)();
  return kernels[static_cast<int>(dtype)];
}

}  // namespace plimsoll::cpu
#endif
