// Ops of one operand; activations are in activation.cpp.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

void infer_test(InferCtx& ctx) {
  ctx.out.add(DType::kBool, ctx.in[0].shape);
}

constexpr OpDef unary(void (*grad)(GradCtx&)) {
  return {.infer = infer_same_as_in0, .grad = grad, .may_alias = Alias::kIn0};
}

}  // namespace

const OpDef op_Neg = unary([](GradCtx& g) { g.set_din(0, neg(g, g.dout(0))); });
const OpDef op_Abs =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.emit(OpId::Sign, {g.in(0)}))); });
const OpDef op_Sign = unary([](GradCtx& g) {
  g.set_din(0, g.emit(OpId::Fill, {}, {g.in_spec(0).dtype, g.in_spec(0).shape, 0.0}));
});
const OpDef op_Square =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), mul(g, 2, g.in(0)))); });
const OpDef op_Sqrt =
    unary([](GradCtx& g) { g.set_din(0, div(g, mul(g, 0.5, g.dout(0)), g.out(0))); });
const OpDef op_Rsqrt = unary([](GradCtx& g) {
  const Tensor y = g.out(0);
  g.set_din(0, mul(g, mul(g, -0.5, g.dout(0)), mul(g, square(g, y), y)));
});
const OpDef op_Reciprocal =
    unary([](GradCtx& g) { g.set_din(0, neg(g, mul(g, g.dout(0), square(g, g.out(0))))); });
const OpDef op_Exp = unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.out(0))); });
const OpDef op_Expm1 =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), plus(g, 1, g.out(0)))); });
const OpDef op_Log = unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), g.in(0))); });
const OpDef op_Log1p =
    unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), plus(g, 1, g.in(0)))); });
const OpDef op_Sin =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.emit(OpId::Cos, {g.in(0)}))); });
const OpDef op_Cos = unary(
    [](GradCtx& g) { g.set_din(0, neg(g, mul(g, g.dout(0), g.emit(OpId::Sin, {g.in(0)})))); });
const OpDef op_Tan =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), plus(g, 1, square(g, g.out(0))))); });
const OpDef op_Asin = unary([](GradCtx& g) {
  const Tensor slope = g.emit(OpId::Rsqrt, {from(g, 1, square(g, g.in(0)))});
  g.set_din(0, mul(g, g.dout(0), slope));
});
const OpDef op_Acos = unary([](GradCtx& g) {
  const Tensor slope = g.emit(OpId::Rsqrt, {from(g, 1, square(g, g.in(0)))});
  g.set_din(0, neg(g, mul(g, g.dout(0), slope)));
});
const OpDef op_Atan =
    unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), plus(g, 1, square(g, g.in(0))))); });
const OpDef op_Sinh =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.emit(OpId::Cosh, {g.in(0)}))); });
const OpDef op_Cosh =
    unary([](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.emit(OpId::Sinh, {g.in(0)}))); });
const OpDef op_Asinh =
    unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), g.emit(OpId::Cosh, {g.out(0)}))); });
const OpDef op_Acosh =
    unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), g.emit(OpId::Sinh, {g.out(0)}))); });
const OpDef op_Atanh =
    unary([](GradCtx& g) { g.set_din(0, div(g, g.dout(0), from(g, 1, square(g, g.in(0))))); });
const OpDef op_Erf = unary([](GradCtx& g) {
  const Tensor bell = g.emit(OpId::Exp, {neg(g, square(g, g.in(0)))});
  g.set_din(0, mul(g, g.dout(0), mul(g, 1.1283791670955126, bell)));
});
const OpDef op_Erfc = unary([](GradCtx& g) {
  const Tensor bell = g.emit(OpId::Exp, {neg(g, square(g, g.in(0)))});
  g.set_din(0, mul(g, g.dout(0), mul(g, -1.1283791670955126, bell)));
});
const OpDef op_Floor = unary(nullptr);
const OpDef op_Ceil = unary(nullptr);
const OpDef op_Round = unary(nullptr);
const OpDef op_Invert = unary(nullptr);
const OpDef op_LogicalNot = unary(nullptr);

const OpDef op_IsNan{.infer = infer_test};
const OpDef op_IsInf{.infer = infer_test};
const OpDef op_IsFinite{.infer = infer_test};

}  // namespace plimsoll
