#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/attention_blocks.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/attention_backward.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/attention_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// p = 2^(scores - lse), ds = p (dp - delta); with dropout dp and p are multiplied by its factors,
// ds's p is not. Scores stand in p, dp in ds.
template <class C, bool kDrops>
void make_gradients(std::int64_t queries, std::int64_t keys, const C* HWY_RESTRICT lse,
                    const C* HWY_RESTRICT delta, const C* HWY_RESTRICT factors, std::int64_t step,
                    C* HWY_RESTRICT p, C* HWY_RESTRICT ds) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  for (std::int64_t q = 0; q < queries; q += kVec<C>) {
    const V base = hn::LoadU(d, lse + q), shift = hn::LoadU(d, delta + q);
    for (std::int64_t k = 0; k < keys; ++k) {
      const V v = exp2_of(d, hn::Sub(hn::LoadU(d, p + k * step + q), base));
      V dp = hn::LoadU(d, ds + k * step + q), kept = v;
      if constexpr (kDrops) {
        const V factor = hn::LoadU(d, factors + k * kWidth + q);
        dp = hn::Mul(dp, factor);
        kept = hn::Mul(v, factor);
      }
      hn::StoreU(kept, d, p + k * step + q);
      hn::StoreU(hn::Mul(v, hn::Sub(dp, shift)), d, ds + k * step + q);
    }
  }
}

// Rows of the block's queries, in both orders; log-sum-exp in units of log 2, and
// delta = sum(dout out) - dlse.
template <class T, class C>
void read_queries(const AttentionCall& call, const BackwardTiles<C>& s, std::int64_t b,
                  std::int64_t h, std::int64_t q0, std::int64_t n) {
  using B = AttentionBlocks<C>;
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  const std::int64_t d_step = B::padded(call.d), v_step = B::padded(call.dv);
  const std::int64_t v_row = call.query_row(b, q0, h, call.dv), v_rows = call.heads * call.dv;
  const std::int64_t stat = (b * call.heads + h) * call.tq + q0;
  const C* lse = static_cast<const C*>(call.lse) + stat;
  const C* dlse = static_cast<const C*>(call.dlse);
  copy_rows(static_cast<const T*>(call.dout) + v_row, v_rows, n, call.dv, s.dout, v_step, n);
  const T* out = static_cast<const T*>(call.out) + v_row;
  for (std::int64_t i = 0; i < n; ++i) {
    alignas(64) C tile[kRowTile];
    C dot = 0;
    for_tiles(call.dv, [&](std::int64_t j, std::int64_t count) {
      dot += dot_of(s.dout + i * v_step + j, read_tile(out + i * v_rows + j, tile, count), count);
    });
    s.delta[i] = dot - (dlse ? dlse[stat + i] : C(0));
    s.lse[i] = lse[i] == -kInf<C> ? kInf<C> : lse[i] * kLog2e<C>;  // no key at all: no gradient
  }
  for (std::int64_t i = n; i < B::up(n, kWidth); ++i) s.delta[i] = s.lse[i] = 0;
  transpose_rows(s.dout, v_step, n, call.dv, C(1), s.dout_t);
  copy_rows(static_cast<const T*>(call.q) + call.query_row(b, q0, h, call.d), call.heads * call.d,
            n, call.d, s.q, d_step, n);
  transpose_rows(s.q, d_step, n, call.d, static_cast<C>(call.scale) * kLog2e<C>, s.qt);
}

// Probabilities and gradients of scores of a tile of queries, `at` of its block.
template <class T, class C>
void make_tile(const AttentionCall& call, const BackwardTiles<C>& s, const TileAt& t,
               std::int64_t at) {
  using B = AttentionBlocks<C>;
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>, kStep = B::kQueries;
  C *p = s.p + at, *ds = s.ds + at;
  make_scores<T>(call, t, s.k, s.qt + at * call.d, p, kStep);
  const std::int64_t vecs = (t.queries + kVec<C> - 1) / kVec<C>;
  multiply<false, Start::kZero>(Product<C>{B::up(t.keys, B::kRows), call.dv, vecs, s.v,
                                           B::padded(call.dv), s.dout_t + at * call.dv, kWidth, ds,
                                           kStep});
  if (call.uniform) {
    draw_factors(call, t, s.numbers, s.factors);
    make_gradients<C, true>(t.queries, t.keys, s.lse + at, s.delta + at, s.factors, kStep, p, ds);
  } else {
    make_gradients<C, false>(t.queries, t.keys, s.lse + at, s.delta + at, nullptr, kStep, p, ds);
  }
}

template <class C>
void add_to_bias(const AttentionCall& call, const TileAt& t, const C* ds) {
  const AttentionCall::Scores& bias = call.bias;
  C* to = static_cast<C*>(call.dbias) + t.offset(bias);
  for (std::int64_t q = 0; q < t.queries; ++q) {
    for (std::int64_t k = 0; k < t.keys; ++k)
      to[q * bias.stride[2] + k * bias.stride[3]] += ds[k * AttentionBlocks<C>::kQueries + q];
  }
}

