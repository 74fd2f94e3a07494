// Reductions.
#pragma once

#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

using Axes = std::vector<std::int64_t>;  // empty: all of them

Tensor reduce_sum(const Tensor& input, const Axes& axis = {}, bool keepdims = false);

}  // namespace plimsoll
