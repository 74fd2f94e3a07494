// Numbers as categories, and as configurations have them.
#pragma once

#include "plimsoll/keras/layers/preprocessing.h"

namespace plimsoll::keras {

// Integers as Keras encodes categories. output_mode: int, one_hot, multi_hot or count. `dtype` is
// that of the result. `weights`: of what is counted, may be empty.
Tensor encode_categories(const Tensor& indices, const std::string& output_mode, std::int64_t depth,
                         DType dtype, const Tensor& weights = {});
// A number, or lists of them in lists.
Tensor to_tensor(const Json& json, DType dtype);

}  // namespace plimsoll::keras
