// Making tensors.
#pragma once

#include <initializer_list>
#include <span>
#include <type_traits>

#include "plimsoll/tensor.h"

namespace plimsoll {

template <class T>
Tensor constant(std::span<const T> values, const Shape& shape);
template <class T>
Tensor constant(std::initializer_list<T> values, const Shape& shape) {
  return constant(std::span<const T>(values.begin(), values.size()), shape);
}
template <class T>
Tensor constant(std::initializer_list<T> values) {
  return constant(values, {static_cast<std::int64_t>(values.size())});
}
template <class T>
requires std::is_arithmetic_v<T> Tensor constant(T value) {
  return constant(std::span<const T>(&value, 1), Shape());
}
Tensor fill(const Shape& dims, double value, DType dtype = float32);
Tensor zeros(const Shape& shape, DType dtype = float32);
Tensor ones(const Shape& shape, DType dtype = float32);
Tensor zeros_like(const Tensor& input);
Tensor ones_like(const Tensor& input);
Tensor identity(const Tensor& input);
Tensor cast(const Tensor& x, DType dtype);

}  // namespace plimsoll
