#include <algorithm>
#include <utility>

#include "backend/cpu/cpu.h"
#include "backend/cpu/rnn.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/rnn_forward.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/rnn_gates-inl.h"
#include "backend/cpu/rnn_product-inl.h"

#ifndef PLIMSOLL_RNN_FORWARD_ONCE
#define PLIMSOLL_RNN_FORWARD_ONCE
namespace plimsoll::cpu {

// Where a block of rows has its own, in elements of C.
struct RnnForwardWork {
  std::int64_t size = 0;
  std::int64_t x, h, next_h, c, sums, sums_h, gates, reset_h;

  RnnForwardWork(const RnnLayer& l, std::int64_t rows) noexcept {
    const auto take = [&](std::int64_t columns) {
      const std::int64_t at = size;
      size += (rows * columns + 15) / 16 * 16;
      return at;
    };
    const std::int64_t width = kRnnMaxBlocks * kRnnBlockBytes / l.element_bytes();
    x = take(l.in);
    h = take(l.units);
    next_h = take(l.units);
    c = take(l.setup.kind == RnnKind::kLstm ? l.units : 0);
    sums = take(width);
    sums_h = take(l.setup.kind == RnnKind::kGru ? width : 0);
    gates = take(l.resets_before() && !l.setup.keeps ? 3 * l.units : 0);
    reset_h = take(l.resets_before() ? l.units : 0);
  }
};

}  // namespace plimsoll::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// Panel `i` of the columns from `column` on of a matrix with rows of `stride`.
template <class T>
void pack_panel(const T* from, std::int64_t stride, std::int64_t column, const RnnPanels& p,
                std::int64_t i, compute_t<T>* to) {
  const std::int64_t n = p.units_of(i);
  from += column + i * p.span;
  to += i * p.k * p.width();
  for (std::int64_t q = 0; q < p.k; ++q, from += stride) {
    for (std::int64_t g = 0; g < p.gates; ++g, to += p.span) {
      read_row<T>(from, g * p.units, to, n);
      std::fill(to + n, to + p.span, compute_t<T>(0));
    }
  }
}

template <class T>
void pack_forward(const RnnForward& f, std::int64_t begin, std::int64_t end) {
  using C = compute_t<T>;
  const RnnForwardPanels panels(f.layer);
  const std::int64_t columns = f.layer.columns();
  C* to = static_cast<C*>(f.packed);
  for (std::int64_t i = begin; i < end; ++i) {
    std::int64_t k = i;
    if (k < panels.x.num()) {
      pack_panel(static_cast<const T*>(f.kernel), columns, 0, panels.x, k, to);
    } else if ((k -= panels.x.num()) < panels.h.num()) {
      pack_panel(static_cast<const T*>(f.recurrent), columns, 0, panels.h, k, to + panels.x.size());
    } else {
      pack_panel(static_cast<const T*>(f.recurrent), columns, 2 * f.layer.units, panels.candidate,
                 k - panels.h.num(), to + panels.x.size() + panels.h.size());
    }
  }
  if (begin > 0) return;
  C* biases = static_cast<C*>(f.biases);
  const std::int64_t given = f.bias ? (f.layer.setup.reset_after ? 2 : 1) * columns : 0;
  if (given) read_row<T>(f.bias, 0, biases, given);
  std::fill(biases + given, biases + 2 * columns, C(0));
}

// Units [0, n) of a row, side by side. `sums`, `bias`: by gate, `span` and `units` apart.
template <class C>
struct Units {
  const C* HWY_RESTRICT sums;
  std::int64_t span;
  const C* HWY_RESTRICT bias;
  std::int64_t units;
  const C* HWY_RESTRICT h;  // before the step
  C* HWY_RESTRICT next_h;
  C* HWY_RESTRICT kept;  // by gate, `units` apart
};

