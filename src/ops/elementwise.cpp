#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_util.h"

namespace plimsoll {
namespace {

void check_same_dtype(const InferCtx& ctx, std::size_t first, std::size_t i) {
  PLIMSOLL_CHECK(
      ctx.in[i].dtype == ctx.in[first].dtype, InvalidArgumentError,
      "cannot compute {0} as input #{1}(zero-based) was expected to be a {2} tensor but is a {3} "
      "tensor [Op:{0}]",
      ctx.name(), i, dtype_word(ctx.in[first].dtype), dtype_word(ctx.in[i].dtype));
}

void infer_binary(InferCtx& ctx) {
  check_same_dtype(ctx, 0, 1);
  ctx.out.add(ctx.in[0].dtype,
              broadcast_shapes(ctx.in[0].shape, ctx.in[1].shape, ctx.name().data()));
}

void infer_compare(InferCtx& ctx) {
  check_same_dtype(ctx, 0, 1);
  ctx.out.add(DType::kBool, broadcast_shapes(ctx.in[0].shape, ctx.in[1].shape, ctx.name().data()));
}

void infer_select(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].dtype == DType::kBool, InvalidArgumentError,
                 "the condition of Select must be a bool tensor, got {}",
                 dtype_name(ctx.in[0].dtype));
  check_same_dtype(ctx, 1, 2);
  const Shape both = broadcast_shapes(ctx.in[1].shape, ctx.in[2].shape, "SelectV2");
  ctx.out.add(ctx.in[1].dtype, broadcast_shapes(ctx.in[0].shape, both, "SelectV2"));
}

// Short names for what gradients are made of.
Tensor mul(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Mul, {a, b});
}
Tensor sub(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Sub, {a, b});
}
Tensor div(GradCtx& g, const Tensor& a, const Tensor& b) {
  return g.emit(OpId::Div, {a, b});
}
Tensor neg(GradCtx& g, const Tensor& a) {
  return g.emit(OpId::Neg, {a});
}
Tensor one(GradCtx& g) {
  return g.scalar(1, g.in_spec(0).dtype);
}
void give(GradCtx& g, int i, const Tensor& gradient) {
  g.set_din(i, sum_to(g, gradient, g.in_spec(i).shape));
}

// The gradient goes to the larger (smaller) of two; to the first where they are equal.
void grad_choose(GradCtx& g, OpId first_wins) {
  const Tensor dout = g.dout(0);
  const Tensor is_first = g.emit(first_wins, {g.in(0), g.in(1)});
  const Tensor zero = g.scalar(0, g.in_spec(0).dtype);
  if (g.needs(0)) give(g, 0, g.emit(OpId::Select, {is_first, dout, zero}));
  if (g.needs(1)) give(g, 1, g.emit(OpId::Select, {is_first, zero, dout}));
}

}  // namespace

const OpDef op_Add{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) give(g, 0, g.dout(0));
          if (g.needs(1)) give(g, 1, g.dout(0));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Sub{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) give(g, 0, g.dout(0));
          if (g.needs(1)) give(g, 1, neg(g, g.dout(0)));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Mul{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) give(g, 0, mul(g, g.dout(0), g.in(1)));
          if (g.needs(1)) give(g, 1, mul(g, g.dout(0), g.in(0)));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Div{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor scaled = div(g, g.dout(0), g.in(1));
          if (g.needs(0)) give(g, 0, scaled);
          if (g.needs(1)) give(g, 1, neg(g, mul(g, scaled, g.out(0))));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Maximum{
    .infer = infer_binary,
    .grad = [](GradCtx& g) { grad_choose(g, OpId::GreaterEqual); },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Minimum{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {  // first <= second, as not (first > second)
          const Tensor dout = g.dout(0);
          const Tensor is_second = g.emit(OpId::Greater, {g.in(0), g.in(1)});
          const Tensor zero = g.scalar(0, g.in_spec(0).dtype);
          if (g.needs(0)) give(g, 0, g.emit(OpId::Select, {is_second, zero, dout}));
          if (g.needs(1)) give(g, 1, g.emit(OpId::Select, {is_second, dout, zero}));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Pow{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor x = g.in(0);
          const Tensor y = g.in(1);
          if (g.needs(0)) {
            const Tensor power = g.emit(OpId::Pow, {x, sub(g, y, one(g))});
            give(g, 0, mul(g, g.dout(0), mul(g, y, power)));
          }
          if (g.needs(1)) {  // log is taken only where it exists
            const Tensor zero = g.scalar(0, g.in_spec(0).dtype);
            const Tensor is_positive = g.emit(OpId::Greater, {x, zero});
            const Tensor safe = g.emit(OpId::Select, {is_positive, x, one(g)});
            const Tensor log = g.emit(OpId::Log, {safe});
            give(g, 1, mul(g, g.dout(0), mul(g, g.out(0), log)));
          }
        },
    .may_alias = Alias::kAnyIn,
};

const OpDef op_Neg{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, neg(g, g.dout(0))); },
    .may_alias = Alias::kIn0,
};
const OpDef op_Abs{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.emit(OpId::Sign, {g.in(0)}))); },
    .may_alias = Alias::kIn0,
};
const OpDef op_Sign{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::Fill, {}, {g.in_spec(0).dtype, g.in_spec(0).shape, 0.0}));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_Square{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, mul(g, g.dout(0), mul(g, g.scalar(2, g.in_spec(0).dtype), g.in(0))));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_Sqrt{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, div(g, mul(g, g.dout(0), g.scalar(0.5, g.in_spec(0).dtype)), g.out(0)));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_Exp{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, mul(g, g.dout(0), g.out(0))); },
    .may_alias = Alias::kIn0,
};
const OpDef op_Log{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, div(g, g.dout(0), g.in(0))); },
    .may_alias = Alias::kIn0,
};
const OpDef op_Tanh{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, mul(g, g.dout(0), sub(g, one(g), g.emit(OpId::Square, {g.out(0)}))));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_Sigmoid{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, mul(g, mul(g, g.dout(0), g.out(0)), sub(g, one(g), g.out(0))));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_Relu{
    .infer = infer_same_as_in0,
    .grad =
        [](GradCtx& g) {
          const Tensor zero = g.scalar(0, g.in_spec(0).dtype);
          g.set_din(
              0, g.emit(OpId::Select, {g.emit(OpId::Greater, {g.out(0), zero}), g.dout(0), zero}));
        },
    .may_alias = Alias::kIn0,
};

const OpDef op_Equal{.infer = infer_compare};
const OpDef op_Less{.infer = infer_compare};
const OpDef op_Greater{.infer = infer_compare};
const OpDef op_GreaterEqual{.infer = infer_compare};
const OpDef op_LogicalNot{.infer = infer_same_as_in0, .may_alias = Alias::kIn0};

const OpDef op_Select{
    .infer = infer_select,
    .grad =
        [](GradCtx& g) {
          const Tensor condition = g.in(0);
          const Tensor zero = g.scalar(0, g.in_spec(1).dtype);
          if (g.needs(1)) give(g, 1, g.emit(OpId::Select, {condition, g.dout(0), zero}));
          if (g.needs(2)) give(g, 2, g.emit(OpId::Select, {condition, zero, g.dout(0)}));
        },
};

}  // namespace plimsoll
