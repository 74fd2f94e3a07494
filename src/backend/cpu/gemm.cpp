#include "backend/cpu/gemm.h"

#include <algorithm>
#include <type_traits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/gemm.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PLIMSOLL_GEMM_ONCE
#define PLIMSOLL_GEMM_ONCE
namespace plimsoll::cpu {

constexpr std::int64_t kBlockDepth = 256;       // columns of a packed block of A
constexpr std::int64_t kPrefetch = 16;          // columns of A that are asked for ahead
constexpr std::int64_t kBlockBytesB = 2 << 20;  // of a packed block of B
constexpr std::int64_t kTileRows16 = 1024;      // of C held in float for 16-bit types
constexpr std::int64_t kMaxTileRows = 14;
constexpr std::int64_t kBlockRows = 16;        // packed block of A, in tiles
constexpr std::int64_t kMaxTileBytes = 128;    // a row of a tile of C
constexpr std::int64_t kStackElements = 4096;  // of A and of B that are packed on the stack
constexpr std::int64_t kFewRows = 6;           // of A that are multiplied without packing

constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

// How a product is cut; the same for all instruction sets.
template <class C>
struct Blocks {
  static constexpr std::int64_t kDepth = kBlockDepth;
  static constexpr std::int64_t kRows = kMaxTileRows * kBlockRows;
  static constexpr std::int64_t kColumns =
      kBlockBytesB / kDepth / static_cast<std::int64_t>(sizeof(C));
  static constexpr std::int64_t kTileColumns = kMaxTileBytes / static_cast<std::int64_t>(sizeof(C));

  std::int64_t a, b, c;  // elements of the buffers
  Blocks(std::int64_t m, std::int64_t n, std::int64_t k, bool holds_c) noexcept
      : a(std::min(m, kRows) * std::min(k, kDepth)),
        b(round_up(std::min(n, kColumns), kTileColumns) * std::min(k, kDepth)),
        c(holds_c ? std::min(m, kTileRows16) * std::min(n, kColumns) : 0) {}
  bool fits_stack() const noexcept {
    return a <= kStackElements && b <= kStackElements && c <= kStackElements;
  }
};

}  // namespace plimsoll::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr int kTileRows = 14;  // 28 accumulators of 32 registers
#else
constexpr int kTileRows = 6;  // 12 of 16
#endif
static_assert(kTileRows <= kMaxTileRows);
constexpr int kTileVecs = 2;

// A tile of C from packed columns of A (`a_step` apart) and rows of B (`b_step` apart).
template <int kRows, class C>
HWY_INLINE void multiply_tile(std::int64_t k, const C* HWY_RESTRICT a, std::int64_t a_step,
                              const C* HWY_RESTRICT b, std::int64_t b_step, C* HWY_RESTRICT c,
                              std::int64_t c_row, std::int64_t width, bool accumulate) {
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(C);
  V sum[kRows][kTileVecs];
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(c + i * c_row);
    __builtin_prefetch(c + i * c_row + kLanes);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
  for (std::int64_t p = 0; p < k; ++p, a += a_step, b += b_step) {
    __builtin_prefetch(a + kPrefetch * a_step);
    if constexpr (sizeof(C) == 8) __builtin_prefetch(a + kPrefetch * a_step + 8);
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[i]);
      sum[i][0] = hn::MulAdd(x, b0, sum[i][0]);
      sum[i][1] = hn::MulAdd(x, b1, sum[i][1]);
    }
  }
  if (width == kTileVecs * kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      C* row = c + i * c_row;
      const V c0 = accumulate ? hn::Add(hn::LoadU(d, row), sum[i][0]) : sum[i][0];
      const V c1 = accumulate ? hn::Add(hn::LoadU(d, row + kLanes), sum[i][1]) : sum[i][1];
      hn::StoreU(c0, d, row);
      hn::StoreU(c1, d, row + kLanes);
    }
    return;
  }
  alignas(64) C line[kTileVecs * kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    C* row = c + i * c_row;
    hn::Store(sum[i][0], d, line);
    hn::Store(sum[i][1], d, line + kLanes);
    for (std::int64_t j = 0; j < width; ++j) row[j] = accumulate ? row[j] + line[j] : line[j];
  }
}

