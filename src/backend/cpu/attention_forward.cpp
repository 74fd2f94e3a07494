#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/attention_blocks.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_forward.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/attention_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// Takes the scores of a tile's next keys into the running largest and sum, and makes powers of
// them. `shrink` is what earlier results have to be multiplied by.
template <int kVecs, class C>
HWY_INLINE void softmax_vecs(C* HWY_RESTRICT scores, std::int64_t keys, C* HWY_RESTRICT max,
                             C* HWY_RESTRICT sum, C* HWY_RESTRICT shrink) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  V top[kVecs], base[kVecs], total[kVecs];
  for (int j = 0; j < kVecs; ++j) top[j] = hn::LoadU(d, max + j * kVec<C>);
  for (std::int64_t k = 0; k < keys; ++k) {
    for (int j = 0; j < kVecs; ++j)
      top[j] = hn::Max(hn::LoadU(d, scores + k * kWidth + j * kVec<C>), top[j]);
  }
  const V lowest = hn::Set(d, -kInf<C>);
  for (int j = 0; j < kVecs; ++j) {
    base[j] = hn::IfThenZeroElse(hn::Eq(top[j], lowest), top[j]);  // not inf - inf
    const V factor = exp2_of(d, hn::Sub(hn::LoadU(d, max + j * kVec<C>), base[j]));
    hn::StoreU(top[j], d, max + j * kVec<C>);
    hn::StoreU(factor, d, shrink + j * kVec<C>);
    total[j] = hn::Mul(hn::LoadU(d, sum + j * kVec<C>), factor);
  }
  for (std::int64_t k = 0; k < keys; ++k) {
    for (int j = 0; j < kVecs; ++j) {
      C* at = scores + k * kWidth + j * kVec<C>;
      const V p = exp2_of(d, hn::Sub(hn::LoadU(d, at), base[j]));
      total[j] = hn::Add(total[j], p);
      hn::StoreU(p, d, at);
    }
  }
  for (int j = 0; j < kVecs; ++j) hn::StoreU(total[j], d, sum + j * kVec<C>);
}
template <class C>
void softmax_tile(std::int64_t queries, C* scores, std::int64_t keys, C* max, C* sum, C* shrink) {
  if (queries > 2 * kVec<C>) return softmax_vecs<3>(scores, keys, max, sum, shrink);
  if (queries > kVec<C>) return softmax_vecs<2>(scores, keys, max, sum, shrink);
  softmax_vecs<1>(scores, keys, max, sum, shrink);
}

// One tile of queries, `at` of its block, against a block of keys.
template <class T, class C>
void attend(const AttentionCall& call, const ForwardTiles<C>& s, const TileAt& t, std::int64_t at) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  using B = AttentionBlocks<C>;
  make_scores<T>(call, t, s.k, s.q + at * call.d, s.scores, kWidth);
  softmax_tile(t.queries, s.scores, t.keys, s.max + at, s.sum + at, s.shrink);
  if (call.uniform) {
    draw_factors(call, t, s.numbers, s.factors);
    for (std::int64_t i = 0; i < t.keys * kWidth; ++i) s.scores[i] *= s.factors[i];
  }
  const std::int64_t out_step = B::padded(call.dv);
  const Product<C> product{std::min<std::int64_t>(kWidth, B::up(t.queries, 12)),
                           t.keys,
                           out_step / kVec<C>,
                           s.scores,
                           kWidth,
                           s.v,
                           out_step,
                           s.out + at * out_step,
                           out_step,
                           s.shrink};
  multiply<true, Start::kScale>(product);
}

template <class T>
void forward(const AttentionCall& call, std::int64_t b, std::int64_t h, std::int64_t q0,
             std::int64_t n, void* scratch) {
  using C = compute_t<T>;
  using B = AttentionBlocks<C>;
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  AttentionScratch<C> carve(scratch);
  const ForwardTiles<C> s(carve, call);
  const std::int64_t d_step = B::padded(call.d), v_step = B::padded(call.dv);
  const std::int64_t kv_head = h / call.group();
  transpose_rows(static_cast<const T*>(call.q) + call.query_row(b, q0, h, call.d),
                 call.heads * call.d, n, call.d, static_cast<C>(call.scale) * kLog2e<C>, s.q);
  std::fill_n(s.out, B::up(n, kWidth) * v_step, C(0));
  std::fill_n(s.max, B::up(n, kWidth), -kInf<C>);
  std::fill_n(s.sum, B::up(n, kWidth), C(0));
  const std::int64_t last_key = keys_seen(call, q0 + n, 0, call.tk);
  for (std::int64_t k0 = 0; k0 < last_key; k0 += B::kKeys) {
    const std::int64_t keys = std::min(B::kKeys, last_key - k0);
    copy_rows(static_cast<const T*>(call.k) + call.key_row(b, k0, kv_head, call.d),
              call.kv_heads * call.d, keys, call.d, s.k, d_step, B::up(keys, B::kRows));
    copy_rows(static_cast<const T*>(call.v) + call.key_row(b, k0, kv_head, call.dv),
              call.kv_heads * call.dv, keys, call.dv, s.v, v_step, keys);
    for (std::int64_t at = 0; at < n; at += kWidth) {
      const std::int64_t queries = std::min(kWidth, n - at);
      const std::int64_t seen = keys_seen(call, q0 + at + queries, k0, keys);
      if (seen > 0) attend<T>(call, s, {b, h, q0 + at, queries, k0, seen}, at);
    }
  }
  C* lse = static_cast<C*>(call.lse) + (b * call.heads + h) * call.tq + q0;
  for (std::int64_t i = 0; i < n; ++i) {
    const C factor = s.sum[i] == C(0) ? C(0) : C(1) / s.sum[i];  // no key at all: zeros
    write_row(s.out + i * v_step, factor, call.dv,
              static_cast<T*>(call.out) + call.query_row(b, q0 + i, h, call.dv));
    lse[i] = s.max[i] * kLn2<C> + std::log(s.sum[i]);
  }
}

const AttentionForwardFn* make_forward() {
  static constexpr AttentionForwardFn kFns[] = {forward<float>, forward<double>, forward<Half>,
                                                forward<BFloat16>};
  return kFns;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_forward);

AttentionForwardFn attention_forward_of(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const AttentionForwardFn* const fns = HWY_DYNAMIC_DISPATCH(make_forward)();
  return fns[static_cast<int>(dtype)];
}

}  // namespace plimsoll::cpu
#endif
