// Parts of tensors, and tensors as parts: slices and pads, which are each other's gradients.
#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

void check_sizes(const InferCtx& ctx, int first, int last, int rank) {
  for (int i = first; i <= last; ++i) {
    PLIMSOLL_CHECK(static_cast<int>(ctx.attrs[i].as_ints().size()) == rank, InvalidArgumentError,
                   "{} of a tensor of rank {} got {} for a list with a number for each dimension",
                   ctx.name(), rank, ctx.attrs[i].to_string());
  }
}

// Checks that begin, begin + stride, ... stays inside.
void check_inside(const InferCtx& ctx, const Shape& shape, Ints begin, Ints size, Ints strides) {
  for (int i = 0; i < shape.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    PLIMSOLL_CHECK(size[k] >= 0 && strides[k] != 0, InvalidArgumentError,
                   "{}: size {} and stride {} of dimension {}", ctx.name(), size[k], strides[k], i);
    if (size[k] == 0) continue;
    const std::int64_t most = size[k] - 1;
    const bool fits = begin[k] >= 0 && begin[k] < shape.dim(i) && most < shape.dim(i) &&
                      (most == 0 || (strides[k] <= shape.dim(i) && strides[k] >= -shape.dim(i))) &&
                      begin[k] + most * strides[k] >= 0 &&
                      begin[k] + most * strides[k] < shape.dim(i);
    PLIMSOLL_CHECK(fits, InvalidArgumentError,
                   "{}: {} elements from {} by {} are not inside dimension {} of shape {}",
                   ctx.name(), size[k], begin[k], strides[k], i, shape.to_string());
  }
}

void infer_strided_slice(InferCtx& ctx) {
  using A = attr::StridedSlice;
  const Shape& in = ctx.in[0].shape;
  check_sizes(ctx, A::begin, A::strides, in.rank());
  check_inside(ctx, in, ctx.attrs[A::begin].as_ints(), ctx.attrs[A::size].as_ints(),
               ctx.attrs[A::strides].as_ints());
  ctx.out.add(ctx.in[0].dtype, Shape(ctx.attrs[A::size].as_ints()));
}

void infer_strided_slice_grad(InferCtx& ctx) {
  using A = attr::StridedSliceGrad;
  const Shape shape(ctx.attrs[A::shape].as_ints());
  check_sizes(ctx, A::shape, A::strides, ctx.in[0].shape.rank());
  check_inside(ctx, shape, ctx.attrs[A::begin].as_ints(), ctx.in[0].shape.dims(),
               ctx.attrs[A::strides].as_ints());
  ctx.out.add(ctx.in[0].dtype, shape);
}

void grad_strided_slice(GradCtx& g) {
  using A = attr::StridedSlice;
  g.set_din(0, g.emit(OpId::StridedSliceGrad, {g.dout(0)},
                      {g.in_spec(0).shape, g.attrs()[A::begin], g.attrs()[A::strides]}));
}

void grad_strided_slice_grad(GradCtx& g) {
  using A = attr::StridedSliceGrad;
  g.set_din(0, g.emit(OpId::StridedSlice, {g.dout(0)},
                      {g.attrs()[A::begin], g.in_spec(0).shape, g.attrs()[A::strides]}));
}

// The shape with paddings. throws: InvalidArgumentError for negative ones.
Shape padded(const InferCtx& ctx, const Shape& in) {
  check_sizes(ctx, attr::Pad::before, attr::Pad::after, in.rank());
  const Ints before = ctx.attrs[attr::Pad::before].as_ints();
  const Ints after = ctx.attrs[attr::Pad::after].as_ints();
  std::vector<std::int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    PLIMSOLL_CHECK(before[k] >= 0 && after[k] >= 0, InvalidArgumentError,
                   "Paddings must be non-negative: {} {} [Op:{}]", before[k], after[k], ctx.name());
    constexpr std::int64_t kMost = INT64_MAX / 4;
    PLIMSOLL_CHECK(before[k] < kMost && after[k] < kMost && in.dim(i) < kMost, InvalidArgumentError,
                   "Paddings are too large: {} {} [Op:{}]", before[k], after[k], ctx.name());
    dims.push_back(before[k] + in.dim(i) + after[k]);
  }
  return Shape(dims);
}

void infer_pad(InferCtx& ctx) {
  ctx.out.add(ctx.in[0].dtype, padded(ctx, ctx.in[0].shape));
}

void check_mirror(const InferCtx& ctx, const Shape& in) {
  const Ints before = ctx.attrs[attr::MirrorPad::before].as_ints();
  const Ints after = ctx.attrs[attr::MirrorPad::after].as_ints();
  const bool symmetric = ctx.attrs[attr::MirrorPad::symmetric].as_bool();
  for (int i = 0; i < in.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t most = std::max(before[k], after[k]);
    PLIMSOLL_CHECK(!symmetric || most <= in.dim(i), InvalidArgumentError,
                   "paddings must be no greater than the dimension size: {}, {} greater than {} "
                   "[Op:MirrorPad]",
                   before[k], after[k], in.dim(i));
    PLIMSOLL_CHECK(
        symmetric || most < in.dim(i) || most == 0, InvalidArgumentError,
        "paddings must be less than the dimension size: {}, {} not less than {} [Op:MirrorPad]",
        before[k], after[k], in.dim(i));
  }
}

void infer_mirror_pad(InferCtx& ctx) {
  const Shape out = padded(ctx, ctx.in[0].shape);
  check_mirror(ctx, ctx.in[0].shape);
  ctx.out.add(ctx.in[0].dtype, out);
}

void infer_mirror_pad_grad(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  check_sizes(ctx, attr::MirrorPadGrad::before, attr::MirrorPadGrad::after, in.rank());
  const Ints before = ctx.attrs[attr::MirrorPadGrad::before].as_ints();
  const Ints after = ctx.attrs[attr::MirrorPadGrad::after].as_ints();
  std::vector<std::int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    dims.push_back(in.dim(i) - before[k] - after[k]);
  }
  const Shape out(dims);
  padded(ctx, out);
  check_mirror(ctx, out);
  ctx.out.add(ctx.in[0].dtype, out);
}

void grad_pad(GradCtx& g) {
  const Shape& in = g.in_spec(0).shape;
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(in.rank()), 1);
  g.set_din(0, g.emit(OpId::StridedSlice, {g.dout(0)},
                      {g.attrs()[attr::Pad::before], in, AttrValue(Ints(ones))}));
}

}  // namespace

const OpDef op_StridedSlice{.infer = infer_strided_slice, .grad = grad_strided_slice};
const OpDef op_StridedSliceGrad{.infer = infer_strided_slice_grad, .grad = grad_strided_slice_grad};
const OpDef op_Pad{.infer = infer_pad, .grad = grad_pad};
const OpDef op_MirrorPad{
    .infer = infer_mirror_pad,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::MirrorPadGrad, {g.dout(0)}, g.attrs())); },
};
const OpDef op_MirrorPadGrad{
    .infer = infer_mirror_pad_grad,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::MirrorPad, {g.dout(0)}, g.attrs())); },
};

}  // namespace plimsoll
