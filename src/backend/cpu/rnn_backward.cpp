#include <algorithm>
#include <cmath>

#include "backend/cpu/cpu.h"
#include "backend/cpu/rnn.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/rnn_backward.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/rnn_gates-inl.h"
#include "backend/cpu/rnn_product-inl.h"

#ifndef PLIMSOLL_RNN_BACKWARD_ONCE
#define PLIMSOLL_RNN_BACKWARD_ONCE
namespace plimsoll::cpu {

// Where a thread has its own, in elements of C.
struct RnnBackwardWork {
  std::int64_t size = 0;
  std::int64_t panel, row, other_row, zeros, sums, dreset;

  RnnBackwardWork(const RnnBackward& b, std::int64_t rows) noexcept {
    const auto take = [&](std::int64_t n) {
      const std::int64_t at = size;
      size += (n + 15) / 16 * 16;
      return at;
    };
    const RnnLayer& l = b.layer;
    const std::int64_t width = kRnnMaxBlocks * kRnnBlockBytes / l.element_bytes();
    panel = take(l.setup.needs & kNeedsWeights ? b.chunk * l.batch * width : 0);
    row = take(l.units);
    other_row = take(l.units);
    zeros = take(l.units);
    sums = take(dtype_size(l.dtype) == 2 && l.setup.needs & kNeedsX ? rows * width : 0);
    dreset = take(l.resets_before() ? rows * l.units : 0);
  }
};

}  // namespace plimsoll::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// Panel `i` of the transposed columns from `column` on of a matrix with rows of `stride`.
template <class T>
void pack_transposed(const T* from, std::int64_t stride, std::int64_t column, const RnnPanels& p,
                     std::int64_t i, compute_t<T>* to) {
  constexpr std::int64_t kPiece = 16;
  const std::int64_t n = p.units_of(i), width = p.width();
  from += i * p.span * stride + column;
  to += i * p.k * width;
  for (std::int64_t q0 = 0; q0 < p.k; q0 += kPiece, to += kPiece * width) {
    const std::int64_t piece = std::min(kPiece, p.k - q0);
    for (std::int64_t j = 0; j < n; ++j) {
      const T* row = from + j * stride + q0;
      for (std::int64_t q = 0; q < piece; ++q)
        to[q * width + j] = static_cast<compute_t<T>>(row[q]);
    }
    for (std::int64_t q = 0; q < piece; ++q)
      std::fill(to + q * width + n, to + (q + 1) * width, compute_t<T>(0));
  }
}

template <class T>
void pack_backward(const RnnBackward& b, std::int64_t begin, std::int64_t end) {
  using C = compute_t<T>;
  const RnnBackwardPanels panels(b.layer);
  const std::int64_t columns = b.layer.columns();
  const T* recurrent = static_cast<const T*>(b.recurrent);
  C* to = static_cast<C*>(b.packed);
  for (std::int64_t i = begin; i < end; ++i) {
    std::int64_t k = i;
    if (k < panels.h.num()) {
      pack_transposed(recurrent, columns, 0, panels.h, k, to);
    } else if ((k -= panels.h.num()) < panels.candidate.num()) {
      pack_transposed(recurrent, columns, 2 * b.layer.units, panels.candidate, k,
                      to + panels.h.size());
    } else {
      pack_transposed(static_cast<const T*>(b.kernel), columns, 0, panels.x,
                      k - panels.candidate.num(), to + panels.h.size() + panels.candidate.size());
    }
  }
}

// A row of a step. dh comes in as the whole gradient of h after the step, and leaves as the part of
// that of h before it that does not go through dg.
template <class C>
struct BackUnits {
  const C* HWY_RESTRICT kept;  // by gate, `units` apart
  const C* HWY_RESTRICT h;     // before the step
  C* HWY_RESTRICT dh;
  C* HWY_RESTRICT dg;  // by gate
  std::int64_t units;
};