template <class C>
void add_products(const AttentionCall& call, const BackwardTiles<C>& s, std::int64_t n,
                  std::int64_t k0, std::int64_t keys, const KeySums<C>& sums) {
  using B = AttentionBlocks<C>;
  const std::int64_t d_step = B::padded(call.d), v_step = B::padded(call.dv);
  const std::int64_t d_vecs = d_step / kVec<C>, v_vecs = v_step / kVec<C>;
  const std::int64_t rows = B::up(keys, B::kRows);
  multiply<false, Start::kAdd>(
      Product<C>{rows, n, v_vecs, s.p, B::kQueries, s.dout, v_step, sums.dv + k0 * v_step, v_step});
  multiply<false, Start::kAdd>(
      Product<C>{rows, n, d_vecs, s.ds, B::kQueries, s.q, d_step, sums.dk + k0 * d_step, d_step});
  multiply<true, Start::kAdd>(
      Product<C>{B::up(n, B::kRows), keys, d_vecs, s.ds, B::kQueries, s.k, d_step, s.dq, d_step});
}

template <class T>
void backward_queries(const AttentionCall& call, std::int64_t b, std::int64_t h, std::int64_t q0,
                      std::int64_t n, void* scratch, void* sums_block) {
  using C = compute_t<T>;
  using B = AttentionBlocks<C>;
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  AttentionScratch<C> carve(scratch), carve_sums(sums_block);
  const BackwardTiles<C> s(carve, call);
  const KeySums<C> sums(carve_sums, call);
  const std::int64_t d_step = B::padded(call.d), kv_head = h / call.group();
  read_queries<T>(call, s, b, h, q0, n);
  std::fill_n(s.dq, B::up(n, B::kRows) * d_step, C(0));
  const std::int64_t last_key = keys_seen(call, q0 + n, 0, call.tk);
  for (std::int64_t k0 = 0; k0 < last_key; k0 += B::kKeys) {
    const std::int64_t keys = std::min(B::kKeys, last_key - k0);
    copy_rows(static_cast<const T*>(call.k) + call.key_row(b, k0, kv_head, call.d),
              call.kv_heads * call.d, keys, call.d, s.k, d_step, B::up(keys, B::kRows));
    copy_rows(static_cast<const T*>(call.v) + call.key_row(b, k0, kv_head, call.dv),
              call.kv_heads * call.dv, keys, call.dv, s.v, B::padded(call.dv),
              B::up(keys, B::kRows));
    for (std::int64_t at = 0; at < n; at += kWidth) {
      const TileAt tile{b, h, q0 + at, std::min(kWidth, n - at), k0, keys};
      if (keys_seen(call, tile.q0 + tile.queries, k0, keys) == 0) {
        for (std::int64_t k = 0; k < B::up(keys, B::kRows); ++k) {
          std::fill_n(s.p + k * B::kQueries + at, kWidth, C(0));
          std::fill_n(s.ds + k * B::kQueries + at, kWidth, C(0));
        }
        continue;
      }
      make_tile<T>(call, s, tile, at);
      if (!sums_block) add_to_bias(call, tile, s.ds + at);
    }
    if (sums_block) add_products(call, s, n, k0, keys, sums);
  }
  if (!sums_block) return;
  for (std::int64_t i = 0; i < n; ++i) {
    write_row(s.dq + i * d_step, static_cast<C>(call.scale), call.d,
              static_cast<T*>(call.dq) + call.query_row(b, q0 + i, h, call.d));
  }
}

template <class T>
void backward_keys(const AttentionCall& call, std::int64_t b, std::int64_t h, const void* block,
                   std::int64_t parts, std::uint64_t stride, std::int64_t first,
                   std::int64_t last) {
  using C = compute_t<T>;
  using B = AttentionBlocks<C>;
  alignas(64) C tile[kRowTile];
  const auto write = [&](C* KeySums<C>::*which, std::int64_t dim, C factor, void* to) {
    for (std::int64_t t = first; t < last; ++t) {
      T* row = static_cast<T*>(to) + call.key_row(b, t, h, dim);
      for_tiles(dim, [&](std::int64_t i, std::int64_t count) {
        std::fill_n(tile, count, C(0));
        for (std::int64_t part = 0; part < parts; ++part) {
          AttentionScratch<C> carve(const_cast<char*>(static_cast<const char*>(block)) +
                                    static_cast<std::uint64_t>(part) * stride);
          const C* from = KeySums<C>(carve, call).*which + t * B::padded(dim) + i;
          for (std::int64_t k = 0; k < count; ++k) tile[k] += from[k];
        }
        for (std::int64_t k = 0; k < count; ++k) tile[k] *= factor;
        write_tile(tile, row + i, count);
      });
    }
  };
  write(&KeySums<C>::dk, call.d, static_cast<C>(call.scale), call.dk);
  write(&KeySums<C>::dv, call.dv, C(1), call.dvalue);
}

template <class T>
constexpr AttentionBackwardFns fns_of() {
  return {backward_queries<T>, backward_keys<T>};
}
const AttentionBackwardFns* make_backward() {
  static constexpr AttentionBackwardFns kFns[] = {fns_of<float>(), fns_of<double>(), fns_of<Half>(),
                                                  fns_of<BFloat16>()};
  return kFns;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_backward);

AttentionBackwardFns attention_backward_of(DType dtype) noexcept {
  static_assert(static_cast<int>(DType::kFloat32) == 0 && static_cast<int>(DType::kBFloat16) == 3);
  static const AttentionBackwardFns* const fns = HWY_DYNAMIC_DISPATCH(make_backward)();
  return fns[static_cast<int>(dtype)];
}

}  // namespace plimsoll::cpu
#endif
