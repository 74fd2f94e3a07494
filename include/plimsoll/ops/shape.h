// Other shapes of the same elements.
#pragma once

#include <initializer_list>
#include <span>

#include "plimsoll/tensor.h"

namespace plimsoll {

// One dimension of `shape` may be -1: what is left.
Tensor reshape(const Tensor& tensor, std::span<const std::int64_t> shape);
inline Tensor reshape(const Tensor& tensor, std::initializer_list<std::int64_t> shape) {
  return reshape(tensor, std::span(shape.begin(), shape.size()));
}
Tensor broadcast_to(const Tensor& input, const Shape& shape);

}  // namespace plimsoll
