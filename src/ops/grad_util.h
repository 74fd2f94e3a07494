// Pieces that gradients of several families share.
#pragma once

#include "ops/op_def.h"

namespace plimsoll {

// Sums a gradient over the dimensions along which its input was broadcast.
Tensor sum_to(GradCtx& g, const Tensor& gradient, const Shape& shape);

}  // namespace plimsoll