template <class C>
HWY_INLINE void lstm_back(const BackUnits<C>& a, const C* HWY_RESTRICT c, C* HWY_RESTRICT dc) {
  const std::int64_t u = a.units;
  for_vectors<C>(u, [&](auto tag, std::int64_t j) HWY_ATTR {
    const auto one = hn::Set(tag, C(1));
    const auto kept = [&](std::int64_t gate)
                          HWY_ATTR { return hn::LoadU(tag, a.kept + gate * u + j); };
    const auto give = [&](std::int64_t gate, auto d)
                          HWY_ATTR { hn::StoreU(d, tag, a.dg + gate * u + j); };
    const auto slope = [&](auto s) HWY_ATTR { return hn::NegMulAdd(s, s, s); };  // s (1 - s)
    const auto i = kept(0), f = kept(1), g = kept(2), o = kept(3);
    const auto t = tanh_of(tag, kept(4));
    const auto dh = hn::LoadU(tag, a.dh + j);
    const auto d = hn::MulAdd(hn::Mul(dh, o), hn::NegMulAdd(t, t, one), hn::LoadU(tag, dc + j));
    give(0, hn::Mul(hn::Mul(d, g), slope(i)));
    give(1, hn::Mul(hn::Mul(d, hn::LoadU(tag, c + j)), slope(f)));
    give(2, hn::Mul(hn::Mul(d, i), hn::NegMulAdd(g, g, one)));
    give(3, hn::Mul(hn::Mul(dh, t), slope(o)));
    hn::StoreU(hn::Mul(d, f), tag, dc + j);
    hn::StoreU(hn::Zero(tag), tag, a.dh + j);
  });
}

// dz dr dq dh, where q is what r is multiplied with.
template <class C>
HWY_INLINE void gru_back(const BackUnits<C>& a) {
  const std::int64_t u = a.units;
#pragma GCC ivdep
  for (std::int64_t j = 0; j < u; ++j) {
    const C z = a.kept[j], r = a.kept[u + j], n = a.kept[2 * u + j], q = a.kept[3 * u + j];
    const C dh = a.dh[j];
    const C dn = dh * (C(1) - z) * (C(1) - n * n);
    a.dg[j] = dh * (a.h[j] - n) * (z * (C(1) - z));
    a.dg[u + j] = dn * q * (r * (C(1) - r));
    a.dg[2 * u + j] = dn * r;
    a.dg[3 * u + j] = dn;
    a.dh[j] = dh * z;
  }
}

// dz and dh; then dr, once the gradient of r h is there.
template <class C>
HWY_INLINE void gru_back_candidate(const BackUnits<C>& a) {
  const std::int64_t u = a.units;
#pragma GCC ivdep
  for (std::int64_t j = 0; j < u; ++j) {
    const C z = a.kept[j], n = a.kept[2 * u + j];
    const C dh = a.dh[j];
    a.dg[j] = dh * (a.h[j] - n) * (z * (C(1) - z));
    a.dg[2 * u + j] = dh * (C(1) - z) * (C(1) - n * n);
    a.dh[j] = dh * z;
  }
}
template <class C>
HWY_INLINE void gru_back_reset(const BackUnits<C>& a, const C* HWY_RESTRICT dreset,
                               C* HWY_RESTRICT reset_h) {
  const std::int64_t u = a.units;
#pragma GCC ivdep
  for (std::int64_t j = 0; j < u; ++j) {
    const C r = a.kept[u + j];
    a.dg[u + j] = dreset[j] * a.h[j] * (r * (C(1) - r));
    a.dh[j] += dreset[j] * r;
    reset_h[j] = r * a.h[j];
  }
}

template <class C>
HWY_INLINE void simple_back(const BackUnits<C>& a, const C* HWY_RESTRICT y, bool is_relu) {
#pragma GCC ivdep
  for (std::int64_t j = 0; j < a.units; ++j) {
    const C slope = is_relu ? (y[j] > C(0) ? C(1) : C(0)) : C(1) - y[j] * y[j];
    a.dg[j] = a.dh[j] * slope;
    a.dh[j] = C(0);
  }
}

