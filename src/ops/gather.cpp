#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"
#include "ops/index_dtype.h"

namespace plimsoll {
namespace {

// The shape of gather; of its gradient's input.
Shape gather_shape(const InferCtx& ctx, const Shape& params, const Shape& indices,
                   std::int64_t axis, std::int64_t batch_dims) {
  PLIMSOLL_CHECK(axis >= 0 && axis < params.rank(), InvalidArgumentError,
                 "Expected axis in the range [{}, {}), but got {} [Op:{}]", -params.rank(),
                 params.rank(), axis, ctx.name());
  PLIMSOLL_CHECK(
      batch_dims >= 0 && batch_dims <= indices.rank() && batch_dims <= axis, InvalidArgumentError,
      "batch_dims ({}) must be less than or equal to axis ({}) and the rank of indices ({}) "
      "[Op:{}]",
      batch_dims, axis, indices.rank(), ctx.name());
  std::vector<std::int64_t> dims;
  for (int i = 0; i < axis; ++i) {
    PLIMSOLL_CHECK(i >= batch_dims || params.dim(i) == indices.dim(i), InvalidArgumentError,
                   "params.shape[{0}]: {1} should be equal to indices.shape[{0}]: {2} [Op:{3}]", i,
                   params.dim(i), indices.dim(std::min(i, std::max(0, indices.rank() - 1))),
                   ctx.name());
    dims.push_back(params.dim(i));
  }
  for (int i = static_cast<int>(batch_dims); i < indices.rank(); ++i)
    dims.push_back(indices.dim(i));
  for (int i = static_cast<int>(axis) + 1; i < params.rank(); ++i) dims.push_back(params.dim(i));
  return Shape(dims);
}

void infer_gather(InferCtx& ctx) {
  check_index_dtype(ctx, 1);
  ctx.out.add(ctx.in[0].dtype, gather_shape(ctx, ctx.in[0].shape, ctx.in[1].shape,
                                            ctx.attrs[attr::Gather::axis].as_int(),
                                            ctx.attrs[attr::Gather::batch_dims].as_int()));
}

void infer_gather_grad(InferCtx& ctx) {
  using A = attr::GatherGrad;
  check_index_dtype(ctx, 1);
  const Shape params(ctx.attrs[A::shape].as_ints());
  const Shape rows = gather_shape(ctx, params, ctx.in[1].shape, ctx.attrs[A::axis].as_int(),
                                  ctx.attrs[A::batch_dims].as_int());
  PLIMSOLL_CHECK(rows == ctx.in[0].shape, InvalidArgumentError,
                 "GatherGrad needs rows of shape {}, got {}", rows.to_string(),
                 ctx.in[0].shape.to_string());
  ctx.out.add(ctx.in[0].dtype, params);
}

void infer_gather_nd(InferCtx& ctx) {
  const Shape& params = ctx.in[0].shape;
  const Shape& indices = ctx.in[1].shape;
  check_index_dtype(ctx, 1);
  PLIMSOLL_CHECK(indices.rank() >= 1, InvalidArgumentError,
                 "indices must be at least a vector [Op:GatherNd]");
  const std::int64_t depth = indices.dim(indices.rank() - 1);
  PLIMSOLL_CHECK(
      depth <= params.rank(), InvalidArgumentError,
      "index innermost dimension length must be <= params rank; saw: {} vs. {} [Op:GatherNd]",
      depth, params.rank());
  std::vector<std::int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) dims.push_back(params.dim(i));
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
}

// Indices and updates that go into a tensor of `shape`.
void check_scatter(const InferCtx& ctx, const Shape& shape, const Shape& indices,
                   const Shape& updates) {
  PLIMSOLL_CHECK(indices.rank() >= 1 && updates.rank() >= 0, InvalidArgumentError,
                 "Indices shape must have rank at least one. Found: {} [Op:{}]",
                 indices.to_string(), ctx.name());
  const int lead = indices.rank() - 1;
  const std::int64_t depth = indices.dim(lead);
  PLIMSOLL_CHECK(depth <= shape.rank(), InvalidArgumentError,
                 "indices of shape {} index {} dimensions of shape {} [Op:{}]", indices.to_string(),
                 depth, shape.to_string(), ctx.name());
  bool leads_match = updates.rank() >= lead;
  for (int i = 0; leads_match && i < lead; ++i) leads_match = updates.dim(i) == indices.dim(i);
  PLIMSOLL_CHECK(leads_match, InvalidArgumentError,
                 "Dimensions [0,{}) of indices[shape={}] must match dimensions [0,{}) of "
                 "updates[shape={}] [Op:{}]",
                 lead, indices.to_string(), lead, updates.to_string(), ctx.name());
  const int inner = shape.rank() - static_cast<int>(depth);
  bool tails_match = updates.rank() == lead + inner;
  for (int i = 0; tails_match && i < inner; ++i)
    tails_match = updates.dim(lead + i) == shape.dim(static_cast<int>(depth) + i);
  PLIMSOLL_CHECK(tails_match, InvalidArgumentError,
                 "Dimensions [{},{}) of input[shape={}] must match dimensions [{},{}) of "
                 "updates[shape={}] [Op:{}]",
                 depth, shape.rank(), shape.to_string(), lead, updates.rank(), updates.to_string(),
                 ctx.name());
}

void infer_scatter_nd(InferCtx& ctx) {
  const Shape shape(ctx.attrs[attr::ScatterNd::shape].as_ints());
  check_index_dtype(ctx, 0);
  check_scatter(ctx, shape, ctx.in[0].shape, ctx.in[1].shape);
  ctx.out.add(ctx.in[1].dtype, shape);
}

void infer_tensor_scatter(InferCtx& ctx) {
  check_index_dtype(ctx, 1);
  PLIMSOLL_CHECK(ctx.in[2].dtype == ctx.in[0].dtype, InvalidArgumentError,
                 "cannot compute {0} as input #2(zero-based) was expected to be a {1} tensor but "
                 "is a {2} tensor [Op:{0}]",
                 ctx.name(), dtype_word(ctx.in[0].dtype), dtype_word(ctx.in[2].dtype));
  check_scatter(ctx, ctx.in[0].shape, ctx.in[1].shape, ctx.in[2].shape);
  infer_same_as_in0(ctx);
}

// Where several are equally large, each has the same part of the gradient.
void grad_scatter_extreme(GradCtx& g) {
  const DType dtype = g.in_spec(0).dtype;
  const Tensor indices = g.in(1);
  const Tensor result = g.out(0);
  const auto indicator = [&](const Tensor& a, const Tensor& b) {
    return g.emit(OpId::Cast, {g.emit(OpId::Equal, {a, b})}, {dtype});
  };
  const Tensor of_tensor = indicator(g.in(0), result);
  const Tensor of_updates = indicator(g.in(2), g.emit(OpId::GatherNd, {result, indices}));
  const Tensor count = g.emit(OpId::TensorScatterAdd, {of_tensor, indices, of_updates});
  const Tensor part = div(g, g.dout(0), count);
  if (g.needs(0)) g.set_din(0, mul(g, part, of_tensor));
  if (g.needs(2)) g.set_din(2, mul(g, of_updates, g.emit(OpId::GatherNd, {part, indices})));
}

}  // namespace

