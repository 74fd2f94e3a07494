#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

void infer_fill(InferCtx& ctx) {
  ctx.out.add(ctx.attrs[attr::Fill::dtype].as_dtype(),
              Shape(ctx.attrs[attr::Fill::shape].as_ints()));
}

void infer_cast(InferCtx& ctx) {
  const DType to = ctx.attrs[attr::Cast::dtype].as_dtype();
  PLIMSOLL_CHECK(ctx.in[0].dtype != DType::kString && to != DType::kString, UnimplementedError,
                 "Cast {} to {} is not supported", dtype_name(ctx.in[0].dtype), dtype_name(to));
  ctx.out.add(to, ctx.in[0].shape);
}

}  // namespace

const OpDef op_Fill{.infer = infer_fill};

const OpDef op_Identity{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, g.dout(0)); },
    .is_view = true,
};

const OpDef op_Cast{
    .infer = infer_cast,
    .grad =
        [](GradCtx& g) {
          if (is_floating(g.out_spec(0).dtype)) {
            g.set_din(0, g.emit(OpId::Cast, {g.dout(0)}, {g.in_spec(0).dtype}));
          }
        },
};

}  // namespace plimsoll