// Rows of the batch on their way back.
template <class T>
class BackRows {
  using C = compute_t<T>;

 public:
  BackRows(const RnnBackward& back, std::int64_t first, std::int64_t rows, C* work)
      : b_(back), l_(back.layer), panels_(l_), first_(first), rows_(rows), work_(back, rows) {
    row_ = work + work_.row;
    other_row_ = work + work_.other_row;
    zeros_ = work + work_.zeros;
    sums_ = work + work_.sums;
    dreset_ = work + work_.dreset;
    std::fill_n(zeros_, l_.units, C(0));
  }

  void run(std::int64_t begin, std::int64_t end) {
    const std::int64_t u = l_.units;
    const C* packed = static_cast<const C*>(b_.packed);
    for (std::int64_t step = end - 1; step >= begin; --step) {
      step_ = step;
      at_ = (step - begin) * l_.batch + first_;
      for (std::int64_t r = 0; r < rows_; ++r) counts_[r] = run_row(r);
      if (l_.resets_before()) {
        multiply_by(2 * u, panels_.candidate, packed + panels_.h.size(), 0, dreset_, u, u, false);
        for (std::int64_t r = 0; r < rows_; ++r) {
          if (counts_[r])
            gru_back_reset(units_at(r), dreset_ + r * u, at<C>(b_.steps_reset, r, b_.h_stride()));
        }
      }
      if (step > 0 || l_.setup.needs & kNeedsStates)
        multiply_by(0, panels_.h, packed, 0, at_row<C>(b_.carried_h, 0), u, panels_.h.k, true);
      if (b_.dx) multiply_x(packed + panels_.h.size() + panels_.candidate.size());
    }
  }

 private:
  // Row r of what has a row for each step of the chunk, or for each row of the batch.
  template <class E>
  E* at(void* of, std::int64_t r, std::int64_t stride) const {
    return static_cast<E*>(of) + (at_ + r) * stride;
  }
  template <class E>
  E* at_row(void* of, std::int64_t r) const {
    return static_cast<E*>(of) + (first_ + r) * l_.units;
  }
  // The last step before this one that row r took; -1: none.
  std::int64_t before(std::int64_t r) const {
    return b_.before ? b_.before[step_ * l_.batch + first_ + r] : step_ - 1;
  }
  const C* kept(std::int64_t r, std::int64_t step) const {
    return static_cast<const C*>(b_.kept) +
           (step * l_.batch + first_ + r) * l_.setup.num_kept() * l_.units;
  }
  // A row of an initial state; zeros where none was given.
  const C* state(const void* of, std::int64_t r, C* own) const {
    return of ? row_of<T>(of, (first_ + r) * l_.units, own, l_.units) : zeros_;
  }
  BackUnits<C> units_at(std::int64_t r) const {
    return {l_.setup.num_kept() ? kept(r, step_) : nullptr, at<C>(b_.steps_h, r, b_.h_stride()),
            at_row<C>(b_.carried_h, r), at<C>(b_.dg, r, b_.dg_stride()), l_.units};
  }

  // What weights' gradients read of this row and step; zeros for a step that was not taken.
  void gather(std::int64_t r, bool counts) {
    const std::int64_t u = l_.units, b = first_ + r;
    C* h = at<C>(b_.steps_h, r, b_.h_stride());
    C* x = b_.steps_x ? at<C>(b_.steps_x, r, b_.x_stride()) : nullptr;
    if (!counts) {
      std::fill_n(h, u, C(0));
      if (x) std::fill_n(x, l_.in, C(0));
      if (b_.steps_reset) std::fill_n(at<C>(b_.steps_reset, r, b_.h_stride()), u, C(0));
      return;
    }
    const std::int64_t last = before(r);
    if (last >= 0) {
      read_row<T>(b_.y, l_.y_row(b, last) * u, h, u);
    } else {
      std::copy_n(state(b_.h0, r, row_), u, h);
    }
    if (x) read_row<T>(b_.x, l_.x_row(b, step_) * l_.in, x, l_.in);
  }