template <class C>
struct TileArgs {
  std::int64_t k;
  const C* a;
  std::int64_t a_step;
  const C* b;
  std::int64_t b_step;
  C* c;
  std::int64_t c_row, width;
  bool accumulate;
};

template <int kRows, class C>
HWY_NOINLINE void run_tile(const TileArgs<C>& t, std::int64_t first_row) {
  multiply_tile<kRows>(t.k, t.a + first_row, t.a_step, t.b, t.b_step, t.c + first_row * t.c_row,
                       t.c_row, t.width, t.accumulate);
}

// Fewer rows than a tile has, as tiles of 8, 4, 2 and 1.
template <class C>
void run_short_tile(const TileArgs<C>& t, std::int64_t rows) {
  std::int64_t at = 0;
  if (kTileRows > 8 && rows - at >= 8) run_tile<8>(t, at), at += 8;
  if (rows - at >= 4) run_tile<4>(t, at), at += 4;
  if (rows - at >= 2) run_tile<2>(t, at), at += 2;
  if (rows - at >= 1) run_tile<1>(t, at);
}

// to[p * to_step + i] = from[i * from_step + p] for four i and four p.
HWY_INLINE void turn_4x4(const float* HWY_RESTRICT from, std::int64_t from_step,
                         float* HWY_RESTRICT to, std::int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  for (std::int64_t p = 0; p < 4; ++p) {
    for (std::int64_t i = 0; i < 4; ++i) to[p * to_step + i] = from[i * from_step + p];
  }
#else
  const hn::FixedTag<float, 4> d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_step),
             c = hn::LoadU(d, from + 2 * from_step), e = hn::LoadU(d, from + 3 * from_step);
  const auto ac_low = hn::InterleaveLower(d, a, c), ac_high = hn::InterleaveUpper(d, a, c),
             be_low = hn::InterleaveLower(d, b, e), be_high = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac_low, be_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, ac_low, be_low), d, to + to_step);
  hn::StoreU(hn::InterleaveLower(d, ac_high, be_high), d, to + 2 * to_step);
  hn::StoreU(hn::InterleaveUpper(d, ac_high, be_high), d, to + 3 * to_step);
#endif
}

// to[p * to_step + i] = from[i * from_step + p] for `count` i and `k` p: what lies along rows comes
// to lie along columns. A column at a time would read from as many pages as there are rows.
template <class T, class C>
void turn(const T* from, std::int64_t from_step, std::int64_t count, std::int64_t k, C* to,
          std::int64_t to_step) {
  std::int64_t i = 0;
  if constexpr (std::is_same_v<T, float> && std::is_same_v<C, float>) {
    for (; i + 4 <= count; i += 4) {
      std::int64_t p = 0;
      for (; p + 4 <= k; p += 4)
        turn_4x4(from + i * from_step + p, from_step, to + p * to_step + i, to_step);
      for (; p < k; ++p) {
        for (std::int64_t q = i; q < i + 4; ++q) to[p * to_step + q] = from[q * from_step + p];
      }
    }
  }
  for (; i < count; ++i) {
    const T* row = from + i * from_step;
    C* at = to + i;
    for (std::int64_t p = 0; p < k; ++p, at += to_step) *at = static_cast<C>(row[p]);
  }
}

// Tiles of kTileRows rows one behind the other, in each a column of A after the other; the last
// tile may be shorter.
template <class T, class C>
void pack_a(const T* a, std::int64_t a_row, std::int64_t a_col, std::int64_t rows, std::int64_t k,
            C* to) {
  for (std::int64_t i0 = 0; i0 < rows; i0 += kTileRows, a += kTileRows * a_row) {
    const std::int64_t height = std::min<std::int64_t>(kTileRows, rows - i0);
    if (a_col == 1) {
      turn(a, a_row, height, k, to, height);
      to += height * k;
    } else if (a_row == 1 && height == kTileRows) {  // turned: a number of elements that is known
      for (std::int64_t p = 0; p < k; ++p, to += kTileRows) {
        const T* from = a + p * a_col;
#pragma GCC unroll 16
        for (int i = 0; i < kTileRows; ++i) to[i] = static_cast<C>(from[i]);
      }
    } else {
      for (std::int64_t p = 0; p < k; ++p) {
        const T* from = a + p * a_col;
        for (std::int64_t i = 0; i < height; ++i) *to++ = static_cast<C>(from[i * a_row]);
      }
    }
  }
}

