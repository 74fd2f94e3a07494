// Products of small tiles, tiles of scores and powers of 2, for both passes of attention. Included
// once per instruction set, after Highway.
#if defined(PLIMSOLL_ATTENTION_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_ATTENTION_TILES_INL_H
#undef PLIMSOLL_ATTENTION_TILES_INL_H
#else
#define PLIMSOLL_ATTENTION_TILES_INL_H
#endif

#include "backend/cpu/attention_blocks.h"
#include "backend/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// Rows of a tile in registers, by the number of its vectors.
#if HWY_TARGET <= HWY_AVX3
constexpr int kTileRows[] = {0, 12, 12, 6, 6};  // of 32 registers
#elif HWY_TARGET != HWY_SCALAR
constexpr int kTileRows[] = {0, 6, 6, 3, 3};  // of 16
#else
constexpr int kTileRows[] = {0, 3, 3, 3, 3};
#endif
constexpr int kTileVecs = 3;  // of queries
// Whole tiles cover the queries of a tile of scores.
static_assert(kTileVecs * HWY_LANES(float) % kTileRows[1] == 0);
static_assert(kTileVecs * HWY_LANES(double) % kTileRows[1] == 0);

template <class C>
constexpr std::int64_t kVec = HWY_LANES(C);

// C = A B, for rows that are filled up to a multiple of every kTileRows and columns in whole
// vectors.
enum class Start { kZero, kAdd, kScale };  // from zero, from C, from C times a factor for each row
template <class C>
struct Product {
  std::int64_t rows, depth, vecs;
  const C* a;
  std::int64_t a_step;  // from row to row, or where A lies by columns from column to column
  const C* b;
  std::int64_t b_step;
  C* c;
  std::int64_t c_step;
  const C* factors = nullptr;
};

template <int kRows, int kVecs, bool kByColumns, Start kStart, class C>
HWY_INLINE void multiply_tile(const Product<C>& p, std::int64_t row, std::int64_t column) {
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t one = p.a_step, two = 2 * one, three = 3 * one;
  const C* a[(kRows + 3) / 4];
  if constexpr (kByColumns) {
    a[0] = p.a + row;
  } else {
    for (int i = 0; i < (kRows + 3) / 4; ++i) a[i] = p.a + (row + 4 * i) * one;
  }
  const C* HWY_RESTRICT b = p.b + column;
  C* HWY_RESTRICT c = p.c + row * p.c_step + column;
  V sum[kRows][kVecs];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      if constexpr (kStart == Start::kZero) {
        sum[i][j] = hn::Zero(d);
      } else {
        sum[i][j] = hn::LoadU(d, c + i * p.c_step + j * kVec<C>);
        if constexpr (kStart == Start::kScale)
          sum[i][j] = hn::Mul(sum[i][j], hn::Set(d, p.factors[row + i]));
      }
    }
  }
  for (std::int64_t k = 0; k < p.depth; ++k, b += p.b_step) {
    V v[kVecs];
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) v[j] = hn::LoadU(d, b + j * kVec<C>);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const C* at = kByColumns   ? a[0] + i
                    : i % 4 == 0 ? a[i / 4]
                    : i % 4 == 1 ? a[i / 4] + one
                    : i % 4 == 2 ? a[i / 4] + two
                                 : a[i / 4] + three;
      const V x = hn::Set(d, *at);
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) sum[i][j] = hn::MulAdd(x, v[j], sum[i][j]);
    }
    if constexpr (kByColumns) {
      a[0] += one;
    } else {
      for (int i = 0; i < (kRows + 3) / 4; ++i) ++a[i];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) hn::StoreU(sum[i][j], d, c + i * p.c_step + j * kVec<C>);
  }
}
template <int kVecs, bool kByColumns, Start kStart, class C>
HWY_NOINLINE void multiply_column(const Product<C>& p, std::int64_t column) {
  constexpr int kRows = kTileRows[kVecs];
  for (std::int64_t row = 0; row < p.rows; row += kRows)
    multiply_tile<kRows, kVecs, kByColumns, kStart>(p, row, column);
}
template <bool kByColumns, Start kStart, class C>
void multiply(const Product<C>& p) {
  std::int64_t vec = 0;
  for (; p.vecs - vec == 4 || p.vecs - vec > 5; vec += 4)
    multiply_column<4, kByColumns, kStart>(p, vec * kVec<C>);
  const std::int64_t at = vec * kVec<C>;
  switch (p.vecs - vec) {
    case 5:  // rather than 4 and 1
      multiply_column<3, kByColumns, kStart>(p, at);
      return multiply_column<2, kByColumns, kStart>(p, at + 3 * kVec<C>);
    case 3:
      return multiply_column<3, kByColumns, kStart>(p, at);
    case 2:
      return multiply_column<2, kByColumns, kStart>(p, at);
    case 1:
      return multiply_column<1, kByColumns, kStart>(p, at);
  }
}

