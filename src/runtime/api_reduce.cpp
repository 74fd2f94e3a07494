#include "plimsoll/ops/reduce.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor reduce_sum(const Tensor& input, const Axes& axis, bool keepdims) {
  return call(OpId::ReduceSum, {input}, {AttrValue(std::span<const std::int64_t>(axis)), keepdims});
}

}  // namespace plimsoll
