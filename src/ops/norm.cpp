#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

DType parameter_dtype(DType dtype) noexcept {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

void check_parameter(const InferCtx& ctx, const TensorSpec& x, std::size_t i, const Shape& shape) {
  const DType dtype = parameter_dtype(x.dtype);
  PLIMSOLL_CHECK(ctx.in[i].dtype == dtype && ctx.in[i].shape == shape, InvalidArgumentError,
                 "{} of a {} tensor of shape {} needs {} of shape {} as input {}, got {} of shape "
                 "{}",
                 ctx.name(), dtype_name(x.dtype), x.shape.to_string(), dtype_name(dtype),
                 shape.to_string(), i, dtype_name(ctx.in[i].dtype), ctx.in[i].shape.to_string());
}
void check_floating(const InferCtx& ctx, const TensorSpec& x) {
  PLIMSOLL_CHECK(is_floating(x.dtype), InvalidArgumentError,
                 "{} needs a floating point tensor, got {}", ctx.name(), dtype_name(x.dtype));
}
void check_gradient(const InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0] == ctx.in[1], InvalidArgumentError,
                 "{} needs a gradient like x, got {} {} and {} {}", ctx.name(),
                 dtype_name(ctx.in[0].dtype), ctx.in[0].shape.to_string(),
                 dtype_name(ctx.in[1].dtype), ctx.in[1].shape.to_string());
}

Shape channels(const InferCtx& ctx, const TensorSpec& x) {
  check_floating(ctx, x);
  PLIMSOLL_CHECK(x.shape.rank() >= 1, InvalidArgumentError,
                 "{} needs a last axis of channels, got a scalar", ctx.name());
  return Shape({x.shape.dim(x.shape.rank() - 1)});
}
void infer_batch_norm(InferCtx& ctx) {
  const TensorSpec& x = ctx.in[0];
  const Shape c = channels(ctx, x);
  const bool is_training = ctx.op == OpId::BatchNorm || ctx.op == OpId::BatchNormAct;
  const std::size_t num_parameters = is_training ? 2 : 4;
  PLIMSOLL_CHECK(ctx.in.size() > num_parameters && ctx.in.size() <= num_parameters + 2,
                 InvalidArgumentError, "{} takes {} tensors and one to add, got {}", ctx.name(),
                 num_parameters + 1, ctx.in.size());
  for (std::size_t i = 1; i <= num_parameters; ++i) check_parameter(ctx, x, i, c);
  if (ctx.in.size() > num_parameters + 1) {
    const TensorSpec& added = ctx.in.back();
    PLIMSOLL_CHECK(added == x, InvalidArgumentError, "{} of {} {} cannot add {} {}", ctx.name(),
                   dtype_name(x.dtype), x.shape.to_string(), dtype_name(added.dtype),
                   added.shape.to_string());
  }
  ctx.out.add(x.dtype, x.shape);
  if (!is_training) return;
  ctx.out.add(parameter_dtype(x.dtype), c);
  ctx.out.add(parameter_dtype(x.dtype), c);
}
void infer_batch_norm_grad(InferCtx& ctx) {
  check_gradient(ctx);
  const TensorSpec& x = ctx.in[1];
  const Shape c = channels(ctx, x);
  for (std::size_t i = 2; i < ctx.in.size(); ++i) check_parameter(ctx, x, i, c);
  ctx.out.add(x.dtype, x.shape);
  ctx.out.add(parameter_dtype(x.dtype), c);
  ctx.out.add(parameter_dtype(x.dtype), c);
}

// The scale has the shape of the axes that are normalised: the last ones of x.
void check_row_scale(const InferCtx& ctx, const TensorSpec& x, std::size_t i) {
  check_floating(ctx, x);
  const int rank = ctx.in[i].shape.rank();
  const int lead = x.shape.rank() - rank;
  PLIMSOLL_CHECK(rank >= 1 && lead >= 0, InvalidArgumentError,
                 "{} of shape {} cannot have a scale of shape {}", ctx.name(), x.shape.to_string(),
                 ctx.in[i].shape.to_string());
  check_parameter(ctx, x, i, Shape(x.shape.dims().last(static_cast<std::size_t>(rank))));
}
void infer_row_norm(InferCtx& ctx) {
  check_row_scale(ctx, ctx.in[0], 1);
  if (ctx.in.size() > 2) check_parameter(ctx, ctx.in[0], 2, ctx.in[1].shape);
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}
void infer_row_norm_grad(InferCtx& ctx) {
  check_gradient(ctx);
  check_row_scale(ctx, ctx.in[1], 2);
  ctx.out.add(ctx.in[1].dtype, ctx.in[1].shape);
  ctx.out.add(ctx.in[2].dtype, ctx.in[2].shape);
  if (ctx.op == OpId::LayerNormGrad) ctx.out.add(ctx.in[2].dtype, ctx.in[2].shape);
}

