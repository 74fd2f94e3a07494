// Functions over tensors, with TensorFlow's names. docs/ops.md lists them all.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

using Axes = std::vector<std::int64_t>;

// Create.
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

// Elementwise; shapes broadcast.
Tensor add(const Tensor& x, const Tensor& y);
Tensor subtract(const Tensor& x, const Tensor& y);
Tensor multiply(const Tensor& x, const Tensor& y);
Tensor divide(const Tensor& x, const Tensor& y);
Tensor maximum(const Tensor& x, const Tensor& y);
Tensor minimum(const Tensor& x, const Tensor& y);
Tensor pow(const Tensor& x, const Tensor& y);
Tensor negative(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor equal(const Tensor& x, const Tensor& y);
Tensor less(const Tensor& x, const Tensor& y);
Tensor greater(const Tensor& x, const Tensor& y);
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
namespace math {
Tensor log(const Tensor& x);
}  // namespace math
namespace nn {
Tensor relu(const Tensor& features);
}  // namespace nn

inline Tensor operator+(const Tensor& x, const Tensor& y) {
  return add(x, y);
}
inline Tensor operator-(const Tensor& x, const Tensor& y) {
  return subtract(x, y);
}
inline Tensor operator*(const Tensor& x, const Tensor& y) {
  return multiply(x, y);
}
inline Tensor operator/(const Tensor& x, const Tensor& y) {
  return divide(x, y);
}
inline Tensor operator-(const Tensor& x) {
  return negative(x);
}
// A number takes the tensor's type.
inline Tensor operator+(const Tensor& x, double y) {
  return add(x, fill(Shape(), y, x.dtype()));
}
inline Tensor operator-(const Tensor& x, double y) {
  return subtract(x, fill(Shape(), y, x.dtype()));
}
inline Tensor operator*(const Tensor& x, double y) {
  return multiply(x, fill(Shape(), y, x.dtype()));
}
inline Tensor operator/(const Tensor& x, double y) {
  return divide(x, fill(Shape(), y, x.dtype()));
}

// Reduce. No axes: all of them.
Tensor reduce_sum(const Tensor& input, const Axes& axis = {}, bool keepdims = false);

// Shape.
// One dimension of `shape` may be -1: what is left.
Tensor reshape(const Tensor& tensor, std::span<const std::int64_t> shape);
inline Tensor reshape(const Tensor& tensor, std::initializer_list<std::int64_t> shape) {
  return reshape(tensor, std::span(shape.begin(), shape.size()));
}
Tensor broadcast_to(const Tensor& input, const Shape& shape);

// Linear algebra.
struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Tensor matmul(const Tensor& a, const Tensor& b, MatMulOptions options = {});

}  // namespace plimsoll