// Panels of a tile's width one behind the other, in each a row of B after the other; the last panel
// is filled up with zeros.
template <class T, class C>
void pack_b(const T* b, std::int64_t b_row, std::int64_t b_col, std::int64_t k,
            std::int64_t columns, C* to) {
  constexpr std::int64_t kWidth = kTileVecs * HWY_LANES(C);
  for (std::int64_t j0 = 0; j0 < columns; j0 += kWidth, b += kWidth * b_col) {
    const std::int64_t width = std::min(kWidth, columns - j0);
    if (b_row == 1 && b_col != 1) {
      turn(b, b_col, width, k, to, kWidth);
      for (std::int64_t j = width; j < kWidth; ++j) {
        for (std::int64_t p = 0; p < k; ++p) to[p * kWidth + j] = C(0);
      }
      to += k * kWidth;
      continue;
    }
    for (std::int64_t p = 0; p < k; ++p, to += kWidth) {
      const T* from = b + p * b_row;
      if (b_col == 1 && width == kWidth) {
        for (std::int64_t j = 0; j < kWidth; ++j) to[j] = static_cast<C>(from[j]);
      } else {
        for (std::int64_t j = 0; j < width; ++j) to[j] = static_cast<C>(from[j * b_col]);
        for (std::int64_t j = width; j < kWidth; ++j) to[j] = C(0);
      }
    }
  }
}

// A block of B: panels of a tile's width, `panel_step` elements apart for each of their columns, in
// which rows are `row_step` apart.
template <class C>
struct BlockOfB {
  const C* data;
  std::int64_t panel_step, row_step;
};

// A packed block of A times a block of B.
template <class C>
void multiply_blocks(std::int64_t rows, std::int64_t columns, std::int64_t k, const C* a,
                     const BlockOfB<C>& b, C* c, std::int64_t c_row, bool accumulate) {
  constexpr std::int64_t kWidth = kTileVecs * HWY_LANES(C);
  for (std::int64_t j = 0; j < columns; j += kWidth) {
    const std::int64_t width = std::min(kWidth, columns - j);
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t height = std::min<std::int64_t>(kTileRows, rows - i);
      const TileArgs<C> tile{.k = k,
                             .a = a + i * k,
                             .a_step = height,
                             .b = b.data + j * b.panel_step,
                             .b_step = b.row_step,
                             .c = c + i * c_row + j,
                             .c_row = c_row,
                             .width = width,
                             .accumulate = accumulate};
      if (height == kTileRows) {
        run_tile<kTileRows>(tile, 0);
      } else {
        run_short_tile(tile, height);
      }
    }
  }
}

template <class T, class C>
void multiply(const Gemm<T>& g, C* pack_to_a, C* pack_to_b, C* held_c) {
  constexpr bool kHoldsC = !std::is_same_v<T, C>;
  constexpr std::int64_t kRows = Blocks<C>::kRows / kMaxTileRows * kTileRows;
  constexpr std::int64_t kColumns = Blocks<C>::kColumns;
  constexpr std::int64_t kDepth = Blocks<C>::kDepth;
  constexpr std::int64_t kWidth = kTileVecs * HWY_LANES(C);
  // Short rows of B that only a few tiles go over are read as they lie.
  const bool is_narrow = g.b_col == 1 && g.n % kWidth == 0 && g.m <= 4 * kTileRows &&
                         g.b_row * static_cast<std::int64_t>(sizeof(C)) <= 256;
  const std::int64_t outer = kHoldsC ? kTileRows16 : g.m;
  for (std::int64_t i0 = 0; i0 < g.m; i0 += outer) {
    const std::int64_t m = std::min(outer, g.m - i0);
    for (std::int64_t j0 = 0; j0 < g.n; j0 += kColumns) {
      const std::int64_t n = std::min(kColumns, g.n - j0);
      C* c;
      std::int64_t c_row = g.c_row;
      if constexpr (kHoldsC) {
        c = held_c;
        c_row = n;
      } else {
        c = g.c + i0 * g.c_row + j0;
      }
      for (std::int64_t p0 = 0; p0 < g.k; p0 += kDepth) {
        const std::int64_t k = std::min(kDepth, g.k - p0);
        const T* from = g.b + p0 * g.b_row + j0 * g.b_col;
        BlockOfB<C> b{pack_to_b, k, kWidth};
        if constexpr (!kHoldsC) {
          if (is_narrow) b = {from, 1, g.b_row};
        }
        if (b.data == pack_to_b) pack_b(from, g.b_row, g.b_col, k, n, pack_to_b);
        for (std::int64_t i = 0; i < m; i += kRows) {
          const std::int64_t rows = std::min(kRows, m - i);
          pack_a(g.a + (i0 + i) * g.a_row + p0 * g.a_col, g.a_row, g.a_col, rows, k, pack_to_a);
          multiply_blocks(rows, n, k, pack_to_a, b, c + i * c_row, c_row, p0 > 0 || g.accumulate);
        }
      }
      if constexpr (kHoldsC) {
        for (std::int64_t i = 0; i < m; ++i) {
          T* to = g.c + (i0 + i) * g.c_row + j0;
          for (std::int64_t j = 0; j < n; ++j) to[j] = T(held_c[i * n + j]);
        }
      }
    }
  }
}