Tensor cast(GradCtx& g, const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : g.emit(OpId::Cast, {x}, {dtype});
}

// Which axes of x a norm goes over.
std::vector<std::int64_t> norm_axes(const Shape& x, const Shape& scale, bool is_batch) {
  std::vector<std::int64_t> axes;
  const int lead = x.rank() - scale.rank();
  for (int d = is_batch ? 0 : lead; d < (is_batch ? lead : x.rank()); ++d) axes.push_back(d);
  return axes;
}

// What second derivatives of all norms are made of. With M the mean over the axes, r = 1 / sqrt(
// variance + epsilon) and n = (x - M(x)) r, the slope of n is the symmetric map
// P(z) = r (z - M(z) - n M(z n)), and the first gradient is P(dy scale). Without a mean (rms), the
// terms M(x) and M(z) are missing.
struct NormAlgebra {
  GradCtx& g;
  AttrValue axes;
  double count = 1;
  bool has_mean;
  Tensor r, n;

  NormAlgebra(GradCtx& ctx, const Tensor& x, const Shape& scale, bool is_batch, bool mean,
              double epsilon)
      : g(ctx), has_mean(mean) {
    const auto dims = norm_axes(x.shape(), scale, is_batch);
    for (const std::int64_t d : dims)
      count *= static_cast<double>(x.shape().dim(static_cast<int>(d)));
    axes = AttrValue(std::span<const std::int64_t>(dims));
    const Tensor centred = has_mean ? sub(g, x, M(x)) : x;
    r = g.emit(OpId::Rsqrt, {plus(g, epsilon, M(square(g, centred)))});
    n = mul(g, centred, r);
  }
  Tensor M(const Tensor& z) {
    if (axes.as_ints().empty()) return z;
    return mul(g, 1 / count, g.emit(OpId::ReduceSum, {z}, {axes, true}));
  }
  Tensor P(const Tensor& z) {
    const Tensor moved = has_mean ? sub(g, z, M(z)) : z;
    return mul(g, r, sub(g, moved, mul(g, n, M(mul(g, z, n)))));
  }
};

// The gradient of (dy, x, scale) -> P(dy scale), sum(dy n), sum(dy).
void grad_of_norm_grad(GradCtx& g, bool is_batch, bool has_mean, double epsilon) {
  const DType wide = g.in_spec(2).dtype;
  const DType narrow = g.in_spec(0).dtype;
  const Shape& shape = g.in_spec(2).shape;
  const Tensor dy = cast(g, g.in(0), wide), x = cast(g, g.in(1), wide), scale = g.in(2);
  NormAlgebra a(g, x, shape, is_batch, has_mean, epsilon);
  const Tensor v = cast(g, g.dout(0), wide), ds = g.dout(1);
  const Tensor pv = a.P(v);
  if (g.needs(0)) {
    Tensor to_dy = add(g, mul(g, scale, pv), mul(g, ds, a.n));
    if (g.num_out() > 2) to_dy = add(g, to_dy, g.dout(2));
    g.set_din(0, cast(g, to_dy, narrow));
  }
  if (g.needs(1)) {
    const Tensor by_scale = mul(g, dy, scale);
    const Tensor dx = a.P(by_scale);
    const Tensor through =
        add(g, mul(g, a.M(mul(g, by_scale, a.n)), v), mul(g, a.M(mul(g, v, a.n)), by_scale));
    const Tensor to_n = sub(g, mul(g, ds, dy), mul(g, a.r, through));
    const Tensor to_r = mul(g, mul(g, a.r, a.n), a.M(mul(g, v, dx)));
    g.set_din(1, cast(g, sub(g, a.P(to_n), to_r), narrow));
  }
  if (g.needs(2)) give(g, 2, mul(g, dy, pv));
}