template <bool kKeeps, class C>
HWY_INLINE void lstm_units(const Units<C>& a, C* HWY_RESTRICT c, std::int64_t n) {
  const std::int64_t s = a.span, u = a.units;
  for_vectors<C>(n, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto sum = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, a.sums + gate * s + j), hn::LoadU(d, a.bias + gate * u + j));
    };
    const auto i = sigmoid_of(d, sum(0));
    const auto f = sigmoid_of(d, sum(1));
    const auto g = tanh_of(d, sum(2));
    const auto o = sigmoid_of(d, sum(3));
    const auto now = hn::MulAdd(f, hn::LoadU(d, c + j), hn::Mul(i, g));
    hn::StoreU(now, d, c + j);
    hn::StoreU(hn::Mul(o, tanh_of(d, now)), d, a.next_h + j);
    if constexpr (kKeeps) {
      hn::StoreU(i, d, a.kept + j);
      hn::StoreU(f, d, a.kept + u + j);
      hn::StoreU(g, d, a.kept + 2 * u + j);
      hn::StoreU(o, d, a.kept + 3 * u + j);
      hn::StoreU(now, d, a.kept + 4 * u + j);
    }
  });
}

// z h + (1 - z) candidate.
template <class D, class V>
HWY_INLINE V mix(D d, V z, V h, V candidate) {
  return hn::MulAdd(z, h, hn::Mul(hn::Sub(hn::Set(d, hn::TFromD<D>(1)), z), candidate));
}

// `sums_h`: the recurrent kernel's part, whose bias is the second row.
template <bool kKeeps, class C>
HWY_INLINE void gru_units(const Units<C>& a, const C* HWY_RESTRICT sums_h, std::int64_t n) {
  const std::int64_t s = a.span, u = a.units;
  const C* bias_h = a.bias + 3 * u;
  for_vectors<C>(n, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto by_x = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, a.sums + gate * s + j), hn::LoadU(d, a.bias + gate * u + j));
    };
    const auto by_h = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, sums_h + gate * s + j), hn::LoadU(d, bias_h + gate * u + j));
    };
    const auto z = sigmoid_of(d, hn::Add(by_x(0), by_h(0)));
    const auto r = sigmoid_of(d, hn::Add(by_x(1), by_h(1)));
    const auto q = by_h(2);
    const auto candidate = tanh_of(d, hn::MulAdd(r, q, by_x(2)));
    hn::StoreU(mix(d, z, hn::LoadU(d, a.h + j), candidate), d, a.next_h + j);
    if constexpr (kKeeps) {
      hn::StoreU(z, d, a.kept + j);
      hn::StoreU(r, d, a.kept + u + j);
      hn::StoreU(candidate, d, a.kept + 2 * u + j);
      hn::StoreU(q, d, a.kept + 3 * u + j);
    }
  });
}

// z and r, and the candidate's part from x; the rest needs r h of all units.
template <class C>
HWY_INLINE void gru_resets(const Units<C>& a, const C* HWY_RESTRICT sums_h, C* HWY_RESTRICT reset_h,
                           std::int64_t n) {
  const std::int64_t s = a.span, u = a.units;
  for_vectors<C>(n, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto by_x = [&](std::int64_t gate) HWY_ATTR {
      return hn::Add(hn::LoadU(d, a.sums + gate * s + j), hn::LoadU(d, a.bias + gate * u + j));
    };
    const auto r = sigmoid_of(d, hn::Add(by_x(1), hn::LoadU(d, sums_h + s + j)));
    hn::StoreU(sigmoid_of(d, hn::Add(by_x(0), hn::LoadU(d, sums_h + j))), d, a.kept + j);
    hn::StoreU(r, d, a.kept + u + j);
    hn::StoreU(by_x(2), d, a.kept + 2 * u + j);
    hn::StoreU(hn::Mul(r, hn::LoadU(d, a.h + j)), d, reset_h + j);
  });
}
template <class C>
HWY_INLINE void gru_candidates(const Units<C>& a, std::int64_t n) {
  for_vectors<C>(n, [&](auto d, std::int64_t j) HWY_ATTR {
    C* kept = a.kept + 2 * a.units + j;
    const auto candidate = tanh_of(d, hn::Add(hn::LoadU(d, kept), hn::LoadU(d, a.sums + j)));
    hn::StoreU(candidate, d, kept);
    hn::StoreU(mix(d, hn::LoadU(d, a.kept + j), hn::LoadU(d, a.h + j), candidate), d, a.next_h + j);
  });
}

