#include "base/check.h"
#include "ops/defs.h"
#include "ops/reduce_shape.h"

namespace plimsoll {

ReduceShape reduce_shape(const Shape& in, std::span<const std::int64_t> axes, bool keepdims,
                         const char* what) {
  ReduceShape made;
  if (axes.empty()) {
    for (int i = 0; i < in.rank(); ++i) made.is_reduced[static_cast<std::size_t>(i)] = true;
  }
  for (const std::int64_t axis : axes) {
    const auto i = static_cast<std::size_t>(normalize_axis(axis, in.rank(), what));
    PLIMSOLL_CHECK(!made.is_reduced[i], InvalidArgumentError,
                   "Invalid reduction arguments: Axes contains duplicate dimension: {} [Op:{}]", i,
                   what);
    made.is_reduced[i] = true;
  }
  std::vector<std::int64_t> out, kept;
  for (int i = 0; i < in.rank(); ++i) {
    const bool reduced = made.is_reduced[static_cast<std::size_t>(i)];
    kept.push_back(reduced ? 1 : in.dim(i));
    if (!reduced || keepdims) out.push_back(reduced ? 1 : in.dim(i));
  }
  made.out = Shape(out);
  made.with_ones = Shape(kept);
  return made;
}

namespace {

ReduceShape shape_of(const Shape& in, const Attrs& attrs, const char* what) {
  return reduce_shape(in, attrs[attr::ReduceSum::axes].as_ints(),
                      attrs[attr::ReduceSum::keepdims].as_bool(), what);
}

void infer_reduce(InferCtx& ctx) {
  ctx.out.add(ctx.in[0].dtype, shape_of(ctx.in[0].shape, ctx.attrs, ctx.name().data()).out);
}

}  // namespace

const OpDef op_ReduceSum{
    .infer = infer_reduce,
    .grad =
        [](GradCtx& g) {
          const Shape& in = g.in_spec(0).shape;
          const Shape with_ones = shape_of(in, g.attrs(), "ReduceSum").with_ones;
          const Tensor spread = g.emit(OpId::Reshape, {g.dout(0)}, {AttrValue(with_ones)});
          g.set_din(0, g.emit(OpId::BroadcastTo, {spread}, {AttrValue(in)}));
        },
};

}  // namespace plimsoll
