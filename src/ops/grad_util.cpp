#include "ops/grad_util.h"

namespace plimsoll {

Tensor sum_to(GradCtx& g, const Tensor& gradient, const Shape& shape) {
  const Shape& from = gradient.shape();
  if (from == shape) return gradient;
  std::vector<std::int64_t> axes;
  const int lead = from.rank() - shape.rank();
  for (int i = 0; i < from.rank(); ++i) {
    const bool was_broadcast = i < lead || (shape.dim(i - lead) == 1 && from.dim(i) != 1);
    if (was_broadcast) axes.push_back(i);
  }
  const Tensor sum = axes.empty() ? gradient
                                  : g.emit(OpId::ReduceSum, {gradient},
                                           {AttrValue(std::span<const std::int64_t>(axes)), true});
  return sum.shape() == shape ? sum : g.emit(OpId::Reshape, {sum}, {AttrValue(shape)});
}

}  // namespace plimsoll
