#include "base/check.h"
#include "plimsoll/ops/matmul.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options) {
  return call(OpId::MatMul, {a, b}, {options.transpose_a, options.transpose_b});
}

namespace linalg {

Tensor matvec(const Tensor& a, const Tensor& b, bool transpose_a) {
  PLIMSOLL_CHECK(a.is_valid() && b.is_valid() && a.rank() >= 2 && b.rank() >= 1,
                 InvalidArgumentError,
                 "matvec needs matrices and vectors: tensors of rank 2 and 1 or more");
  std::vector<std::int64_t> column(b.shape().dims().begin(), b.shape().dims().end());
  column.push_back(1);
  const Tensor product = matmul(a, reshape(b, column), {.transpose_a = transpose_a});
  const auto dims = product.shape().dims();
  return reshape(product, dims.first(dims.size() - 1));
}

}  // namespace linalg
}  // namespace plimsoll
