// C = A B for strided matrices, on one thread and without allocation: the block under matmul and
// under convolutions of types that oneDNN does not have.
//
// Blocks of A and B are packed (and 16-bit elements widened to float) into the caller's scratch,
// then multiplied tile by tile in registers; Highway picks the instructions at run time. Small
// products pack on the stack and need no scratch.
#pragma once

#include <cstdint>

#include "plimsoll/float16.h"

namespace plimsoll::cpu {

template <class T>
struct Gemm {
  std::int64_t m, n, k;
  const T* a;
  std::int64_t a_row, a_col;  // strides in elements
  const T* b;
  std::int64_t b_row, b_col;
  T* c;
  std::int64_t c_row;       // columns of C are adjacent
  bool accumulate = false;  // C += A B; not for 16-bit types
};

// Scratch for one thread's product of these sizes, or any smaller; 0: none is needed. has_rows: B
// always has b_col = 1; a few rows of A are then multiplied without packing.
template <class T>
std::uint64_t gemm_scratch_bytes(std::int64_t m, std::int64_t n, std::int64_t k,
                                 bool has_rows = false) noexcept;

// pre: `scratch` is aligned to 64 and as large as gemm_scratch_bytes says; T is float, double, Half
// or BFloat16.
template <class T>
void gemm(const Gemm<T>& g, void* scratch) noexcept;

}  // namespace plimsoll::cpu
