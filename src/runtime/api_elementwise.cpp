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
  return call(OpId::Div, {x, y});
}
Tensor maximum(const Tensor& x, const Tensor& y) {
  return call(OpId::Maximum, {x, y});
}
Tensor minimum(const Tensor& x, const Tensor& y) {
  return call(OpId::Minimum, {x, y});
}
Tensor pow(const Tensor& x, const Tensor& y) {
  return call(OpId::Pow, {x, y});
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
Tensor tanh(const Tensor& x) {
  return call(OpId::Tanh, {x});
}
Tensor sigmoid(const Tensor& x) {
  return call(OpId::Sigmoid, {x});
}
Tensor equal(const Tensor& x, const Tensor& y) {
  return call(OpId::Equal, {x, y});
}
Tensor less(const Tensor& x, const Tensor& y) {
  return call(OpId::Less, {x, y});
}
Tensor greater(const Tensor& x, const Tensor& y) {
  return call(OpId::Greater, {x, y});
}
Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) {
  return call(OpId::Select, {condition, x, y});
}
namespace math {
Tensor log(const Tensor& x) {
  return call(OpId::Log, {x});
}
}  // namespace math
namespace nn {
Tensor relu(const Tensor& features) {
  return call(OpId::Relu, {features});
}
}  // namespace nn

}  // namespace plimsoll
