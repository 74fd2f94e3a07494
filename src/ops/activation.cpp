// Activations. Each has its gradient as one op, so that it is one pass; the gradients of those are
// compositions.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

constexpr OpDef activation(void (*grad)(GradCtx&)) {
  return {.infer = infer_same_as_in0, .grad = grad, .may_alias = Alias::kIn0};
}
template <OpId kGrad>
void grad_by_out(GradCtx& g) {
  g.set_din(0, g.emit(kGrad, {g.dout(0), g.out(0)}, g.attrs()));
}
template <OpId kGrad>
void grad_by_in(GradCtx& g) {
  g.set_din(0, g.emit(kGrad, {g.dout(0), g.in(0)}, g.attrs()));
}

void infer_activation_grad(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0] == ctx.in[1], InvalidArgumentError,
                 "{} needs a gradient like its operand, got {} {} and {} {}", ctx.name(),
                 dtype_name(ctx.in[0].dtype), ctx.in[0].shape.to_string(),
                 dtype_name(ctx.in[1].dtype), ctx.in[1].shape.to_string());
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

// A gradient op x * f(y): linear in x. kSlope makes f'(y).
template <OpId kSelf, Tensor (*kSlope)(GradCtx&, const Tensor&)>
void grad_of_grad(GradCtx& g) {
  const Tensor y = g.in(1);
  if (g.needs(0)) g.set_din(0, g.emit(kSelf, {g.dout(0), y}, g.attrs()));
  if constexpr (kSlope != nullptr) {
    if (g.needs(1)) g.set_din(1, mul(g, mul(g, g.dout(0), g.in(0)), kSlope(g, y)));
  }
}
template <OpId kSelf, Tensor (*kSlope)(GradCtx&, const Tensor&)>
constexpr OpDef activation_grad() {
  return {.infer = infer_activation_grad,
          .grad = grad_of_grad<kSelf, kSlope>,
          .may_alias = Alias::kAnyIn};
}

Tensor where_negative(GradCtx& g, const Tensor& y, const Tensor& then, double other) {
  const Tensor is_negative = g.emit(OpId::Less, {y, g.scalar(0, y.dtype())});
  return g.emit(OpId::Select, {is_negative, then, g.scalar(other, y.dtype())});
}
Tensor elu_slope(GradCtx& g, const Tensor& y) {  // of y + 1 below zero
  return where_negative(g, y, g.scalar(1, y.dtype()), 0);
}
Tensor celu_slope(GradCtx& g, const Tensor& y) {
  const double alpha = g.attrs()[attr::CeluGrad::alpha].as_float();
  const Tensor e = g.emit(OpId::Exp, {mul(g, 1 / alpha, y)});
  return where_negative(g, y, mul(g, 1 / alpha, e), 0);
}
Tensor sigmoid_slope(GradCtx& g, const Tensor& y) {
  return from(g, 1, mul(g, 2, y));
}
Tensor tanh_slope(GradCtx& g, const Tensor& y) {
  return mul(g, -2, y);
}
Tensor gelu_slope(GradCtx& g, const Tensor& y) {  // (2 - y^2) phi(y)
  const Tensor s = square(g, y);
  const Tensor bell = g.emit(OpId::Exp, {mul(g, -0.5, s)});
  return mul(g, mul(g, 0.39894228040143268, bell), from(g, 2, s));
}
// y s(u), u = c (y + k y^3): 2 s' u' + y (s'' u'^2 + s' u'').
Tensor gelu_tanh_slope(GradCtx& g, const Tensor& y) {
  constexpr double kC = 1.5957691216057308, kK = 0.044715;
  const Tensor y2 = square(g, y);
  const Tensor s = g.emit(OpId::Sigmoid, {mul(g, kC, mul(g, y, plus(g, 1, mul(g, kK, y2))))});
  const Tensor s1 = mul(g, s, from(g, 1, s));
  const Tensor u1 = plus(g, kC, mul(g, 3 * kC * kK, y2));
  const Tensor s2 = mul(g, s1, from(g, 1, mul(g, 2, s)));
  const Tensor bend = add(g, mul(g, s2, square(g, u1)), mul(g, 6 * kC * kK, mul(g, s1, y)));
  return add(g, mul(g, 2, mul(g, s1, u1)), mul(g, y, bend));
}
Tensor silu_slope(GradCtx& g, const Tensor& y) {  // s' (2 + y (1 - 2 s))
  const Tensor s = g.emit(OpId::Sigmoid, {y});
  const Tensor s1 = mul(g, s, from(g, 1, s));
  return mul(g, s1, plus(g, 2, mul(g, y, from(g, 1, mul(g, 2, s)))));
}
Tensor softplus_slope(GradCtx& g, const Tensor& y) {
  const Tensor s = g.emit(OpId::Sigmoid, {y});
  return mul(g, s, from(g, 1, s));
}
Tensor softsign_slope(GradCtx& g, const Tensor& y) {  // -2 sign(y) / (1 + |y|)^3
  const Tensor d = plus(g, 1, g.emit(OpId::Abs, {y}));
  return div(g, mul(g, -2, g.emit(OpId::Sign, {y})), mul(g, d, square(g, d)));
}
Tensor hard_silu_slope(GradCtx& g, const Tensor& y) {
  const Tensor three = g.scalar(3, y.dtype());
  const Tensor is_inside = g.emit(OpId::Less, {g.emit(OpId::Abs, {y}), three});
  return g.emit(OpId::Select, {is_inside, g.scalar(1.0 / 3, y.dtype()), g.scalar(0, y.dtype())});
}
// t = tanh(p), p = softplus(y): 2 t' + y t''; t' = (1 - t^2) s, t'' = (1 - t^2)(s' - 2 t s^2).
Tensor mish_slope(GradCtx& g, const Tensor& y) {
  const Tensor s = g.emit(OpId::Sigmoid, {y});
  const Tensor t = g.emit(OpId::Tanh, {g.emit(OpId::Softplus, {y})});
  const Tensor flat = from(g, 1, square(g, t));
  const Tensor bend = sub(g, mul(g, s, from(g, 1, s)), mul(g, 2, mul(g, t, square(g, s))));
  return mul(g, flat, add(g, mul(g, 2, s), mul(g, y, bend)));
}

}  // namespace

