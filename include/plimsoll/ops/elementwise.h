// Element by element; shapes broadcast. Where TensorFlow has a name both at the top and in tf.math,
// so it is here.
#pragma once

#include "plimsoll/ops/create.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

Tensor add(const Tensor& x, const Tensor& y);
Tensor subtract(const Tensor& x, const Tensor& y);
Tensor multiply(const Tensor& x, const Tensor& y);
// Integers are divided as float64 (8 and 16 bits: as float32), as Python does.
Tensor divide(const Tensor& x, const Tensor& y);
// Rounded down, and what remains, with the sign of y.
// throws: InvalidArgumentError for integers where y is 0.
Tensor floordiv(const Tensor& x, const Tensor& y);
Tensor floormod(const Tensor& x, const Tensor& y);
// throws: InvalidArgumentError for integers where y is negative.
Tensor pow(const Tensor& x, const Tensor& y);
Tensor maximum(const Tensor& x, const Tensor& y);
Tensor minimum(const Tensor& x, const Tensor& y);
Tensor squared_difference(const Tensor& x, const Tensor& y);
Tensor atan2(const Tensor& y, const Tensor& x);
Tensor clip_by_value(const Tensor& t, const Tensor& clip_value_min, const Tensor& clip_value_max);
Tensor clip_by_value(const Tensor& t, double clip_value_min, double clip_value_max);
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);

Tensor negative(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tan(const Tensor& x);
Tensor asin(const Tensor& x);
Tensor acos(const Tensor& x);
Tensor atan(const Tensor& x);
Tensor sinh(const Tensor& x);
Tensor cosh(const Tensor& x);
Tensor asinh(const Tensor& x);
Tensor acosh(const Tensor& x);
Tensor atanh(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor round(const Tensor& x);  // halves to even

Tensor equal(const Tensor& x, const Tensor& y);
Tensor not_equal(const Tensor& x, const Tensor& y);
Tensor less(const Tensor& x, const Tensor& y);
Tensor less_equal(const Tensor& x, const Tensor& y);
Tensor greater(const Tensor& x, const Tensor& y);
Tensor greater_equal(const Tensor& x, const Tensor& y);
Tensor logical_and(const Tensor& x, const Tensor& y);
Tensor logical_or(const Tensor& x, const Tensor& y);
Tensor logical_not(const Tensor& x);

namespace math {
using plimsoll::abs;
using plimsoll::acos;
using plimsoll::acosh;
using plimsoll::add;
using plimsoll::asin;
using plimsoll::asinh;
using plimsoll::atan;
using plimsoll::atan2;
using plimsoll::atanh;
using plimsoll::cos;
using plimsoll::cosh;
using plimsoll::divide;
using plimsoll::equal;
using plimsoll::exp;
using plimsoll::floor;
using plimsoll::floordiv;
using plimsoll::floormod;
using plimsoll::greater;
using plimsoll::greater_equal;
using plimsoll::less;
using plimsoll::less_equal;
using plimsoll::logical_and;
using plimsoll::logical_not;
using plimsoll::logical_or;
using plimsoll::maximum;
using plimsoll::minimum;
using plimsoll::multiply;
using plimsoll::negative;
using plimsoll::not_equal;
using plimsoll::pow;
using plimsoll::round;
using plimsoll::sigmoid;
using plimsoll::sign;
using plimsoll::sin;
using plimsoll::sinh;
using plimsoll::sqrt;
using plimsoll::square;
using plimsoll::squared_difference;
using plimsoll::subtract;
using plimsoll::tan;
using plimsoll::tanh;
Tensor divide_no_nan(const Tensor& x, const Tensor& y);  // 0 where y is 0
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor log_sigmoid(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor erfc(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor softplus(const Tensor& features);
Tensor logical_xor(const Tensor& x, const Tensor& y);
Tensor is_nan(const Tensor& x);
Tensor is_inf(const Tensor& x);
Tensor is_finite(const Tensor& x);
}  // namespace math

namespace bitwise {
Tensor bitwise_and(const Tensor& x, const Tensor& y);
Tensor bitwise_or(const Tensor& x, const Tensor& y);
Tensor bitwise_xor(const Tensor& x, const Tensor& y);
Tensor invert(const Tensor& x);
// Shifts of less than 0 or more than the type has are clamped.
Tensor left_shift(const Tensor& x, const Tensor& y);
Tensor right_shift(const Tensor& x, const Tensor& y);
}  // namespace bitwise

namespace nn {
using plimsoll::sigmoid;
using plimsoll::tanh;
using plimsoll::math::softplus;
Tensor relu(const Tensor& features);
Tensor relu6(const Tensor& features);
Tensor leaky_relu(const Tensor& features, double alpha = 0.2);
Tensor elu(const Tensor& features);
Tensor selu(const Tensor& features);
Tensor celu(const Tensor& features, double alpha = 1.0);
Tensor gelu(const Tensor& features, bool approximate = false);
Tensor softsign(const Tensor& features);
Tensor silu(const Tensor& features, double beta = 1.0);
inline Tensor swish(const Tensor& features, double beta = 1.0) {
  return silu(features, beta);
}
Tensor hard_sigmoid(const Tensor& features);
Tensor hard_silu(const Tensor& features);
inline Tensor hard_swish(const Tensor& features) {
  return hard_silu(features);
}
Tensor mish(const Tensor& features);
// relu of the features and of their negatives, side by side.
Tensor crelu(const Tensor& features, std::int64_t axis = -1);
// The first half along the axis, times the sigmoid of the second.
Tensor glu(const Tensor& features, std::int64_t axis = -1);
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
inline Tensor operator%(const Tensor& x, const Tensor& y) {
  return floormod(x, y);
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
inline Tensor operator+(double x, const Tensor& y) {
  return add(fill(Shape(), x, y.dtype()), y);
}
inline Tensor operator-(double x, const Tensor& y) {
  return subtract(fill(Shape(), x, y.dtype()), y);
}
inline Tensor operator*(double x, const Tensor& y) {
  return multiply(fill(Shape(), x, y.dtype()), y);
}
inline Tensor operator/(double x, const Tensor& y) {
  return divide(fill(Shape(), x, y.dtype()), y);
}

}  // namespace plimsoll
