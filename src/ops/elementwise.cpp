#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

// The name that TensorFlow's messages give.
const char* said_name(const InferCtx& ctx) noexcept {
  switch (ctx.op) {
    case OpId::Add:
      return "AddV2";
    case OpId::Div:
      return "RealDiv";
    case OpId::Select:
      return "SelectV2";
    default:
      return ctx.name().data();
  }
}

void check_same_dtype(const InferCtx& ctx, std::size_t first, std::size_t i) {
  PLIMSOLL_CHECK(
      ctx.in[i].dtype == ctx.in[first].dtype, InvalidArgumentError,
      "cannot compute {0} as input #{1}(zero-based) was expected to be a {2} tensor but is a {3} "
      "tensor [Op:{0}]",
      said_name(ctx), i, dtype_word(ctx.in[first].dtype), dtype_word(ctx.in[i].dtype));
}

void infer_binary(InferCtx& ctx) {
  check_same_dtype(ctx, 0, 1);
  ctx.out.add(ctx.in[0].dtype, broadcast_shapes(ctx.in[0].shape, ctx.in[1].shape, said_name(ctx)));
}

void infer_compare(InferCtx& ctx) {
  check_same_dtype(ctx, 0, 1);
  ctx.out.add(DType::kBool, broadcast_shapes(ctx.in[0].shape, ctx.in[1].shape, said_name(ctx)));
}

void infer_select(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].dtype == DType::kBool, InvalidArgumentError,
                 "the condition of Select must be a bool tensor, got {}",
                 dtype_name(ctx.in[0].dtype));
  check_same_dtype(ctx, 1, 2);
  try {
    const Shape both = broadcast_shapes(ctx.in[1].shape, ctx.in[2].shape, "SelectV2");
    ctx.out.add(ctx.in[1].dtype, broadcast_shapes(ctx.in[0].shape, both, "SelectV2"));
  } catch (const InvalidArgumentError&) {
    throw InvalidArgumentError(fmt::format(
        "condition {}, then {}, and else {} must be broadcastable [Op:SelectV2]",
        ctx.in[0].shape.to_string(), ctx.in[1].shape.to_string(), ctx.in[2].shape.to_string()));
  }
}

// The limits broadcast to the tensor, not the other way round.
void infer_clip(InferCtx& ctx) {
  check_same_dtype(ctx, 0, 1);
  check_same_dtype(ctx, 0, 2);
  const Shape& shape = ctx.in[0].shape;
  for (const std::size_t i : {1U, 2U}) {
    PLIMSOLL_CHECK(broadcast_shapes(shape, ctx.in[i].shape, "ClipByValue") == shape,
                   InvalidArgumentError,
                   "clip_by_value of a tensor of shape {} cannot take limits of shape {}",
                   shape.to_string(), ctx.in[i].shape.to_string());
  }
  ctx.out.add(ctx.in[0].dtype, shape);
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
    .grad = [](GradCtx& g) { grad_choose(g, OpId::LessEqual); },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Pow{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor x = g.in(0);
          const Tensor y = g.in(1);
          if (g.needs(0)) {
            const Tensor power = g.emit(OpId::Pow, {x, plus(g, -1, y)});
            give(g, 0, mul(g, g.dout(0), mul(g, y, power)));
          }
          if (g.needs(1)) {  // log is taken only where it exists
            const Tensor zero = g.scalar(0, g.in_spec(0).dtype);
            const Tensor is_positive = g.emit(OpId::Greater, {x, zero});
            const Tensor safe = g.emit(OpId::Select, {is_positive, x, g.scalar(1, x.dtype())});
            const Tensor log = g.emit(OpId::Log, {safe});
            give(g, 1, mul(g, g.dout(0), mul(g, g.out(0), log)));
          }
        },
    .may_alias = Alias::kAnyIn,
    .fails = Fails::kIntegers,
};

