#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor reshape(const Tensor& tensor, std::span<const std::int64_t> shape) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "reshape of an empty Tensor");
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  std::int64_t known = 1;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& dim : dims) {
    PLIMSOLL_CHECK(dim >= -1, InvalidArgumentError,
                   "Size {} must be non-negative, not {} [Op:Reshape]", &dim - dims.data(), dim);
    PLIMSOLL_CHECK(dim != -1 || !unknown, InvalidArgumentError,
                   "Only one input size may be -1, not both {} and {} [Op:Reshape]",
                   unknown - dims.data(), &dim - dims.data());
    if (dim == -1) {
      unknown = &dim;
    } else {
      known *= dim;
    }
  }
  if (unknown) {
    PLIMSOLL_CHECK(known > 0 && tensor.num_elements() % known == 0, InvalidArgumentError,
                   "Input to reshape is a tensor with {} values, but the requested shape requires "
                   "a multiple of {} "
                   "[Op:Reshape]",
                   tensor.num_elements(), known);
    *unknown = tensor.num_elements() / known;
  }
  return call(OpId::Reshape, {tensor}, {AttrValue(std::span<const std::int64_t>(dims))});
}

Tensor broadcast_to(const Tensor& input, const Shape& shape) {
  return call(OpId::BroadcastTo, {input}, {AttrValue(shape)});
}

}  // namespace plimsoll
