// Sigmoid and tanh of vectors, for the gates of recurrent layers. Included once per instruction
// set, after Highway.
#if defined(PLIMSOLL_RNN_GATES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_RNN_GATES_INL_H
#undef PLIMSOLL_RNN_GATES_INL_H
#else
#define PLIMSOLL_RNN_GATES_INL_H
#endif

#include "backend/cpu/scalar_math.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for float x <= 0, to 1e-38 at least; nan passes through. What the gates need of
// scalar::exp, at half its price.
template <class D, class V>
HWY_INLINE V exp_of_negative(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V clamped = hn::Max(hn::Set(d, -87.0F), x);
  const auto n = hn::NearestInt(hn::Mul(clamped, hn::Set(d, 1.44269502F)));
  const V whole = hn::ConvertTo(d, n);
  V r = hn::MulAdd(whole, hn::Set(d, -0.693359375F), clamped);
  r = hn::MulAdd(whole, hn::Set(d, 2.12194440e-4F), r);
  V q = hn::MulAdd(hn::Set(d, 1.39508070e-3F), r, hn::Set(d, 8.36907327e-3F));
  q = hn::MulAdd(q, r, hn::Set(d, 4.16662022e-2F));
  q = hn::MulAdd(q, r, hn::Set(d, 1.66665167e-1F));
  q = hn::MulAdd(q, r, hn::Set(d, 0.5F));
  q = hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const auto power = hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127)));
  return hn::Mul(q, hn::BitCast(d, power));
}

// Doubles one by one.
template <class D, class V, class F>
HWY_INLINE V by_element(D d, V x, F&& f) {
  alignas(64) double values[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(x, d, values);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) values[i] = f(values[i]);
  return hn::Load(d, values);
}

template <class D, class V>
HWY_INLINE V sigmoid_of(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return by_element(d, x, [](double v) HWY_ATTR { return scalar::sigmoid(v); });
  } else {
    const V one = hn::Set(d, 1.0F);
    const V e = exp_of_negative(d, hn::Neg(hn::Abs(x)));
    const V top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
    return hn::Div(top, hn::Add(one, e));
  }
}
template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return by_element(d, x, [](double v) HWY_ATTR { return scalar::tanh(v); });
  } else {
    const V one = hn::Set(d, 1.0F);
    const V magnitude = hn::Abs(x);
    const V s = hn::Mul(x, x);
    V q = hn::MulAdd(hn::Set(d, 2.13111402e-3F), s, hn::Set(d, -8.16529430e-3F));
    q = hn::MulAdd(q, s, hn::Set(d, 2.16961913e-2F));
    q = hn::MulAdd(q, s, hn::Set(d, -5.39460182e-2F));
    q = hn::MulAdd(q, s, hn::Set(d, 1.33332014e-1F));
    q = hn::MulAdd(q, s, hn::Set(d, -3.33333313e-1F));
    const V small = hn::MulAdd(hn::Mul(q, s), x, x);
    const V e = exp_of_negative(d, hn::Mul(magnitude, hn::Set(d, -2.0F)));
    const V large = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625F)), small, large);
  }
}

// Calls f(tag, i) for vectors of elements [0, n), then for the rest one by one.
template <class C, class F>
HWY_INLINE void for_vectors(std::int64_t n, F&& f) {
  const hn::ScalableTag<C> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(d, i);
  const hn::CappedTag<C, 1> one;
  for (; i < n; ++i) f(one, i);
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
