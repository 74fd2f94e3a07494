#include "base/check.h"
#include "ops/conv_shape.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

// The gradients of a pool have its attributes and more.
Attrs pool_attrs(const Attrs& a) {
  return {a[0], a[1], a[2], a[3], a[4]};
}

void check_same(const InferCtx& ctx, std::size_t i, const Shape& wanted) {
  PLIMSOLL_CHECK(ctx.in[i].shape == wanted && ctx.in[i].dtype == ctx.in[0].dtype,
                 InvalidArgumentError, "{}: input {} must be a {} tensor of shape {}, got {} of {}",
                 ctx.name(), i, dtype_word(ctx.in[0].dtype), wanted.to_string(),
                 ctx.in[i].shape.to_string(), dtype_word(ctx.in[i].dtype));
}

void infer_pool(InferCtx& ctx) {
  const bool is_avg = ctx.op == OpId::AvgPool2D;
  PLIMSOLL_CHECK(!is_avg || is_floating(ctx.in[0].dtype), InvalidArgumentError,
                 "Value for attr 'T' of {} is not in the list of allowed values: half, bfloat16, "
                 "float, double [Op:AvgPool]",
                 dtype_word(ctx.in[0].dtype));
  const PoolShape s = pool_shape(ctx.in[0].shape, ctx.attrs, is_avg ? "AvgPool" : "MaxPool");
  ctx.out.add(ctx.in[0].dtype, s.out_image().shape(s.format));
}

void infer_max_grad(InferCtx& ctx) {
  const PoolShape s = pool_shape(ctx.in[0].shape, ctx.attrs, "MaxPoolGrad");
  check_same(ctx, 1, s.out_image().shape(s.format));
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

void infer_max_grad_grad(InferCtx& ctx) {
  const PoolShape s = pool_shape(ctx.in[0].shape, ctx.attrs, "MaxPoolGradGrad");
  check_same(ctx, 1, ctx.in[0].shape);
  ctx.out.add(ctx.in[0].dtype, s.out_image().shape(s.format));
}

void infer_avg_grad(InferCtx& ctx) {
  const Shape input(ctx.attrs[attr::AvgPool2DGrad::input_sizes].as_ints());
  const PoolShape s = pool_shape(input, ctx.attrs, "AvgPoolGrad");
  check_same(ctx, 0, s.out_image().shape(s.format));
  ctx.out.add(ctx.in[0].dtype, input);
}

}  // namespace

// Where the maxima are does not change with the input: the three are linear in what they pass on.
const OpDef op_MaxPool2D{
    .infer = infer_pool,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::MaxPool2DGrad, {g.in(0), g.dout(0)}, g.attrs()));
        },
};
const OpDef op_MaxPool2DGrad{
    .infer = infer_max_grad,
    .grad =
        [](GradCtx& g) {
          if (g.needs(1))
            g.set_din(1, g.emit(OpId::MaxPool2DGradGrad, {g.in(0), g.dout(0)}, g.attrs()));
        },
};
const OpDef op_MaxPool2DGradGrad{
    .infer = infer_max_grad_grad,
    .grad =
        [](GradCtx& g) {
          if (g.needs(1))
            g.set_din(1, g.emit(OpId::MaxPool2DGrad, {g.in(0), g.dout(0)}, g.attrs()));
        },
};
const OpDef op_AvgPool2D{
    .infer = infer_pool,
    .grad =
        [](GradCtx& g) {
          const Attrs& a = g.attrs();
          g.set_din(0, g.emit(OpId::AvgPool2DGrad, {g.dout(0)},
                              {a[0], a[1], a[2], a[3], a[4], AttrValue(g.in_spec(0).shape)}));
        },
};
const OpDef op_AvgPool2DGrad{
    .infer = infer_avg_grad,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::AvgPool2D, {g.dout(0)}, pool_attrs(g.attrs())));
        },
};

}  // namespace plimsoll
