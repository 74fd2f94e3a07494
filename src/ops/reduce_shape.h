// What a reduction does to a shape.
#pragma once

#include <array>
#include <span>

#include "plimsoll/shape.h"

namespace plimsoll {

struct ReduceShape {
  std::array<bool, kMaxRank> is_reduced{};  // by dimension of the input
  Shape out;
  Shape with_ones;  // as out with keepdims
};

// No axes: all are reduced. throws: InvalidArgumentError for an axis out of range or named twice.
ReduceShape reduce_shape(const Shape& in, std::span<const std::int64_t> axes, bool keepdims,
                         const char* what);

}  // namespace plimsoll