template <class C>
HWY_INLINE void simple_units(const Units<C>& a, bool is_relu, std::int64_t n) {
  for_vectors<C>(n, [&](auto d, std::int64_t j) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, a.sums + j), hn::LoadU(d, a.bias + j));
    const auto zero = hn::Zero(d);
    hn::StoreU(is_relu ? hn::IfThenElse(hn::Lt(sum, zero), zero, sum) : tanh_of(d, sum), d,
               a.next_h + j);  // nan stays
  });
}

// Rows of the batch on their way through the steps.
template <class T>
class Rows {
  using C = compute_t<T>;

 public:
  Rows(const RnnForward& forward, std::int64_t first, std::int64_t rows, C* work)
      : f_(forward), l_(forward.layer), panels_(l_), first_(first), rows_(rows) {
    const RnnForwardWork at(l_, rows);
    x_ = work + at.x;
    h_ = work + at.h;
    next_h_ = work + at.next_h;
    c_ = work + at.c;
    sums_ = work + at.sums;
    sums_h_ = work + at.sums_h;
    own_gates_ = work + at.gates;
    reset_h_ = work + at.reset_h;
    packed_ = static_cast<const C*>(f_.packed);
  }

  void run() {
    load(f_.h0, h_);
    if (l_.setup.kind == RnnKind::kLstm) load(f_.c0, c_);
    for (std::int64_t step = 0; step < l_.time; ++step) {
      begin_step(step);
      for (std::int64_t i = 0; i < panels_.x.num(); ++i) run_panel(i);
      if (l_.resets_before()) run_candidates();
      end_step(step);
    }
    const std::int64_t n = rows_ * l_.units;
    write_row<T>(h_, f_.h, first_ * l_.units, n);
    if (l_.setup.kind == RnnKind::kLstm) write_row<T>(c_, f_.c, first_ * l_.units, n);
  }

 private:
  void load(const void* from, C* to) {
    const std::int64_t n = rows_ * l_.units;
    if (from) return read_row<T>(from, first_ * l_.units, to, n);
    std::fill_n(to, n, C(0));
  }

