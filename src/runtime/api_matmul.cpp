#include "plimsoll/ops/matmul.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options) {
  return call(OpId::MatMul, {a, b}, {options.transpose_a, options.transpose_b});
}

}  // namespace plimsoll