// C += A B for some rows of B and `columns` of its columns.
template <class C>
void add_few_rows(const Gemm<C>& g, std::int64_t first, std::int64_t last, std::int64_t j0,
                  std::int64_t columns, C* HWY_RESTRICT sums, std::int64_t sums_row) {
  constexpr std::int64_t kLanes = HWY_LANES(C), kStep = 4;
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  std::int64_t p = first;
  for (; p + kStep <= last; p += kStep) {
    const C* b = g.b + p * g.b_row + j0;
    for (std::int64_t i = 0; i < g.m; ++i) {
      const C* a = g.a + i * g.a_row + p * g.a_col;
      const C a0 = a[0], a1 = a[g.a_col], a2 = a[2 * g.a_col], a3 = a[3 * g.a_col];
      const V x0 = hn::Set(d, a0), x1 = hn::Set(d, a1), x2 = hn::Set(d, a2), x3 = hn::Set(d, a3);
      C* c = sums + i * sums_row;
      std::int64_t j = 0;
      for (; j + kLanes <= columns; j += kLanes) {
        V sum = hn::MulAdd(x0, hn::LoadU(d, b + j), hn::LoadU(d, c + j));
        sum = hn::MulAdd(x1, hn::LoadU(d, b + g.b_row + j), sum);
        sum = hn::MulAdd(x2, hn::LoadU(d, b + 2 * g.b_row + j), sum);
        sum = hn::MulAdd(x3, hn::LoadU(d, b + 3 * g.b_row + j), sum);
        hn::StoreU(sum, d, c + j);
      }
      for (; j < columns; ++j) {
        c[j] += a0 * b[j] + a1 * b[g.b_row + j] + a2 * b[2 * g.b_row + j] + a3 * b[3 * g.b_row + j];
      }
    }
  }
  for (; p < last; ++p) {
    for (std::int64_t i = 0; i < g.m; ++i) {
      const C x = g.a[i * g.a_row + p * g.a_col];
      C* c = sums + i * sums_row;
      for (std::int64_t j = 0; j < columns; ++j) c[j] += x * g.b[p * g.b_row + j0 + j];
    }
  }
}

// C = A B for a few rows of A, with rows of B as they lie: to pack B would take as long as the
// product. Rows of B go by four, over as many columns as sums can keep in the nearest cache; and in
// blocks, whose sums are added up: one sum over all rows would be less exact.
template <class C>
void multiply_few_rows(const Gemm<C>& g) {
  constexpr std::int64_t kColumns = 256;
  alignas(64) C sums[kFewRows * kColumns];
  for (std::int64_t j0 = 0; j0 < g.n; j0 += kColumns) {
    const std::int64_t columns = std::min(kColumns, g.n - j0);
    for (std::int64_t p = 0; p < g.k; p += kBlockDepth) {
      std::fill(sums, sums + g.m * kColumns, C(0));
      add_few_rows(g, p, std::min(g.k, p + kBlockDepth), j0, columns, sums, kColumns);
      for (std::int64_t i = 0; i < g.m; ++i) {
        C* c = g.c + i * g.c_row + j0;
        for (std::int64_t j = 0; j < columns; ++j)
          c[j] = sums[i * kColumns + j] + (p > 0 || g.accumulate ? c[j] : C(0));
      }
    }
  }
}