  void begin_step(std::int64_t step) {
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int64_t row = l_.x_row(first_ + r, step);
      read_row<T>(f_.x, row * l_.in, x_ + r * l_.in, l_.in);
      counts_[r] = !f_.mask || f_.mask[row];
    }
    has_h_ = step > 0 || f_.h0;
    kept_ = static_cast<C*>(f_.kept);
    if (kept_) {
      kept_ += (step * l_.batch + first_) * l_.setup.num_kept() * l_.units;
    } else if (l_.resets_before()) {
      kept_ = own_gates_;
    }
  }

  void multiply_by(const C* a, const RnnPanels& p, const C* packed, std::int64_t i, C* to,
                   bool accumulate) {
    multiply(PanelProduct<C>{rows_, p.k, a, p.k, 1, packed + i * p.k * p.width(), p.width(), to,
                             p.width(), p.width(), accumulate});
  }

  Units<C> units_at(std::int64_t r, std::int64_t j, const RnnPanels& p) {
    const std::int64_t at = r * l_.units + j;
    return {sums_ + r * p.width(),
            p.span,
            static_cast<const C*>(f_.biases) + j,
            l_.units,
            h_ + at,
            next_h_ + at,
            kept_ ? kept_ + r * l_.setup.num_kept() * l_.units + j : nullptr};
  }

  void run_panel(std::int64_t i) {
    const bool is_gru = l_.setup.kind == RnnKind::kGru;
    multiply_by(x_, panels_.x, packed_, i, sums_, false);
    if (has_h_) {
      multiply_by(h_, panels_.h, packed_ + panels_.x.size(), i, is_gru ? sums_h_ : sums_, !is_gru);
    } else if (is_gru) {
      std::fill_n(sums_h_, rows_ * panels_.h.width(), C(0));
    }
    const std::int64_t j = i * panels_.x.span, n = panels_.x.units_of(i);
    for (std::int64_t r = 0; r < rows_; ++r) {
      const Units<C> a = units_at(r, j, panels_.x);
      if (!counts_[r]) {
        leave_out(a, c_ + r * l_.units + j, n);
      } else if (l_.setup.kind == RnnKind::kLstm) {
        C* c = c_ + r * l_.units + j;
        a.kept ? lstm_units<true>(a, c, n) : lstm_units<false>(a, c, n);
      } else if (is_gru) {
        gru_panel(a, r, j, n);
      } else {
        simple_units(a, l_.setup.is_relu, n);
      }
    }
  }

  HWY_INLINE void gru_panel(const Units<C>& a, std::int64_t r, std::int64_t j, std::int64_t n) {
    const C* sums_h = sums_h_ + r * panels_.h.width();
    if (l_.resets_before()) {
      gru_resets(a, sums_h, reset_h_ + r * l_.units + j, n);
    } else {
      a.kept ? gru_units<true>(a, sums_h, n) : gru_units<false>(a, sums_h, n);
    }
  }

  // Of a row that the mask leaves out, the gates are zero; the rest of it stays.
  void leave_out(const Units<C>& a, const C* c, std::int64_t n) {
    if (l_.resets_before()) std::fill_n(reset_h_ + (a.h - h_), n, C(0));
    if (!a.kept) return;
    const int num_zero = l_.setup.kind == RnnKind::kLstm ? 4 : l_.setup.num_kept();
    for (int g = 0; g < num_zero; ++g) std::fill_n(a.kept + g * l_.units, n, C(0));
    if (l_.setup.kind == RnnKind::kLstm) std::copy_n(c, n, a.kept + 4 * l_.units);
  }

  void run_candidates() {
    const C* packed = packed_ + panels_.x.size() + panels_.h.size();
    const RnnPanels& p = panels_.candidate;
    for (std::int64_t i = 0; i < p.num(); ++i) {
      // The sums of x's panels are used up; these are as wide as the widest.
      multiply_by(reset_h_, p, packed, i, sums_, false);
      for (std::int64_t r = 0; r < rows_; ++r) {
        if (counts_[r]) gru_candidates(units_at(r, i * p.span, p), p.units_of(i));
      }
    }
  }

  void end_step(std::int64_t step) {
    const std::int64_t u = l_.units;
    const auto nbytes = static_cast<std::size_t>(u) * sizeof(T);
    for (std::int64_t r = 0; r < rows_; ++r) {
      T* y = static_cast<T*>(f_.y) + l_.y_row(first_ + r, step) * u;
      if (counts_[r]) {
        write_row<T>(next_h_ + r * u, y, 0, u);
        if (f_.mask) std::copy_n(next_h_ + r * u, u, h_ + r * u);
      } else if (step > 0 && !l_.setup.zero_output_for_mask) {
        std::memcpy(y, static_cast<const T*>(f_.y) + l_.y_row(first_ + r, step - 1) * u, nbytes);
      } else {
        std::fill_n(y, u, T(0));
      }
    }
    if (!f_.mask) std::swap(h_, next_h_);
  }

  const RnnForward& f_;
  const RnnLayer& l_;
  const RnnForwardPanels panels_;
  const std::int64_t first_, rows_;
  C *x_, *h_, *next_h_, *c_, *sums_, *sums_h_, *own_gates_, *reset_h_;
  C* kept_ = nullptr;  // of this step
  const C* packed_;
  bool has_h_ = false;        // whether h may be other than zero
  bool counts_[kRnnMaxRows];  // whether the row takes this step
};

template <class T>
void run_forward(const RnnForward& f, std::int64_t first, std::int64_t last, void* work) {
  for (std::int64_t b = first; b < last; b += kRnnMaxRows)
    Rows<T>(f, b, std::min(kRnnMaxRows, last - b), static_cast<compute_t<T>*>(work)).run();
}

const RnnKernels* make_forward_kernels() {
  static constexpr RnnKernels kKernels[] = {{pack_forward<float>, run_forward<float>},
                                            {pack_forward<double>, run_forward<double>},
                                            {pack_forward<Half>, run_forward<Half>},
                                            {pack_forward<BFloat16>, run_forward<BFloat16>}};
  return kKernels;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_forward_kernels);

const RnnKernels& rnn_forward_kernels(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const RnnKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_forward_kernels)();
  return kernels[static_cast<int>(dtype)];
}

std::int64_t rnn_forward_work(const RnnLayer& layer, std::int64_t rows) noexcept {
  return RnnForwardWork(layer, std::min(rows, kRnnMaxRows)).size;
}

}  // namespace plimsoll::cpu
#endif
