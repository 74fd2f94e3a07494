// Products of matrices.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll {

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
// Of tensors of rank 2 or more: the last two dimensions are matrices, those before them a batch,
// which broadcasts.
Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options = {});

namespace linalg {

using plimsoll::matmul;
// Matrices [..., m, n] times vectors [..., n].
Tensor matvec(const Tensor& a, const Tensor& b, bool transpose_a = false);

}  // namespace linalg
}  // namespace plimsoll