void few_rows_float(const Gemm<float>& g) {
  multiply_few_rows(g);
}
void few_rows_double(const Gemm<double>& g) {
  multiply_few_rows(g);
}
void multiply_float(const Gemm<float>& g, float* a, float* b, float* c) {
  multiply(g, a, b, c);
}
void multiply_double(const Gemm<double>& g, double* a, double* b, double* c) {
  multiply(g, a, b, c);
}
void multiply_half(const Gemm<Half>& g, float* a, float* b, float* c) {
  multiply(g, a, b, c);
}
void multiply_bfloat16(const Gemm<BFloat16>& g, float* a, float* b, float* c) {
  multiply(g, a, b, c);
}

}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {
namespace {

HWY_EXPORT(few_rows_float);
HWY_EXPORT(few_rows_double);
HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(multiply_half);
HWY_EXPORT(multiply_bfloat16);

template <class T, class C>
void dispatch(const Gemm<T>& g, C* a, C* b, C* c) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(multiply_float)(g, a, b, c);
  } else if constexpr (std::is_same_v<T, double>) {
    HWY_DYNAMIC_DISPATCH(multiply_double)(g, a, b, c);
  } else if constexpr (std::is_same_v<T, Half>) {
    HWY_DYNAMIC_DISPATCH(multiply_half)(g, a, b, c);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_bfloat16)(g, a, b, c);
  }
}

template <class T>
Blocks<compute_t<T>> blocks_of(std::int64_t m, std::int64_t n, std::int64_t k) noexcept {
  return {m, n, k, !std::is_same_v<T, compute_t<T>>};
}

}  // namespace

template <class T>
bool is_few_rows(std::int64_t m, bool has_rows) noexcept {
  return std::is_floating_point_v<T> && m <= kFewRows && has_rows;
}

template <class T>
std::uint64_t gemm_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k,
                                 bool has_rows) noexcept {
  if (is_few_rows<T>(m, has_rows)) return 0;
  const auto blocks = blocks_of<T>(m, n, k);
  if (blocks.fits_stack()) return 0;
  return static_cast<std::uint64_t>(round_up(blocks.a, 64) + round_up(blocks.b, 64) +
                                    round_up(blocks.c, 64)) *
         sizeof(compute_t<T>);
}

template <class T>
void gemm(const Gemm<T>& g, void* scratch) noexcept {
  using C = compute_t<T>;
  if (g.k == 0) {
    if (g.accumulate) return;
    for (std::int64_t i = 0; i < g.m; ++i) std::fill_n(g.c + i * g.c_row, g.n, T(0));
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (is_few_rows<T>(g.m, g.b_col == 1)) {
      if constexpr (std::is_same_v<T, float>) {
        HWY_DYNAMIC_DISPATCH(few_rows_float)(g);
      } else {
        HWY_DYNAMIC_DISPATCH(few_rows_double)(g);
      }
      return;
    }
  }
  const auto blocks = blocks_of<T>(g.m, g.n, g.k);
  if (blocks.fits_stack()) {
    constexpr bool kHoldsC = !std::is_same_v<T, C>;
    alignas(64) C a[kStackElements];
    alignas(64) C b[kStackElements];
    alignas(64) C c[kHoldsC ? kStackElements : 1];
    dispatch(g, a, b, c);
    return;
  }
  C* a = static_cast<C*>(scratch);
  C* b = a + round_up(blocks.a, 64);
  dispatch(g, a, b, b + round_up(blocks.b, 64));
}

#define PLIMSOLL_GEMM(T)                                                                 \
  template std::uint64_t gemm_scratch_bytes<T>(std::int64_t, std::int64_t, std::int64_t, \
                                               bool) noexcept;                           \
  template void gemm<T>(const Gemm<T>&, void*) noexcept;
PLIMSOLL_GEMM(float)
PLIMSOLL_GEMM(double)
PLIMSOLL_GEMM(Half)
PLIMSOLL_GEMM(BFloat16)
#undef PLIMSOLL_GEMM

}  // namespace plimsoll::cpu
#endif