void grad_batch_norm(GradCtx& g) {
  const Tensor x = g.in(0);
  const auto made = g.emit_all(OpId::BatchNormGrad,
                               std::vector{g.dout(0), x, g.in(1), g.out(1), g.out(2)}, g.attrs());
  if (g.needs(0)) {
    Tensor dx = made[0];
    // Somebody may use the statistics: through the mean, and through the variance.
    const double count = static_cast<double>(std::max<std::int64_t>(x.num_elements(), 1)) /
                         static_cast<double>(std::max<std::int64_t>(g.in_spec(1).shape.dim(0), 1));
    const DType wide = g.in_spec(1).dtype;
    if (g.has_dout(1)) dx = add(g, dx, cast(g, mul(g, 1 / count, g.dout(1)), x.dtype()));
    if (g.has_dout(2)) {
      const Tensor centred = sub(g, cast(g, x, wide), g.out(1));
      dx = add(g, dx, cast(g, mul(g, mul(g, 2 / count, g.dout(2)), centred), x.dtype()));
    }
    g.set_din(0, dx);
  }
  if (g.needs(1)) g.set_din(1, made[1]);
  if (g.needs(2)) g.set_din(2, made[2]);
}

void grad_batch_norm_inference(GradCtx& g) {
  const DType wide = g.in_spec(1).dtype;
  const double epsilon = g.attrs()[attr::BatchNormInference::epsilon].as_float();
  const Tensor d = cast(g, g.dout(0), wide);
  const Tensor scale = g.in(1);
  const Tensor r = g.emit(OpId::Rsqrt, {plus(g, epsilon, g.in(4))});
  const Tensor by_scale = mul(g, scale, r);
  if (g.needs(0)) g.set_din(0, cast(g, mul(g, d, by_scale), g.in_spec(0).dtype));
  if (g.needs(1) || g.needs(4)) {
    const Tensor centred = sub(g, cast(g, g.in(0), wide), g.in(3));
    const Tensor sum = sum_to(g, mul(g, d, centred), g.in_spec(1).shape);
    if (g.needs(1)) g.set_din(1, mul(g, sum, r));
    if (g.needs(4)) {
      const Tensor cube = mul(g, square(g, r), by_scale);
      g.set_din(4, mul(g, -0.5, mul(g, sum, cube)));
    }
  }
  if (g.needs(2) || g.needs(3)) {
    const Tensor sum = sum_to(g, d, g.in_spec(2).shape);
    if (g.needs(2)) g.set_din(2, sum);
    if (g.needs(3)) g.set_din(3, neg(g, mul(g, sum, by_scale)));
  }
}

void grad_row_norm(GradCtx& g, OpId op) {
  const auto made = g.emit_all(op, std::vector{g.dout(0), g.in(0), g.in(1)}, g.attrs());
  for (int i = 0; i < g.num_in(); ++i) {
    if (g.needs(i)) g.set_din(i, made[static_cast<std::size_t>(i)]);
  }
}

double epsilon_of(GradCtx& g) {
  return g.attrs()[attr::LayerNorm::epsilon].as_float();
}

}  // namespace

const OpDef op_BatchNorm{.infer = infer_batch_norm, .grad = grad_batch_norm};
// The mean and variance are taken for those of x: no gradient of their own.
const OpDef op_BatchNormGrad{
    .infer = infer_batch_norm_grad,
    .grad = [](GradCtx& g) { grad_of_norm_grad(g, true, true, epsilon_of(g)); },
    .may_alias = Alias::kAnyIn,
};
const OpDef op_BatchNormInference{
    .infer = infer_batch_norm, .grad = grad_batch_norm_inference, .may_alias = Alias::kIn0};
const OpDef op_BatchNormAct{.infer = infer_batch_norm, .may_alias = Alias::kAnyIn};
const OpDef op_BatchNormActInference{.infer = infer_batch_norm, .may_alias = Alias::kAnyIn};
const OpDef op_BatchNormActGrad{.infer = infer_batch_norm_grad, .may_alias = Alias::kAnyIn};
const OpDef op_LayerNorm{
    .infer = infer_row_norm,
    .grad = [](GradCtx& g) { grad_row_norm(g, OpId::LayerNormGrad); },
    .may_alias = Alias::kIn0,
};
const OpDef op_LayerNormGrad{
    .infer = infer_row_norm_grad,
    .grad = [](GradCtx& g) { grad_of_norm_grad(g, false, true, epsilon_of(g)); },
};
const OpDef op_RmsNorm{
    .infer = infer_row_norm,
    .grad = [](GradCtx& g) { grad_row_norm(g, OpId::RmsNormGrad); },
    .may_alias = Alias::kIn0,
};
const OpDef op_RmsNormGrad{
    .infer = infer_row_norm_grad,
    .grad = [](GradCtx& g) { grad_of_norm_grad(g, false, false, epsilon_of(g)); },
};

}  // namespace plimsoll