// 2^x for x up to 0 or a little above; 0 for -inf.
template <class D, class V>
HWY_INLINE V exp2_of(D d, V x) {
  using C = hn::TFromD<D>;
  if constexpr (sizeof(C) == 8) {
    alignas(64) C all[HWY_MAX_BYTES / sizeof(C)];
    hn::Store(x, d, all);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) all[i] = std::exp2(all[i]);
    return hn::Load(d, all);
  } else {
    const V clamped = hn::Max(hn::Set(d, -200.0F), x);  // nan passes
    const V n = hn::Round(clamped);
    const V r = hn::Sub(clamped, n);
    V q = hn::Set(d, 1.326472731e-3F);
    q = hn::MulAdd(q, r, hn::Set(d, 9.671512991e-3F));
    q = hn::MulAdd(q, r, hn::Set(d, 5.550733581e-2F));
    q = hn::MulAdd(q, r, hn::Set(d, 2.402224243e-1F));
    q = hn::MulAdd(q, r, hn::Set(d, 6.931470037e-1F));
    q = hn::MulAdd(q, r, hn::Set(d, 1.0F));
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_scalef_ps(q.raw, n.raw)};
#else
    const hn::RebindToSigned<D> di;
    const V low = hn::Max(hn::Set(d, -126.0F), n);
    const V power =
        hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, low), hn::Set(di, 127))));
    return hn::IfThenZeroElse(hn::Lt(n, hn::Set(d, -126.0F)), hn::Mul(q, power));
#endif
  }
}

template <class C>
constexpr C kLog2e = static_cast<C>(1.4426950408889634074);
template <class C>
constexpr C kLn2 = static_cast<C>(0.69314718055994530942);
template <class C>
constexpr C kInf = std::numeric_limits<C>::infinity();

// Rows that lie `from_step` apart, one behind the other; filled up with zeros to `to_step` elements
// and to `all` rows.
template <class T, class C>
void copy_rows(const T* from, std::int64_t from_step, std::int64_t n, std::int64_t dim, C* to,
               std::int64_t to_step, std::int64_t all) {
  for (std::int64_t i = 0; i < n; ++i, from += from_step, to += to_step) {
    if constexpr (std::is_same_v<T, C>) {
      std::copy_n(from, dim, to);
    } else {
      widen_16bit(from, to, dim);
    }
    std::fill(to + dim, to + to_step, C(0));
  }
  std::fill(to, to + (all - n) * to_step, C(0));
}
template <class T, class C>
void write_row(const C* from, C factor, std::int64_t dim, T* to) {
  alignas(64) C tile[kRowTile];
  for_tiles(dim, [&](std::int64_t i, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) tile[k] = from[i + k] * factor;
    write_tile(tile, to + i, count);
  });
}
// Rows as columns: calls put(i, v) with element i of four rows, for i in [0, n); the rest of n / 4
// is left to the caller, to whom it returns where it begins.
#if HWY_TARGET != HWY_SCALAR
template <class Put>
HWY_INLINE std::int64_t for_columns(const float* rows, std::int64_t step, std::int64_t n,
                                    Put&& put) {
  const hn::Full128<float> d;
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const auto a = hn::LoadU(d, rows + i), b = hn::LoadU(d, rows + step + i);
    const auto c = hn::LoadU(d, rows + 2 * step + i), e = hn::LoadU(d, rows + 3 * step + i);
    const auto ab0 = hn::InterleaveLower(d, a, b), ab2 = hn::InterleaveUpper(d, a, b);
    const auto ce0 = hn::InterleaveLower(d, c, e), ce2 = hn::InterleaveUpper(d, c, e);
    put(i, hn::ConcatLowerLower(d, ce0, ab0));
    put(i + 1, hn::ConcatUpperUpper(d, ce0, ab0));
    put(i + 2, hn::ConcatLowerLower(d, ce2, ab2));
    put(i + 3, hn::ConcatUpperUpper(d, ce2, ab2));
  }
  return i;
}
#endif

