// Products of matrices.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll {

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options = {});

}  // namespace plimsoll