const OpDef op_Relu = activation(grad_by_out<OpId::ReluGrad>);
const OpDef op_Relu6 = activation(grad_by_out<OpId::Relu6Grad>);
const OpDef op_LeakyRelu = activation(grad_by_in<OpId::LeakyReluGrad>);
const OpDef op_Elu = activation(grad_by_out<OpId::EluGrad>);
const OpDef op_Selu = activation(grad_by_out<OpId::SeluGrad>);
const OpDef op_Celu = activation(grad_by_in<OpId::CeluGrad>);
const OpDef op_Sigmoid = activation(grad_by_out<OpId::SigmoidGrad>);
const OpDef op_Tanh = activation(grad_by_out<OpId::TanhGrad>);
const OpDef op_Gelu = activation(grad_by_in<OpId::GeluGrad>);
const OpDef op_GeluTanh = activation(grad_by_in<OpId::GeluTanhGrad>);
const OpDef op_Silu = activation(grad_by_in<OpId::SiluGrad>);
const OpDef op_Softplus = activation(grad_by_in<OpId::SoftplusGrad>);
const OpDef op_Softsign = activation(grad_by_in<OpId::SoftsignGrad>);
const OpDef op_HardSigmoid = activation(grad_by_in<OpId::HardSigmoidGrad>);
const OpDef op_HardSilu = activation(grad_by_in<OpId::HardSiluGrad>);
const OpDef op_Mish = activation(grad_by_in<OpId::MishGrad>);

const OpDef op_ReluGrad = activation_grad<OpId::ReluGrad, nullptr>();
const OpDef op_Relu6Grad = activation_grad<OpId::Relu6Grad, nullptr>();
const OpDef op_LeakyReluGrad = activation_grad<OpId::LeakyReluGrad, nullptr>();
const OpDef op_EluGrad = activation_grad<OpId::EluGrad, elu_slope>();
const OpDef op_SeluGrad = activation_grad<OpId::SeluGrad, elu_slope>();
const OpDef op_CeluGrad = activation_grad<OpId::CeluGrad, celu_slope>();
const OpDef op_SigmoidGrad = activation_grad<OpId::SigmoidGrad, sigmoid_slope>();
const OpDef op_TanhGrad = activation_grad<OpId::TanhGrad, tanh_slope>();
const OpDef op_GeluGrad = activation_grad<OpId::GeluGrad, gelu_slope>();
const OpDef op_GeluTanhGrad = activation_grad<OpId::GeluTanhGrad, gelu_tanh_slope>();
const OpDef op_SiluGrad = activation_grad<OpId::SiluGrad, silu_slope>();
const OpDef op_SoftplusGrad = activation_grad<OpId::SoftplusGrad, softplus_slope>();
const OpDef op_SoftsignGrad = activation_grad<OpId::SoftsignGrad, softsign_slope>();
const OpDef op_HardSigmoidGrad = activation_grad<OpId::HardSigmoidGrad, nullptr>();
const OpDef op_HardSiluGrad = activation_grad<OpId::HardSiluGrad, hard_silu_slope>();
const OpDef op_MishGrad = activation_grad<OpId::MishGrad, mish_slope>();

}  // namespace plimsoll
