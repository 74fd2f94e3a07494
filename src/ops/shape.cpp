#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_util.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

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

void infer_transpose(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  const Ints perm = ctx.attrs[attr::Transpose::perm].as_ints();
  PLIMSOLL_CHECK(static_cast<int>(perm.size()) == in.rank(), InvalidArgumentError,
                 "transpose expects a vector of size {}. But input(1) is a vector of size {} "
                 "[Op:Transpose]",
                 in.rank(), perm.size());
  std::array<bool, kMaxRank> is_there{};
  std::vector<std::int64_t> dims;
  for (const std::int64_t axis : perm) {
    PLIMSOLL_CHECK(axis >= 0 && axis < in.rank(), InvalidArgumentError,
                   "{} is out of range [0 .. {}) [Op:Transpose]", axis, in.rank());
    is_there[static_cast<std::size_t>(axis)] = true;
    dims.push_back(in.dim(static_cast<int>(axis)));
  }
  for (int i = 0; i < in.rank(); ++i) {
    PLIMSOLL_CHECK(is_there[static_cast<std::size_t>(i)], InvalidArgumentError,
                   "{} is missing from {} [Op:Transpose]", i,
                   ctx.attrs[attr::Transpose::perm].to_string());
  }
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
}

void grad_transpose(GradCtx& g) {
  const Ints perm = g.attrs()[attr::Transpose::perm].as_ints();
  std::vector<std::int64_t> back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  g.set_din(0, g.emit(OpId::Transpose, {g.dout(0)}, {AttrValue(Ints(back))}));
}

void infer_tile(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  const Ints multiples = ctx.attrs[attr::Tile::multiples].as_ints();
  PLIMSOLL_CHECK(
      static_cast<int>(multiples.size()) == in.rank(), InvalidArgumentError,
      "Expected multiples argument to be a vector of length {} but got length {} [Op:Tile]",
      in.rank(), multiples.size());
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < multiples.size(); ++i) {
    const std::int64_t dim = in.dim(static_cast<int>(i));
    PLIMSOLL_CHECK(multiples[i] >= 0, InvalidArgumentError,
                   "Expected multiples[{}] >= 0, but got {} [Op:Tile]", i, multiples[i]);
    PLIMSOLL_CHECK(dim == 0 || multiples[i] <= INT64_MAX / dim, InvalidArgumentError,
                   "multiples[{}] = {} is too large for shape {} [Op:Tile]", i, multiples[i],
                   in.to_string());
    dims.push_back(dim * multiples[i]);
  }
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
}

// Sums the copies. Only tiled dimensions are split in two, so that shapes stay below the most
// dimensions there are; what does not fit even so is done one dimension at a time.
void grad_tile(GradCtx& g) {
  const Ints multiples = g.attrs()[attr::Tile::multiples].as_ints();
  const Shape& in = g.in_spec(0).shape;
  Tensor sum = g.dout(0);
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t multiple = multiples[static_cast<std::size_t>(i)];
    if (multiple == 1) continue;
    std::int64_t before = 1, after = 1;
    for (int k = 0; k < i; ++k) before *= sum.shape().dim(k);
    for (int k = i + 1; k < in.rank(); ++k) after *= sum.shape().dim(k);
    std::vector<std::int64_t> dims(sum.shape().dims().begin(), sum.shape().dims().end());
    dims[static_cast<std::size_t>(i)] = in.dim(i);
    const Tensor split = g.emit(OpId::Reshape, {sum}, {Shape{before, multiple, in.dim(i), after}});
    const std::int64_t axis[] = {1};
    sum = g.emit(OpId::ReduceSum, {split}, {AttrValue(Ints(axis)), false});
    sum = g.emit(OpId::Reshape, {sum}, {AttrValue(Ints(dims))});
  }
  g.set_din(0, sum);
}

void infer_reverse(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  std::array<bool, kMaxRank> is_there{};
  const Ints axes = ctx.attrs[attr::Reverse::axes].as_ints();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axes[i] < 0 ? axes[i] + in.rank() : axes[i];
    PLIMSOLL_CHECK(axis >= 0 && axis < in.rank(), InvalidArgumentError,
                   "'axis'[{}] = {} is out of valid range [{}, {}] [Op:Reverse]", i, axes[i],
                   -in.rank(), in.rank() - 1);
    PLIMSOLL_CHECK(!is_there[static_cast<std::size_t>(axis)], InvalidArgumentError,
                   "axis {} specified more than once. [Op:Reverse]", axis);
    is_there[static_cast<std::size_t>(axis)] = true;
  }
  ctx.out.add(ctx.in[0].dtype, in);
}

void infer_roll(InferCtx& ctx) {
  PLIMSOLL_CHECK(
      static_cast<int>(ctx.attrs[attr::Roll::shifts].as_ints().size()) == ctx.in[0].shape.rank(),
      InvalidArgumentError, "Roll needs a shift for each of {} dimensions, got {}",
      ctx.in[0].shape.rank(), ctx.attrs[attr::Roll::shifts].to_string());
  infer_same_as_in0(ctx);
}

void grad_roll(GradCtx& g) {
  const Ints shifts = g.attrs()[attr::Roll::shifts].as_ints();
  const Shape& in = g.in_spec(0).shape;
  std::vector<std::int64_t> back;
  for (int i = 0; i < in.rank(); ++i)  // reduced first: -shift must not overflow
    back.push_back(in.dim(i) ? -(shifts[static_cast<std::size_t>(i)] % in.dim(i)) : 0);
  g.set_din(0, g.emit(OpId::Roll, {g.dout(0)}, {AttrValue(Ints(back))}));
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

const OpDef op_Transpose{.infer = infer_transpose, .grad = grad_transpose};
const OpDef op_Tile{.infer = infer_tile, .grad = grad_tile};
const OpDef op_Reverse{
    .infer = infer_reverse,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::Reverse, {g.dout(0)}, g.attrs())); },
};
const OpDef op_Roll{.infer = infer_roll, .grad = grad_roll};

}  // namespace plimsoll
