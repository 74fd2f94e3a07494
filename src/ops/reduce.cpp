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
    PLIMSOLL_CHECK(axis >= -in.rank() && axis < in.rank(), InvalidArgumentError,
                   "Invalid reduction dimension ({} for input with {} dimension(s)) [Op:{}]", axis,
                   in.rank(), what);
    const auto i = static_cast<std::size_t>(axis < 0 ? axis + in.rank() : axis);
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

using Ints = std::span<const std::int64_t>;
using A = attr::ReduceSum;  // the attributes of all reductions

ReduceShape shape_of(const Shape& in, const Attrs& attrs, const char* what) {
  return reduce_shape(in, attrs[A::axes].as_ints(), attrs[A::keepdims].as_bool(), what);
}

void infer_reduce(InferCtx& ctx) {
  ctx.out.add(ctx.in[0].dtype, shape_of(ctx.in[0].shape, ctx.attrs, ctx.name().data()).out);
}

void infer_reduce_bool(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].dtype == DType::kBool, InvalidArgumentError,
                 "cannot compute {0} as input #0(zero-based) was expected to be a bool tensor but "
                 "is a {1} tensor [Op:{0}]",
                 ctx.name(), dtype_word(ctx.in[0].dtype));
  infer_reduce(ctx);
}

// A tensor of the output's shape, with the reduced dimensions as ones.
Tensor with_ones(GradCtx& g, const Tensor& t) {
  const Shape shape = shape_of(g.in_spec(0).shape, g.attrs(), "gradient").with_ones;
  return t.shape() == shape ? t : g.emit(OpId::Reshape, {t}, {AttrValue(shape)});
}

void grad_sum(GradCtx& g) {
  g.set_din(0, g.emit(OpId::BroadcastTo, {with_ones(g, g.dout(0))}, {g.in_spec(0).shape}));
}

void grad_mean(GradCtx& g) {
  const std::int64_t out = std::max<std::int64_t>(1, g.out_spec(0).shape.num_elements());
  const auto count = static_cast<double>(g.in_spec(0).shape.num_elements() / out);
  const Tensor share =
      g.emit(OpId::Div, {with_ones(g, g.dout(0)), g.scalar(count, g.in_spec(0).dtype)});
  g.set_din(0, g.emit(OpId::BroadcastTo, {share}, {g.in_spec(0).shape}));
}

// Those that are equal to the largest (smallest) share its gradient.
void grad_extreme(GradCtx& g) {
  const Tensor is_it = g.emit(OpId::Equal, {g.in(0), with_ones(g, g.out(0))});
  const Tensor ones = g.emit(OpId::Cast, {is_it}, {g.in_spec(0).dtype});
  const Tensor count = g.emit(OpId::ReduceSum, {ones}, {g.attrs()[A::axes], true});
  const Tensor share = g.emit(OpId::Div, {with_ones(g, g.dout(0)), count});
  g.set_din(0, g.emit(OpId::Mul, {ones, share}));
}

// The product of all others is that of those before and those behind: right with zeros too.
void grad_prod(GradCtx& g) {
  const Shape& in = g.in_spec(0).shape;
  const ReduceShape shape = shape_of(in, g.attrs(), "ReduceProd");
  std::vector<std::int64_t> perm, back(static_cast<std::size_t>(in.rank()));
  std::int64_t num_kept = 1, num_reduced = 1;
  for (const bool reduced : {false, true}) {
    for (int i = 0; i < in.rank(); ++i) {
      if (shape.is_reduced[static_cast<std::size_t>(i)] != reduced) continue;
      back[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(perm.size());
      perm.push_back(i);
      (reduced ? num_reduced : num_kept) *= in.dim(i);
    }
  }
  std::vector<std::int64_t> moved_dims;
  for (const std::int64_t axis : perm) moved_dims.push_back(in.dim(static_cast<int>(axis)));
  const Tensor moved = g.emit(OpId::Transpose, {g.in(0)}, {AttrValue(Ints(perm))});
  const Tensor rows = g.emit(OpId::Reshape, {moved}, {Shape{num_kept, num_reduced}});
  const Tensor before = g.emit(OpId::Cumprod, {rows}, {1, true, false});
  const Tensor behind = g.emit(OpId::Cumprod, {rows}, {1, true, true});
  const Tensor dout = g.emit(OpId::Reshape, {g.dout(0)}, {Shape{num_kept, 1}});
  const Tensor others = g.emit(OpId::Mul, {before, behind});
  const Tensor rows_din = g.emit(OpId::Mul, {others, dout});
  const Tensor din = g.emit(OpId::Reshape, {rows_din}, {AttrValue(Ints(moved_dims))});
  g.set_din(0, g.emit(OpId::Transpose, {din}, {AttrValue(Ints(back))}));
}

}  // namespace

const OpDef op_ReduceSum{.infer = infer_reduce, .grad = grad_sum};
const OpDef op_ReduceMean{.infer = infer_reduce, .grad = grad_mean};
const OpDef op_ReduceMax{.infer = infer_reduce, .grad = grad_extreme};
const OpDef op_ReduceMin{.infer = infer_reduce, .grad = grad_extreme};
const OpDef op_ReduceProd{.infer = infer_reduce, .grad = grad_prod};
const OpDef op_ReduceAny{.infer = infer_reduce_bool};
const OpDef op_ReduceAll{.infer = infer_reduce_bool};

}  // namespace plimsoll