  // Whether the row took this step.
  bool run_row(std::int64_t r) {
    const std::int64_t u = l_.units, b = first_ + r;
    const bool counts = !b_.mask || b_.mask[l_.x_row(b, step_)];
    gather(r, counts);
    const BackUnits<C> a = units_at(r);
    // y of a step that was not taken is that of the last one, or zero.
    if (b_.dy && (counts || (!l_.setup.zero_output_for_mask && before(r) >= 0))) {
      const C* dy = row_of<T>(b_.dy, l_.y_row(b, step_) * u, row_, u);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < u; ++j) a.dh[j] += dy[j];
    }
    if (!counts) {
      std::fill_n(a.dg, l_.dg_columns(), C(0));
      return false;
    }
    switch (l_.setup.kind) {
      case RnnKind::kLstm:
        lstm_back(a, step_ > 0 ? kept(r, step_ - 1) + 4 * u : state(b_.c0, r, other_row_),
                  at_row<C>(b_.carried_c, r));
        break;
      case RnnKind::kGru:
        l_.resets_before() ? gru_back_candidate(a) : gru_back(a);
        break;
      case RnnKind::kSimple:
        simple_back(a, row_of<T>(b_.y, l_.y_row(b, step_) * u, row_, u), l_.setup.is_relu);
        break;
    }
    return true;
  }

  // Columns of dg from `column` on, times rows of the panels from `q` on.
  void multiply_by(std::int64_t column, const RnnPanels& p, const C* packed, std::int64_t q, C* to,
                   std::int64_t to_row, std::int64_t k, bool accumulate) const {
    for (std::int64_t i = 0; i < p.num(); ++i) {
      multiply(PanelProduct<C>{rows_, k, at<C>(b_.dg, 0, b_.dg_stride()) + column, b_.dg_stride(),
                               1, packed + (i * p.k + q) * p.width(), p.width(), to + i * p.span,
                               to_row, p.units_of(i), accumulate});
    }
  }

  void multiply_x(const C* packed) {
    const RnnPanels& p = panels_.x;
    const std::int64_t u = l_.units, two = 2 * u;
    const std::int64_t x = l_.x_row(first_, step_) * l_.in;
    const std::int64_t x_row = (l_.setup.time_major ? 1 : l_.time) * l_.in;
    if constexpr (std::is_same_v<T, C>) {
      C* dx = static_cast<C*>(b_.dx) + x;
      if (!l_.setup.reset_after) return multiply_by(0, p, packed, 0, dx, x_row, p.k, false);
      multiply_by(0, p, packed, 0, dx, x_row, two, false);
      multiply_by(3 * u, p, packed, two, dx, x_row, u, true);
    } else {
      for (std::int64_t i = 0; i < p.num(); ++i) {
        const RnnPanels one{p.k, 1, p.units_of(i), p.span};
        const C* panel = packed + i * p.k * p.width();
        const std::int64_t width = p.width();
        multiply_by(0, one, panel, 0, sums_, width, l_.setup.reset_after ? two : p.k, false);
        if (l_.setup.reset_after) multiply_by(3 * u, one, panel, two, sums_, width, u, true);
        for (std::int64_t r = 0; r < rows_; ++r)
          write_row<T>(sums_ + r * width, b_.dx, x + r * x_row + i * p.span, p.units_of(i));
      }
    }
  }

  const RnnBackward& b_;
  const RnnLayer& l_;
  const RnnBackwardPanels panels_;
  const std::int64_t first_, rows_;
  const RnnBackwardWork work_;
  C *row_, *other_row_, *zeros_, *sums_, *dreset_;
  std::int64_t step_ = 0, at_ = 0;
  bool counts_[kRnnMaxRows];
};

