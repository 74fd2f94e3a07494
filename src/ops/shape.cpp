#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_util.h"

namespace plimsoll {
namespace {

void infer_reshape(InferCtx& ctx) {
  const auto wanted = ctx.attrs[attr::Reshape::shape].as_ints();
  const Shape shape(wanted);
  PLIMSOLL_CHECK(
      shape.num_elements() == ctx.in[0].shape.num_elements(), InvalidArgumentError,
      "Input to reshape is a tensor with {} values, but the requested shape has {} [Op:Reshape]",
      ctx.in[0].shape.num_elements(), shape.num_elements());
  ctx.out.add(ctx.in[0].dtype, shape);
}

void infer_broadcast_to(InferCtx& ctx) {
  const Shape shape(ctx.attrs[attr::BroadcastTo::shape].as_ints());
  const Shape both = broadcast_shapes(ctx.in[0].shape, shape, "BroadcastTo");
  PLIMSOLL_CHECK(both == shape, InvalidArgumentError,
                 "Incompatible shapes: {} vs. {} [Op:BroadcastTo]", ctx.in[0].shape.to_string(),
                 shape.to_string());
  ctx.out.add(ctx.in[0].dtype, shape);
}

}  // namespace

const OpDef op_Reshape{
    .infer = infer_reshape,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::Reshape, {g.dout(0)}, {AttrValue(g.in_spec(0).shape)}));
        },
    .is_view = true,
};

const OpDef op_BroadcastTo{
    .infer = infer_broadcast_to,
    .grad = [](GradCtx& g) { g.set_din(0, sum_to(g, g.dout(0), g.in_spec(0).shape)); },
};

}  // namespace plimsoll