// Rows as columns of tiles: [tile][dim][queries of a tile]; queries beyond n are zeros.
template <class T, class C>
void transpose_rows(const T* from, std::int64_t from_step, std::int64_t n, std::int64_t dim,
                    C factor, C* to) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  for (std::int64_t q0 = 0; q0 < n; q0 += kWidth, to += dim * kWidth) {
    const std::int64_t count = std::min(kWidth, n - q0);
    if (count < kWidth) std::fill_n(to, dim * kWidth, C(0));
    std::int64_t q = 0;
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_same_v<T, float>) {
      const hn::Full128<float> d;
      const auto factors = hn::Set(d, factor);
      for (; q + 4 <= count; q += 4) {
        const T* rows = from + (q0 + q) * from_step;
        C* column = to + q;
        std::int64_t i = for_columns(rows, from_step, dim, [&](std::int64_t at, auto v) HWY_ATTR {
          hn::StoreU(hn::Mul(v, factors), d, column + at * kWidth);
        });
        for (; i < dim; ++i) {
          for (std::int64_t r = 0; r < 4; ++r)
            column[i * kWidth + r] = rows[r * from_step + i] * factor;
        }
      }
    }
#endif
    for (; q < count; ++q) {
      const T* row = from + (q0 + q) * from_step;
      for (std::int64_t i = 0; i < dim; ++i) to[i * kWidth + q] = static_cast<C>(row[i]) * factor;
    }
  }
}

// A tile of scores: queries q0 to q0 + queries of head h, keys k0 to k0 + keys.
struct TileAt {
  std::int64_t b, h, q0, queries, k0, keys;
  std::int64_t offset(const AttentionCall::Scores& s) const {
    return b * s.stride[0] + h * s.stride[1] + q0 * s.stride[2] + k0 * s.stride[3];
  }
};

template <class T, class C>
void add_bias(const AttentionCall::Scores& bias, const TileAt& t, C* scores, std::int64_t step) {
  const T* from = static_cast<const T*>(bias.at) + t.offset(bias);
  const std::int64_t by_q = bias.stride[2], by_k = bias.stride[3];
  if (by_q == 0) {
    for (std::int64_t k = 0; k < t.keys; ++k) {
      const C value = static_cast<C>(from[k * by_k]) * kLog2e<C>;
      for (std::int64_t q = 0; q < t.queries; ++q) scores[k * step + q] += value;
    }
    return;
  }
  std::int64_t q = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, float>) {
    const hn::Full128<float> d;
    const auto factor = hn::Set(d, kLog2e<float>);
    for (; by_k == 1 && q + 4 <= t.queries; q += 4) {
      float* column = scores + q;
      const float* rows = from + q * by_q;
      std::int64_t k = for_columns(rows, by_q, t.keys, [&](std::int64_t at, auto v) HWY_ATTR {
        float* to = column + at * step;
        hn::StoreU(hn::MulAdd(v, factor, hn::LoadU(d, to)), d, to);
      });
      for (; k < t.keys; ++k) {
        for (std::int64_t r = 0; r < 4; ++r)
          column[k * step + r] += rows[r * by_q + k] * kLog2e<float>;
      }
    }
  }
