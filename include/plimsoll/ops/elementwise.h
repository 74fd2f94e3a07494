// Element by element; shapes broadcast.
#pragma once

#include "plimsoll/ops/create.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

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

}  // namespace plimsoll
