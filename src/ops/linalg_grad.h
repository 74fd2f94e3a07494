// What the shape rules and gradients of matrices share.
#pragma once

#include "ops/grad_emit.h"

namespace plimsoll {

// throws: InvalidArgumentError unless input 0 is float32 or float64; has rank 2 or more; and is a
// batch of square matrices.
void check_float(const InferCtx& ctx);
void check_matrices(const InferCtx& ctx);
void check_square(const InferCtx& ctx);

inline Tensor matmul(GradCtx& g, const Tensor& a, const Tensor& b, bool transpose_a = false,
                     bool transpose_b = false) {
  return g.emit(OpId::MatMul, {a, b}, {transpose_a, transpose_b});
}
inline Tensor band_part(GradCtx& g, const Tensor& a, int num_lower, int num_upper) {
  return g.emit(OpId::MatrixBandPart, {a}, {num_lower, num_upper});
}
// The last two dimensions exchanged.
inline Tensor transposed(GradCtx& g, const Tensor& a) {
  std::int64_t perm[kMaxRank];
  const int rank = a.rank();
  for (int i = 0; i < rank; ++i) perm[i] = i;
  std::swap(perm[rank - 2], perm[rank - 1]);
  return g.emit(OpId::Transpose, {a},
                {AttrValue(std::span<const std::int64_t>(perm, static_cast<std::size_t>(rank)))});
}

}  // namespace plimsoll