#endif
  for (; q < t.queries; ++q) {
    for (std::int64_t k = 0; k < t.keys; ++k)
      scores[k * step + q] += static_cast<C>(from[q * by_q + k * by_k]) * kLog2e<C>;
  }
}
template <class C>
void apply_mask(const AttentionCall::Scores& mask, const TileAt& t, C* scores, std::int64_t step) {
  const bool* from = static_cast<const bool*>(mask.at) + t.offset(mask);
  const std::int64_t by_q = mask.stride[2], by_k = mask.stride[3];
  if (by_q == 0) {
    for (std::int64_t k = 0; k < t.keys; ++k) {
      if (!from[k * by_k]) std::fill_n(scores + k * step, t.queries, -kInf<C>);
    }
    return;
  }
  for (std::int64_t q = 0; q < t.queries; ++q) {
    for (std::int64_t k = 0; k < t.keys; ++k) {
      C& score = scores[k * step + q];
      score = from[q * by_q + k * by_k] ? score : -kInf<C>;
    }
  }
}
// scores[key][query] = key . query, with bias and masks; `step` apart.
template <class T, class C>
void make_scores(const AttentionCall& call, const TileAt& t, const C* keys, const C* queries,
                 C* scores, std::int64_t step) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  using B = AttentionBlocks<C>;
  const std::int64_t vecs = (t.queries + kVec<C> - 1) / kVec<C>;
  multiply<false, Start::kZero>(Product<C>{B::up(t.keys, B::kRows), call.d, vecs, keys,
                                           B::padded(call.d), queries, kWidth, scores, step});
  if (call.bias.at) add_bias<T>(call.bias, t, scores, step);
  if (call.mask.at) apply_mask(call.mask, t, scores, step);
  if (call.is_causal) {
    for (std::int64_t k = std::max<std::int64_t>(0, t.q0 + 1 - t.k0); k < t.keys; ++k)
      std::fill_n(scores + k * step, std::min(t.queries, t.k0 + k - t.q0), -kInf<C>);
  }
}
// How many keys of a block the last query of a tile may look at.
inline std::int64_t keys_seen(const AttentionCall& call, std::int64_t end_query, std::int64_t k0,
                              std::int64_t keys) {
  return call.is_causal ? std::clamp<std::int64_t>(end_query - k0, 0, keys) : keys;
}

// factors[key][query] = 0 or 1 / (1 - rate): the numbers that Dropout would draw for scores of
// [batch, heads, tq, tk].
template <class C>
void draw_factors(const AttentionCall& call, const TileAt& t, C* numbers, C* factors) {
  constexpr std::int64_t kWidth = kTileVecs * kVec<C>;
  const C rate = static_cast<C>(call.rate), kept = static_cast<C>(1 / (1 - call.rate));
  for (std::int64_t q = 0; q < t.queries; ++q) {
    const std::int64_t first = ((t.b * call.heads + t.h) * call.tq + t.q0 + q) * call.tk + t.k0;
    const std::int64_t aligned = first / 4 * 4;
    // The filler counts elements from the tensor's begin: a counter makes 4 floats or 2 doubles.
    FillArgs fill{call.start, numbers, 0, 1};
    fill.start.skip(static_cast<std::uint64_t>(aligned) * sizeof(C) / 16);
    call.uniform(fill, 0, first - aligned + t.keys);
    const C* row = numbers + (first - aligned);
    for (std::int64_t k = 0; k < t.keys; ++k)
      factors[k * kWidth + q] = row[k] >= rate ? kept : C(0);
  }
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