const OpDef op_Gather{
    .infer = infer_gather,
    .grad =
        [](GradCtx& g) {
          if (!g.needs(0)) return;
          g.set_din(0, g.emit(OpId::GatherGrad, {g.dout(0), g.in(1)},
                              {g.in_spec(0).shape, g.attrs()[attr::Gather::axis],
                               g.attrs()[attr::Gather::batch_dims]}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_GatherGrad{
    .infer = infer_gather_grad,
    .grad =
        [](GradCtx& g) {
          if (!g.needs(0)) return;
          g.set_din(0, g.emit(OpId::Gather, {g.dout(0), g.in(1)},
                              {g.attrs()[attr::GatherGrad::axis],
                               g.attrs()[attr::GatherGrad::batch_dims]}));
        },
};
const OpDef op_GatherNd{
    .infer = infer_gather_nd,
    .grad =
        [](GradCtx& g) {
          if (!g.needs(0)) return;
          g.set_din(0, g.emit(OpId::ScatterNd, {g.in(1), g.dout(0)}, {g.in_spec(0).shape}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_ScatterNd{
    .infer = infer_scatter_nd,
    .grad =
        [](GradCtx& g) {
          if (g.needs(1)) g.set_din(1, g.emit(OpId::GatherNd, {g.dout(0), g.in(0)}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_TensorScatterAdd{
    .infer = infer_tensor_scatter,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) g.set_din(0, g.dout(0));
          if (g.needs(2)) g.set_din(2, g.emit(OpId::GatherNd, {g.dout(0), g.in(1)}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_TensorScatterUpdate{
    .infer = infer_tensor_scatter,
    .grad =
        [](GradCtx& g) {
          if (g.needs(0)) {
            const Tensor zeros =
                g.emit(OpId::Fill, {}, {g.in_spec(2).dtype, g.in_spec(2).shape, 0.0});
            g.set_din(0, g.emit(OpId::TensorScatterUpdate, {g.dout(0), g.in(1), zeros}));
          }
          if (g.needs(2)) g.set_din(2, g.emit(OpId::GatherNd, {g.dout(0), g.in(1)}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_TensorScatterMax{
    .infer = infer_tensor_scatter, .grad = grad_scatter_extreme, .fails = Fails::kAlways};
const OpDef op_TensorScatterMin{
    .infer = infer_tensor_scatter, .grad = grad_scatter_extreme, .fails = Fails::kAlways};

}  // namespace plimsoll
