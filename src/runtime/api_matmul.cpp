#include "base/check.h"
#include "plimsoll/ops/matmul.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options) {
  // One matrix on the right for a batch on the left is one product, as are its gradients.
  if (a.is_valid() && b.is_valid() && a.rank() > 2 && b.rank() == 2 && !options.transpose_a &&
      a.num_elements() > 0 &&
      a.shape().dim(a.rank() - 1) == b.shape()[options.transpose_b ? 1 : 0]) {
    std::vector<std::int64_t> dims(a.shape().dims().begin(), a.shape().dims().end());
    const Tensor product = matmul(reshape(a, {-1, dims.back()}), b, options);
    dims.back() = product.shape().dim(1);
    return reshape(product, dims);
  }
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
