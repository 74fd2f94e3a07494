// Places in order.
#pragma once

#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll {

// Where each value would go so that the sequence stays sorted: before what is equal (side "left")
// or after it ("right"). Rows of the last dimension; the others are the same. out_type: int32 or
// int64.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values,
                    std::string_view side = "left", DType out_type = int32);

namespace math {
// Whether each target is among the k largest predictions of its row; of equals at the border, all
// are. Where something is not finite, or the target is no class, it is not.
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k);
}  // namespace math
namespace nn {
using math::in_top_k;
}  // namespace nn

}  // namespace plimsoll