template <class T>
void run_steps(const RnnBackward& b, std::int64_t begin, std::int64_t end, std::int64_t first,
               std::int64_t last, void* work) {
  for (std::int64_t i = first; i < last; i += kRnnMaxRows)
    BackRows<T>(b, i, std::min(kRnnMaxRows, last - i), static_cast<compute_t<T>*>(work))
        .run(begin, end);
}

// Columns of dg as a panel.
template <class C>
void pack_dg(const RnnBackward& b, std::int64_t rows, std::int64_t column, std::int64_t n,
             std::int64_t width, C* panel) {
  const C* dg = static_cast<const C*>(b.dg) + column;
  const hn::ScalableTag<C> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t q = 0; q < rows; ++q, dg += b.dg_stride(), panel += width) {
    if (n == width) {  // pieces too short for a call
      for (std::int64_t j = 0; j < width; j += lanes)
        hn::StoreU(hn::LoadU(d, dg + j), d, panel + j);
      continue;
    }
    std::copy_n(dg, n, panel);
    std::fill(panel + n, panel + width, C(0));
  }
}
template <class C>
void sum_panel(const C* HWY_RESTRICT panel, std::int64_t rows, std::int64_t n, std::int64_t width,
               C* HWY_RESTRICT to, bool accumulate) {
  C sums[kRnnMaxBlocks * kRnnBlockBytes / sizeof(float)] = {};
  for (std::int64_t q = 0; q < rows; ++q, panel += width) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) sums[j] += panel[j];
  }
  for (std::int64_t j = 0; j < n; ++j) to[j] = accumulate ? to[j] + sums[j] : sums[j];
}

template <class C>
void run_weights(const RnnBackward& b, std::int64_t begin, std::int64_t end, std::int64_t first,
                 std::int64_t last, void* work) {
  const RnnLayer& l = b.layer;
  const RnnWeightPanels panels(l);
  const std::int64_t rows = (end - begin) * l.batch, columns = l.columns(), width = panels.width;
  const bool adds = end < l.time;
  C* panel = static_cast<C*>(work) + RnnBackwardWork(b, 1).panel;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t column = panels.column(i), n = panels.columns_of(i);
    const bool is_twice = l.setup.reset_after && panels.is_second(i);
    pack_dg(b, rows, is_twice ? column + l.units : column, n, width, panel);
    multiply(PanelProduct<C>{l.in, rows, static_cast<const C*>(b.steps_x), 1, b.x_stride(), panel,
                             width, static_cast<C*>(b.dkernel) + column, columns, n, adds});
    C* dbias = static_cast<C*>(b.dbiases);
    if (dbias) sum_panel(panel, rows, n, width, dbias + column, adds);
    if (is_twice) pack_dg(b, rows, column, n, width, panel);
    const void* h = l.resets_before() && panels.is_second(i) ? b.steps_reset : b.steps_h;
    multiply(PanelProduct<C>{l.units, rows, static_cast<const C*>(h), 1, b.h_stride(), panel, width,
                             static_cast<C*>(b.drecurrent) + column, columns, n, adds});
    if (dbias && l.setup.reset_after)
      sum_panel(panel, rows, n, width, dbias + columns + column, adds);
  }
}

const RnnGradKernels* make_backward_kernels() {
  static constexpr RnnGradKernels kKernels[] = {
      {pack_backward<float>, run_steps<float>, run_weights<float>},
      {pack_backward<double>, run_steps<double>, run_weights<double>},
      {pack_backward<Half>, run_steps<Half>, run_weights<float>},
      {pack_backward<BFloat16>, run_steps<BFloat16>, run_weights<float>}};
  return kKernels;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_backward_kernels);

const RnnGradKernels& rnn_backward_kernels(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const RnnGradKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_backward_kernels)();
  return kernels[static_cast<int>(dtype)];
}

std::int64_t rnn_backward_work(const RnnBackward& b, std::int64_t rows) noexcept {
  return RnnBackwardWork(b, std::min(rows, kRnnMaxRows)).size;
}

}  // namespace plimsoll::cpu
#endif