const OpDef op_DivNoNan{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor y = g.in(1);
          if (g.needs(0)) give(g, 0, g.emit(OpId::DivNoNan, {g.dout(0), y}));
          if (g.needs(1)) {
            const Tensor slope = g.emit(OpId::DivNoNan, {g.out(0), y});
            give(g, 1, neg(g, mul(g, g.dout(0), slope)));
          }
        },
    .may_alias = Alias::kAnyIn,
};
// Any output may be written over any input: all inputs of a stretch are read before.
const OpDef op_Fused{
    .infer =
        [](InferCtx&) {
          throw InternalError("Fused has no shape rule: the pass that makes it knows the shapes");
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_FloorDiv{
    .infer = infer_binary, .may_alias = Alias::kAnyIn, .fails = Fails::kIntegers};
const OpDef op_FloorMod{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) give(g, 0, g.dout(0));
          if (g.needs(1)) {
            const Tensor times = g.emit(OpId::FloorDiv, {g.in(0), g.in(1)});
            give(g, 1, neg(g, mul(g, g.dout(0), times)));
          }
        },
    .may_alias = Alias::kAnyIn,
    .fails = Fails::kIntegers,
};
const OpDef op_SquaredDifference{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor slope = mul(g, mul(g, 2, g.dout(0)), sub(g, g.in(0), g.in(1)));
          if (g.needs(0)) give(g, 0, slope);
          if (g.needs(1)) give(g, 1, neg(g, slope));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_Atan2{
    .infer = infer_binary,
    .grad =
        [](GradCtx& g) {
          const Tensor y = g.in(0);
          const Tensor x = g.in(1);
          const Tensor scaled = div(g, g.dout(0), add(g, square(g, x), square(g, y)));
          if (g.needs(0)) give(g, 0, mul(g, x, scaled));
          if (g.needs(1)) give(g, 1, neg(g, mul(g, y, scaled)));
        },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_BitwiseAnd{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_BitwiseOr{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_BitwiseXor{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_LeftShift{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_RightShift{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_LogicalAnd{.infer = infer_binary, .may_alias = Alias::kAnyIn};
const OpDef op_LogicalOr{.infer = infer_binary, .may_alias = Alias::kAnyIn};

const OpDef op_Equal{.infer = infer_compare};
const OpDef op_NotEqual{.infer = infer_compare};
const OpDef op_Less{.infer = infer_compare};
const OpDef op_LessEqual{.infer = infer_compare};
const OpDef op_Greater{.infer = infer_compare};
const OpDef op_GreaterEqual{.infer = infer_compare};

const OpDef op_Select{
    .infer = infer_select,
    .grad =
        [](GradCtx& g) {
          const Tensor condition = g.in(0);
          const Tensor zero = g.scalar(0, g.in_spec(1).dtype);
          if (g.needs(1)) give(g, 1, g.emit(OpId::Select, {condition, g.dout(0), zero}));
          if (g.needs(2)) give(g, 2, g.emit(OpId::Select, {condition, zero, g.dout(0)}));
        },
    .may_alias = Alias::kAnyIn,
};

// To the tensor inside the limits; to a limit where it is passed.
const OpDef op_ClipByValue{
    .infer = infer_clip,
    .grad =
        [](GradCtx& g) {
          const Tensor x = g.in(0);
          const Tensor d = g.dout(0);
          const Tensor zero = g.scalar(0, x.dtype());
          const Tensor is_below = g.emit(OpId::Less, {x, g.in(1)});
          const Tensor is_above = g.emit(OpId::Greater, {x, g.in(2)});
          if (g.needs(0)) {
            const Tensor below = g.emit(OpId::Select, {is_below, zero, d});
            g.set_din(0, g.emit(OpId::Select, {is_above, zero, below}));
          }
          if (g.needs(1)) give(g, 1, g.emit(OpId::Select, {is_below, d, zero}));
          if (g.needs(2)) give(g, 2, g.emit(OpId::Select, {is_above, d, zero}));
        },
    .may_alias = Alias::kIn0,
};

}  // namespace plimsoll
