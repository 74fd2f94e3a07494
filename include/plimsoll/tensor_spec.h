// What is known of a tensor before it has a value.
#pragma once

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct TensorSpec {
  DType dtype = DType::kFloat32;
  Shape shape;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

}  // namespace plimsoll
