// Short names for what gradients are made of.
#pragma once

#include "ops/grad_util.h"

namespace plimsoll {

inline Tensor add(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Add, {a, b});
}
inline Tensor sub(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Sub, {a, b});
}
inline Tensor mul(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Mul, {a, b});
}
inline Tensor mul(GradCtx& g, double a, const Tensor& b) {
  return g.emit(OpId::Mul, {g.scalar(a, b.dtype()), b});
}
inline Tensor div(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Div, {a, b});
}
inline Tensor neg(GradCtx& g, const Tensor& a) {
  return g.emit(OpId::Neg, {a});
}
inline Tensor square(GradCtx& g, const Tensor& a) {
  return g.emit(OpId::Square, {a});
}
// c - a and c + a.
inline Tensor from(GradCtx& g, double c, const Tensor& a) {
  return sub(g, g.scalar(c, a.dtype()), a);
}
inline Tensor plus(GradCtx& g, double c, const Tensor& a) {
  return add(g, a, g.scalar(c, a.dtype()));
}
// Gives input i its gradient, summed over what was broadcast.
inline void give(GradCtx& g, int i, const Tensor& gradient) {
  g.set_din(i, sum_to(g, gradient, g.in_spec(i).shape));
}

}  // namespace plimsoll
