// Images of another size. A resize is linear in the image, so its gradient is another op of the
// same numbers, and the gradient of that is the resize again.
#include "ops/resize_method.h"

#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

// The size, method and shape that both ops have; the specs of a result of type `to`.
void infer_image(InferCtx& ctx, DType to) {
  using A = attr::Resize;
  const Shape& in = ctx.in[0].shape;
  const auto size = ctx.attrs[A::size].as_ints();
  const std::int64_t method = ctx.attrs[A::method].as_int();
  PLIMSOLL_CHECK(in.rank() == 4, InvalidArgumentError,
                 "input must be 4-dimensional, got shape {} [Op:{}]", in.to_string(), ctx.name());
  PLIMSOLL_CHECK(size.size() == 2, InvalidArgumentError,
                 "shape_t must have two elements, got {} [Op:{}]", size.size(), ctx.name());
  PLIMSOLL_CHECK(size[0] > 0 && size[1] > 0, InvalidArgumentError,
                 "output dimensions must be positive, got {} and {} [Op:{}]", size[0], size[1],
                 ctx.name());
  PLIMSOLL_CHECK(in.dim(1) > 0 && in.dim(2) > 0, InvalidArgumentError,
                 "input image must be of non-zero size, got shape {} [Op:{}]", in.to_string(),
                 ctx.name());
  PLIMSOLL_CHECK(in.dim(1) <= INT32_MAX && in.dim(2) <= INT32_MAX && size[0] <= INT32_MAX &&
                     size[1] <= INT32_MAX,
                 InvalidArgumentError, "input sizes must be between 0 and max int32 [Op:{}]",
                 ctx.name());
  PLIMSOLL_CHECK(method >= 0 && method < kNumResizeMethods, InvalidArgumentError,
                 "{} has no method {}", ctx.name(), method);
  ctx.out.add(to, {in.dim(0), size[0], size[1], in.dim(3)});
}

// Pixels that are picked keep their type; means are floats.
void infer_resize(InferCtx& ctx) {
  const DType in = ctx.in[0].dtype;
  const auto method = static_cast<ResizeMethod>(ctx.attrs[attr::Resize::method].as_int());
  const bool keeps = method == ResizeMethod::kNearest || in == DType::kFloat64;
  infer_image(ctx, keeps ? in : DType::kFloat32);
}

Attrs reversed(GradCtx& g) {
  using A = attr::Resize;
  const Shape& in = g.in_spec(0).shape;
  const std::int64_t size[] = {in.dim(1), in.dim(2)};
  return {AttrValue(std::span<const std::int64_t>(size)), g.attrs()[A::method],
          g.attrs()[A::antialias], g.in_spec(0).dtype};
}

}  // namespace

const OpDef op_Resize{
    .infer = infer_resize,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::ResizeGrad, {g.dout(0)}, reversed(g))); },
};
const OpDef op_ResizeGrad{
    .infer = [](InferCtx& ctx) { infer_image(ctx, ctx.attrs[attr::ResizeGrad::dtype].as_dtype()); },
    .grad =
        [](GradCtx& g) {
          using A = attr::ResizeGrad;
          const Attrs made = reversed(g);
          const Tensor back = g.emit(OpId::Resize, {g.dout(0)},
                                     {made[A::size], made[A::method], made[A::antialias]});
          const DType dtype = g.in_spec(0).dtype;
          g.set_din(0, back.dtype() == dtype ? back : g.emit(OpId::Cast, {back}, {dtype}));
        },
};

}  // namespace plimsoll
