// Joining tensors and taking them apart.
#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

int concat_axis(const Attrs& attrs, int rank) {
  const std::int64_t axis = attrs[attr::Concat::axis].as_int();
  PLIMSOLL_CHECK(
      axis >= -rank && axis < rank, InvalidArgumentError,
      "ConcatOp : Expected concatenating dimensions in the range [{}, {}), but got {} [Op:Concat]",
      -rank, rank, axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void infer_concat(InferCtx& ctx) {
  const Shape& first = ctx.in[0].shape;
  const int axis = concat_axis(ctx.attrs, first.rank());
  std::vector<std::int64_t> dims(first.dims().begin(), first.dims().end());
  for (std::size_t i = 1; i < ctx.in.size(); ++i) {
    const Shape& shape = ctx.in[i].shape;
    PLIMSOLL_CHECK(ctx.in[i].dtype == ctx.in[0].dtype, InvalidArgumentError,
                   "cannot compute Concat as input #{}(zero-based) was expected to be a {} tensor "
                   "but is a {} tensor [Op:Concat]",
                   i, dtype_word(ctx.in[0].dtype), dtype_word(ctx.in[i].dtype));
    PLIMSOLL_CHECK(shape.rank() == first.rank(), InvalidArgumentError,
                   "ConcatOp : Ranks of all input tensors should match: shape[0] = {} vs. shape[{}]"
                   " = {} [Op:Concat]",
                   first.to_string(), i, shape.to_string());
    for (int d = 0; d < first.rank(); ++d) {
      PLIMSOLL_CHECK(d == axis || shape.dim(d) == first.dim(d), InvalidArgumentError,
                     "ConcatOp : Dimension {} in both shapes must be equal: shape[0] = {} vs. "
                     "shape[{}] = {} [Op:Concat]",
                     d, first.to_string(), i, shape.to_string());
    }
    dims[static_cast<std::size_t>(axis)] += shape.dim(axis);
  }
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
}

void grad_concat(GradCtx& g) {
  const Shape& out = g.out_spec(0).shape;
  const auto axis = static_cast<std::size_t>(concat_axis(g.attrs(), out.rank()));
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(out.rank()), 1);
  std::vector<std::int64_t> begin(ones.size(), 0);
  for (int i = 0; i < g.num_in(); ++i) {
    const Shape& in = g.in_spec(i).shape;
    if (g.needs(i)) {
      g.set_din(i, g.emit(OpId::StridedSlice, {g.dout(0)},
                          {AttrValue(Ints(begin)), in, AttrValue(Ints(ones))}));
    }
    begin[axis] += in.dim(static_cast<int>(axis));
  }
}

int split_axis(const Attrs& attrs, int rank) {
  const std::int64_t axis = attrs[attr::Split::axis].as_int();
  PLIMSOLL_CHECK(axis >= -rank && axis < rank, InvalidArgumentError,
                 "-input rank(-{0}) <= split_dim < input rank ({0}), but got {1} [Op:Split]", rank,
                 axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void infer_split(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  const int axis = split_axis(ctx.attrs, in.rank());
  const std::int64_t dim = in.dim(axis);
  const std::int64_t num = ctx.attrs[attr::Split::num].as_int();
  Ints sizes = ctx.attrs[attr::Split::sizes].as_ints();
  std::vector<std::int64_t> equal;
  if (sizes.empty()) {
    PLIMSOLL_CHECK(num >= 1, InvalidArgumentError,
                   "Value for attr 'num_split' of {} must be at least minimum 1 [Op:Split]", num);
    PLIMSOLL_CHECK(dim % num == 0, InvalidArgumentError,
                   "Number of ways to split should evenly divide the split dimension, but got "
                   "split_dim {} (size = {}) and num_split {} [Op:Split]",
                   axis, dim, num);
    equal.assign(static_cast<std::size_t>(num), dim / num);
    sizes = equal;
  }
  std::int64_t left = dim;
  std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
  for (const std::int64_t size : sizes) {
    PLIMSOLL_CHECK(size >= 0 && size <= left, InvalidArgumentError,
                   "Split sizes {} do not fit dimension {} of shape {} [Op:Split]",
                   ctx.attrs[attr::Split::sizes].to_string(), axis, in.to_string());
    left -= size;
    dims[static_cast<std::size_t>(axis)] = size;
    ctx.out.add(ctx.in[0].dtype, Shape(dims));
  }
  PLIMSOLL_CHECK(left == 0, InvalidArgumentError,
                 "Determined shape must either match input shape along split_dim exactly if fully "
                 "specified, or be less than the size of the input along split_dim if not fully "
                 "specified.  Got: {} [Op:Split]",
                 dim - left);
}

void grad_split(GradCtx& g) {
  std::vector<Tensor> douts;
  for (int i = 0; i < g.num_out(); ++i) douts.push_back(g.dout(i));
  g.set_din(0, g.emit_all(OpId::Concat, douts, Attrs{g.attrs()[attr::Split::axis]})[0]);
}

}  // namespace

const OpDef op_Concat{.infer = infer_concat, .grad = grad_concat};
const OpDef op_Split{.infer = infer_split, .grad = grad_split};

}  // namespace plimsoll
