#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor add(const Tensor& x, const Tensor& y) {
  return call(OpId::Add, {x, y});
}
Tensor subtract(const Tensor& x, const Tensor& y) {
  return call(OpId::Sub, {x, y});
}
Tensor multiply(const Tensor& x, const Tensor& y) {
  return call(OpId::Mul, {x, y});
}
Tensor divide(const Tensor& x, const Tensor& y) {
  if (x.is_valid() && y.is_valid() && is_integer(x.dtype()) && x.dtype() == y.dtype()) {
    const DType wide = dtype_size(x.dtype()) > 2 ? float64 : float32;
    return call(OpId::Div, {cast(x, wide), cast(y, wide)});
  }
  return call(OpId::Div, {x, y});
}
Tensor floordiv(const Tensor& x, const Tensor& y) {
  return call(OpId::FloorDiv, {x, y});
}
Tensor floormod(const Tensor& x, const Tensor& y) {
  return call(OpId::FloorMod, {x, y});
}
Tensor pow(const Tensor& x, const Tensor& y) {
  return call(OpId::Pow, {x, y});
}
Tensor maximum(const Tensor& x, const Tensor& y) {
  return call(OpId::Maximum, {x, y});
}
Tensor minimum(const Tensor& x, const Tensor& y) {
  return call(OpId::Minimum, {x, y});
}
Tensor squared_difference(const Tensor& x, const Tensor& y) {
  return call(OpId::SquaredDifference, {x, y});
}
Tensor atan2(const Tensor& y, const Tensor& x) {
  return call(OpId::Atan2, {y, x});
}
Tensor clip_by_value(const Tensor& t, const Tensor& clip_value_min, const Tensor& clip_value_max) {
  return call(OpId::ClipByValue, {t, clip_value_min, clip_value_max});
}
Tensor clip_by_value(const Tensor& t, double clip_value_min, double clip_value_max) {
  PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError, "clip_by_value of an empty Tensor");
  return clip_by_value(t, fill(Shape(), clip_value_min, t.dtype()),
                       fill(Shape(), clip_value_max, t.dtype()));
}
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return call(OpId::Select, {condition, x, y});
}

Tensor negative(const Tensor& x) {
  return call(OpId::Neg, {x});
}
Tensor abs(const Tensor& x) {
  return call(OpId::Abs, {x});
}
Tensor sign(const Tensor& x) {
  return call(OpId::Sign, {x});
}
Tensor square(const Tensor& x) {
  return call(OpId::Square, {x});
}
Tensor sqrt(const Tensor& x) {
  return call(OpId::Sqrt, {x});
}
Tensor exp(const Tensor& x) {
  return call(OpId::Exp, {x});
}
Tensor sin(const Tensor& x) {
  return call(OpId::Sin, {x});
}
Tensor cos(const Tensor& x) {
  return call(OpId::Cos, {x});
}
Tensor tan(const Tensor& x) {
  return call(OpId::Tan, {x});
}
Tensor asin(const Tensor& x) {
  return call(OpId::Asin, {x});
}
Tensor acos(const Tensor& x) {
  return call(OpId::Acos, {x});
}
Tensor atan(const Tensor& x) {
  return call(OpId::Atan, {x});
}
Tensor sinh(const Tensor& x) {
  return call(OpId::Sinh, {x});
}
Tensor cosh(const Tensor& x) {
  return call(OpId::Cosh, {x});
}
Tensor asinh(const Tensor& x) {
  return call(OpId::Asinh, {x});
}
Tensor acosh(const Tensor& x) {
  return call(OpId::Acosh, {x});
}
Tensor atanh(const Tensor& x) {
  return call(OpId::Atanh, {x});
}
Tensor tanh(const Tensor& x) {
  return call(OpId::Tanh, {x});
}
Tensor sigmoid(const Tensor& x) {
  return call(OpId::Sigmoid, {x});
}
Tensor floor(const Tensor& x) {
  return call(OpId::Floor, {x});
}
Tensor round(const Tensor& x) {
  return x.is_valid() && is_integer(x.dtype()) ? x : call(OpId::Round, {x});
}

Tensor equal(const Tensor& x, const Tensor& y) {
  return call(OpId::Equal, {x, y});
}
Tensor not_equal(const Tensor& x, const Tensor& y) {
  return call(OpId::NotEqual, {x, y});
}
Tensor less(const Tensor& x, const Tensor& y) {
  return call(OpId::Less, {x, y});
}
Tensor less_equal(const Tensor& x, const Tensor& y) {
  return call(OpId::LessEqual, {x, y});
}
Tensor greater(const Tensor& x, const Tensor& y) {
  return call(OpId::Greater, {x, y});
}
Tensor greater_equal(const Tensor& x, const Tensor& y) {
  return call(OpId::GreaterEqual, {x, y});
}
Tensor logical_and(const Tensor& x, const Tensor& y) {
  return call(OpId::LogicalAnd, {x, y});
}
Tensor logical_or(const Tensor& x, const Tensor& y) {
  return call(OpId::LogicalOr, {x, y});
}
Tensor logical_not(const Tensor& x) {
  return call(OpId::LogicalNot, {x});
}

