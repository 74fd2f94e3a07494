// Numbers that are the same here and at the peers (bench/models/values.py): element i of what is
// called `name` is a hash of both.
#pragma once

#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll::bench {

// float32 in [-limit, limit).
Tensor uniform_values(std::string_view name, const Shape& shape, double limit);
// int32 in [0, num_classes).
Tensor label_values(std::string_view name, std::int64_t num, std::int64_t num_classes);

}  // namespace plimsoll::bench
