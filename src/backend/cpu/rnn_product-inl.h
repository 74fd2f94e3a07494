// Products of a few rows with a packed panel, and rows of any floating type in and out. Included
// once per instruction set, after Highway.
#if defined(PLIMSOLL_RNN_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_RNN_PRODUCT_INL_H
#undef PLIMSOLL_RNN_PRODUCT_INL_H
#else
#define PLIMSOLL_RNN_PRODUCT_INL_H
#endif

#include <cstring>

#include "backend/cpu/rnn.h"
#include "backend/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// C = A B, or C += A B, for a panel B [k, width]; of C only `columns` are there.
template <class C>
struct PanelProduct {
  std::int64_t rows, k;
  const C* a;
  std::int64_t a_row, a_col;
  const C* b;
  std::int64_t width;  // in blocks of kRnnBlockBytes
  C* c;
  std::int64_t c_row, columns;
  bool accumulate;
};

// A tile of C in registers: with 32 of them 6 rows of 4 vectors, which leaves room for a row of B.
#if HWY_TARGET <= HWY_AVX3
constexpr int kPanelRows = 6;
constexpr int kPanelBlocks = 4;  // at a time
#elif HWY_TARGET <= HWY_AVX2
constexpr int kPanelRows = 6;
constexpr int kPanelBlocks = 1;
#else
constexpr int kPanelRows = 3;
constexpr int kPanelBlocks = 1;
#endif
constexpr std::int64_t kPanelDepthBytes = 32 << 10;  // of B that stay in the first cache

template <int kRows, int kVecs, class C>
HWY_INLINE void multiply_panel(const PanelProduct<C>& p, const C* HWY_RESTRICT a,
                               const C* HWY_RESTRICT b, std::int64_t k, C* HWY_RESTRICT c,
                               std::int64_t c_row, bool accumulate) {
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(C);
  V sum[kRows][kVecs];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) sum[i][j] = hn::Zero(d);
  }
  const std::int64_t a_row = p.a_row, a_col = p.a_col, width = p.width;
  for (std::int64_t q = 0; q < k; ++q, a += a_col, b += width) {
    V row[kVecs];
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) row[j] = hn::LoadU(d, b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < kVecs; ++j) sum[i][j] = hn::MulAdd(x, row[j], sum[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) {
      C* to = c + i * c_row + j * kLanes;
      hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sum[i][j]) : sum[i][j], d, to);
    }
  }
}

// A tile of kRows rows and kBlocks blocks, the first at column `column`.
template <int kRows, int kBlocks, class C>
HWY_NOINLINE void run_tile(const PanelProduct<C>& p, std::int64_t row, std::int64_t q,
                           std::int64_t k, std::int64_t column) {
  constexpr int kVecs = kBlocks * static_cast<int>(kRnnBlockBytes / sizeof(C) / HWY_LANES(C));
  constexpr std::int64_t kWidth = kBlocks * kRnnBlockBytes / static_cast<std::int64_t>(sizeof(C));
  const C* a = p.a + row * p.a_row + q * p.a_col;
  const C* b = p.b + q * p.width + column;
  C* c = p.c + row * p.c_row + column;
  const bool accumulate = p.accumulate || q > 0;
  if (column + kWidth <= p.columns) {
    multiply_panel<kRows, kVecs>(p, a, b, k, c, p.c_row, accumulate);
    return;
  }
  alignas(64) C tile[kRows * kWidth];
  multiply_panel<kRows, kVecs>(p, a, b, k, tile, kWidth, false);
  for (int i = 0; i < kRows; ++i) {
    for (std::int64_t j = 0; j < p.columns - column; ++j) {
      C& to = c[i * p.c_row + j];
      to = accumulate ? to + tile[i * kWidth + j] : tile[i * kWidth + j];
    }
  }
}

template <int kBlocks, class C>
HWY_INLINE void run_rows(const PanelProduct<C>& p, std::int64_t row, std::int64_t rows,
                         std::int64_t q, std::int64_t k, std::int64_t column) {
  switch (rows) {
    case 1:
      return run_tile<1, kBlocks>(p, row, q, k, column);
    case 2:
      return run_tile<2, kBlocks>(p, row, q, k, column);
    case 3:
      return run_tile<3, kBlocks>(p, row, q, k, column);
#if HWY_TARGET <= HWY_AVX2
    case 4:
      return run_tile<4, kBlocks>(p, row, q, k, column);
    case 5:
      return run_tile<5, kBlocks>(p, row, q, k, column);
    default:
      return run_tile<6, kBlocks>(p, row, q, k, column);
#endif
  }
}

template <class C>
HWY_INLINE void run_blocks(const PanelProduct<C>& p, std::int64_t row, std::int64_t rows,
                           std::int64_t q, std::int64_t k) {
  constexpr std::int64_t kBlock = kRnnBlockBytes / static_cast<std::int64_t>(sizeof(C));
  std::int64_t left = (std::min(p.columns, p.width) + kBlock - 1) / kBlock, column = 0;
  if constexpr (kPanelBlocks == 4) {
    switch (left) {
      case 4:
        return run_rows<4>(p, row, rows, q, k, column);
      case 3:
        return run_rows<3>(p, row, rows, q, k, column);
      case 2:
        return run_rows<2>(p, row, rows, q, k, column);
    }
  }
  for (; left > 0; --left, column += kBlock) run_rows<1>(p, row, rows, q, k, column);
}

// Rows are cut into tiles of nearly the same height, B into depths that stay in the first cache.
template <class C>
void multiply(const PanelProduct<C>& p) {
  const std::int64_t depth =
      kPanelDepthBytes / (p.width * static_cast<std::int64_t>(sizeof(C))) / 8 * 8;
  const std::int64_t tiles = (p.rows + kPanelRows - 1) / kPanelRows;
  const std::int64_t depths = (p.k + depth - 1) / depth;
  for (std::int64_t j = 0; j < depths; ++j) {
    const std::int64_t q = p.k * j / depths, k = p.k * (j + 1) / depths - q;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t row = p.rows * i / tiles;
      run_blocks(p, row, p.rows * (i + 1) / tiles - row, q, k);
    }
  }
}

// Rows of the tensors' type, to compute with and back.
template <class T>
HWY_INLINE void read_row(const void* from, std::int64_t at, compute_t<T>* to, std::int64_t n) {
  const T* x = static_cast<const T*>(from) + at;
  if constexpr (std::is_same_v<T, compute_t<T>>) {
    std::memcpy(to, x, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    widen_16bit(x, to, n);
  }
}
template <class T>
HWY_INLINE void write_row(const compute_t<T>* from, void* to, std::int64_t at, std::int64_t n) {
  T* x = static_cast<T*>(to) + at;
  if constexpr (std::is_same_v<T, compute_t<T>>) {
    std::memcpy(x, from, static_cast<std::size_t>(n) * sizeof(T));
  } else {
    narrow_16bit(from, x, n);
  }
}
// A row as it is, or widened into `own`.
template <class T>
HWY_INLINE const compute_t<T>* row_of(const void* from, std::int64_t at, compute_t<T>* own,
                                      std::int64_t n) {
  return read_tile(static_cast<const T*>(from) + at, own, n);
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