namespace math {
Tensor divide_no_nan(const Tensor& x, const Tensor& y) {
  return call(OpId::DivNoNan, {x, y});
}
Tensor rsqrt(const Tensor& x) {
  return call(OpId::Rsqrt, {x});
}
Tensor reciprocal(const Tensor& x) {
  return call(OpId::Reciprocal, {x});
}
Tensor expm1(const Tensor& x) {
  return call(OpId::Expm1, {x});
}
Tensor log(const Tensor& x) {
  return call(OpId::Log, {x});
}
Tensor log1p(const Tensor& x) {
  return call(OpId::Log1p, {x});
}
Tensor log_sigmoid(const Tensor& x) {
  return negative(softplus(negative(x)));
}
Tensor erf(const Tensor& x) {
  return call(OpId::Erf, {x});
}
Tensor erfc(const Tensor& x) {
  return call(OpId::Erfc, {x});
}
Tensor ceil(const Tensor& x) {
  return call(OpId::Ceil, {x});
}
Tensor softplus(const Tensor& features) {
  return call(OpId::Softplus, {features});
}
Tensor logical_xor(const Tensor& x, const Tensor& y) {
  for (const Tensor* t : {&x, &y}) {
    PLIMSOLL_CHECK(t->is_valid() && t->dtype() == bool_, InvalidArgumentError,
                   "logical_xor needs bool tensors, got {}",
                   t->is_valid() ? dtype_name(t->dtype()) : "an empty Tensor");
  }
  return call(OpId::NotEqual, {x, y});
}
Tensor is_nan(const Tensor& x) {
  return call(OpId::IsNan, {x});
}
Tensor is_inf(const Tensor& x) {
  return call(OpId::IsInf, {x});
}
Tensor is_finite(const Tensor& x) {
  return call(OpId::IsFinite, {x});
}
}  // namespace math

namespace bitwise {
Tensor bitwise_and(const Tensor& x, const Tensor& y) {
  return call(OpId::BitwiseAnd, {x, y});
}
Tensor bitwise_or(const Tensor& x, const Tensor& y) {
  return call(OpId::BitwiseOr, {x, y});
}
Tensor bitwise_xor(const Tensor& x, const Tensor& y) {
  return call(OpId::BitwiseXor, {x, y});
}
Tensor invert(const Tensor& x) {
  return call(OpId::Invert, {x});
}
Tensor left_shift(const Tensor& x, const Tensor& y) {
  return call(OpId::LeftShift, {x, y});
}
Tensor right_shift(const Tensor& x, const Tensor& y) {
  return call(OpId::RightShift, {x, y});
}
}  // namespace bitwise

namespace nn {
Tensor relu(const Tensor& features) {
  return call(OpId::Relu, {features});
}
Tensor relu6(const Tensor& features) {
  return call(OpId::Relu6, {features});
}
Tensor leaky_relu(const Tensor& features, double alpha) {
  return call(OpId::LeakyRelu, {features}, {alpha});
}
Tensor elu(const Tensor& features) {
  return call(OpId::Elu, {features});
}
Tensor selu(const Tensor& features) {
  return call(OpId::Selu, {features});
}
Tensor celu(const Tensor& features, double alpha) {
  PLIMSOLL_CHECK(alpha != 0, InvalidArgumentError, "celu needs alpha != 0, got {}", alpha);
  return call(OpId::Celu, {features}, {alpha});
}
Tensor gelu(const Tensor& features, bool approximate) {
  return call(approximate ? OpId::GeluTanh : OpId::Gelu, {features});
}
Tensor softsign(const Tensor& features) {
  return call(OpId::Softsign, {features});
}
Tensor silu(const Tensor& features, double beta) {
  if (beta == 1) return call(OpId::Silu, {features});
  return features * sigmoid(features * beta);
}
Tensor hard_sigmoid(const Tensor& features) {
  return call(OpId::HardSigmoid, {features});
}
Tensor hard_silu(const Tensor& features) {
  return call(OpId::HardSilu, {features});
}
Tensor mish(const Tensor& features) {
  return call(OpId::Mish, {features});
}
Tensor crelu(const Tensor& features, std::int64_t axis) {
  return relu(concat({features, negative(features)}, axis));
}
Tensor glu(const Tensor& features, std::int64_t axis) {
  const auto halves = split(features, 2, axis);
  return halves[0] * sigmoid(halves[1]);
}
}  // namespace nn

}  // namespace plimsoll
