#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "plimsoll/keras/layers/normalization.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

Tensor as(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : cast(x, dtype);
}

// All but one.
Axes axes_but(int axis, int rank) {
  Axes axes;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) axes.push_back(i);
  }
  return axes;
}

// Of what the mask [batch, ...], one dimension less than x, lets through.
nn::Moments masked_moments(const Tensor& x, const Tensor& mask, int axis) {
  PLIMSOLL_CHECK(mask.rank() == x.rank() - 1, InvalidArgumentError,
                 "The mask provided should be one dimension less than the inputs. Received: "
                 "mask.shape={}, inputs.shape={}",
                 PartialShape(mask.shape()).to_string(), PartialShape(x.shape()).to_string());
  const Axes axes = axes_but(axis, x.rank());
  const Tensor counts = cast(broadcast_to(expand_dims(mask, -1), x.shape()), bool_);
  const Tensor zero = zeros_like(x);
  const Tensor num = reduce_sum(cast(counts, x.dtype()), axes, true) + kEpsilon;
  const Tensor mean = reduce_sum(where(counts, x, zero), axes, true) / num;
  const Tensor off = where(counts, x - mean, zero);
  const Tensor variance = reduce_sum(square(off), axes, true) / num;
  return {reshape(mean, {-1}), reshape(variance, {-1})};
}

std::optional<double> limit(const Json& clipping, const char* name) {
  const Json* found = clipping.find(name);
  return found && !found->is_null() ? std::optional(found->as_double()) : std::nullopt;
}

void check_clipping(Json& clipping) {
  if (clipping.is_null()) clipping = Json::object();
  for (const auto& [key, value] : clipping.as_object())
    PLIMSOLL_CHECK(key == "rmax" || key == "rmin" || key == "dmax", InvalidArgumentError,
                   "Received invalid keys for `renorm_clipping` argument: {}. Supported values: "
                   "['rmax', 'rmin', 'dmax'].",
                   clipping.dump());
  const auto rmax = limit(clipping, "rmax"), rmin = limit(clipping, "rmin");
  PLIMSOLL_CHECK(!rmax || !rmin || *rmax >= *rmin, InvalidArgumentError,
                 "rmax should be greater than rmin in the `renorm_clipping` argument. Received: "
                 "rmax={}, rmin={}.",
                 *rmax, *rmin);
  const auto dmax = limit(clipping, "dmax");
  PLIMSOLL_CHECK(
      !dmax || *dmax >= 0, InvalidArgumentError,
      "dmax should be non-negative in the `renorm_clipping` argument. Received: dmax={}.", *dmax);
}

}  // namespace

void BatchNormalizationConfig::visit(ConfigVisitor& v) {
  v("axis", axis);
  v("momentum", momentum);
  v("epsilon", epsilon);
  v("center", center);
  v("scale", scale);
  v("beta_initializer", beta_initializer);
  v("gamma_initializer", gamma_initializer);
  v("moving_mean_initializer", moving_mean_initializer);
  v("moving_variance_initializer", moving_variance_initializer);
  v("beta_regularizer", beta_regularizer);
  v("gamma_regularizer", gamma_regularizer);
  v("beta_constraint", beta_constraint);
  v("gamma_constraint", gamma_constraint);
  v.constant("synchronized", false);
  v("renorm", renorm);
  v("renorm_clipping", renorm_clipping);
  v("renorm_momentum", renorm_momentum);
}

BatchNormalizationLayer::BatchNormalizationLayer(BatchNormalizationConfig config,
                                                 LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  if (config_.renorm) check_clipping(config_.renorm_clipping);
  supports_masking_ = true;
}

void BatchNormalizationLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  PLIMSOLL_CHECK(config_.axis < input.rank() && config_.axis >= -input.rank(), InvalidArgumentError,
                 "Axis {} is out of bounds for input shape {}. Received: axis={}", config_.axis,
                 input.to_string(), config_.axis);
  const std::int64_t dim = input[static_cast<int>(config_.axis)];
  PLIMSOLL_CHECK(dim != kNone, InvalidArgumentError,
                 "Axis {} of input tensor should have a defined dimension but the layer received "
                 "an input with shape {}.",
                 config_.axis, input.to_string());
  const Shape shape = {dim};
  if (config_.scale)
    gamma_ = add_weight({.name = "gamma",
                         .shape = shape,
                         .initializer = config_.gamma_initializer,
                         .autocast = false,
                         .regularizer = config_.gamma_regularizer,
                         .constraint = config_.gamma_constraint});
  if (config_.center)
    beta_ = add_weight({.name = "beta",
                        .shape = shape,
                        .initializer = config_.beta_initializer,
                        .autocast = false,
                        .regularizer = config_.beta_regularizer,
                        .constraint = config_.beta_constraint});
  moving_mean_ = add_weight({.name = "moving_mean",
                             .shape = shape,
                             .initializer = config_.moving_mean_initializer,
                             .trainable = false,
                             .autocast = false});
  moving_variance_ = add_weight({.name = "moving_variance",
                                 .shape = shape,
                                 .initializer = config_.moving_variance_initializer,
                                 .trainable = false,
                                 .autocast = false});
  if (config_.renorm) build_renorm(shape);
  input_spec = {{.ndim = input.rank(), .axes = {{static_cast<int>(config_.axis), dim}}}};
}

// Deviations begin with the root of what the variance begins with.
void BatchNormalizationLayer::build_renorm(const Shape& shape) {
  const auto add = [&](const char* name, const InitializerArg& initializer, bool is_deviation) {
    VariablePtr made = add_weight({.name = name,
                                   .shape = shape,
                                   .initializer = initializer,
                                   .trainable = false,
                                   .autocast = false});
    if (is_deviation && made->has_value()) made->assign(sqrt(made->value()));
    return made;
  };
  moving_stddev_ = add("moving_stddev", config_.moving_variance_initializer, true);
  renorm_mean_ = add("renorm_mean", config_.moving_mean_initializer, false);
  renorm_stddev_ = add("renorm_stddev", config_.moving_variance_initializer, true);
}

Tensor BatchNormalizationLayer::gamma(DType dtype) const {
  return gamma_ ? as(gamma_->value(), dtype) : fill(moving_mean_->shape(), 1, dtype);
}
Tensor BatchNormalizationLayer::beta(DType dtype) const {
  return beta_ ? as(beta_->value(), dtype) : fill(moving_mean_->shape(), 0, dtype);
}

Nested BatchNormalizationLayer::call(const Nested& inputs, const CallArgs& args) {
  Tensor x = inputs;
  if (!is_floating(x.dtype())) x = cast(x, float32);
  if (args.is_training() && trainable()) return as(train(x, args.mask), compute_dtype());
  const int axis = normalize_axis(config_.axis, x.rank(), "axis");
  const DType dtype = dtype_size(x.dtype()) == 2 ? float32 : x.dtype();
  const Tensor mean = as(moving_mean_->value(), dtype);
  const Tensor variance = as(moving_variance_->value(), dtype);
  if (axis == x.rank() - 1 && x.rank() > 1)
    return as(nn::fused_batch_norm(x, gamma(dtype), beta(dtype), mean, variance, config_.epsilon,
                                   "NHWC", false)
                  .y,
              compute_dtype());
  std::vector<std::int64_t> broadcast(static_cast<std::size_t>(x.rank()), 1);
  broadcast[static_cast<std::size_t>(axis)] = -1;
  const auto along = [&](const Tensor& t) { return reshape(t, broadcast); };
  return as(nn::batch_normalization(as(x, dtype), along(mean), along(variance), along(beta(dtype)),
                                    along(gamma(dtype)), config_.epsilon),
            compute_dtype());
}

Tensor BatchNormalizationLayer::train(const Tensor& x, const Nested& mask) {
  const DType dtype = dtype_size(x.dtype()) == 2 ? float32 : x.dtype();
  const bool is_last = normalize_axis(config_.axis, x.rank(), "axis") == x.rank() - 1;
  if (!is_last || x.rank() < 2 || !mask.is_none() || config_.renorm)
    return train_by_moments(as(x, dtype), mask);
  const nn::BatchNormResult result = nn::batch_norm(x, gamma(dtype), beta(dtype), config_.epsilon);
  update_moving(result.mean, result.variance);
  return result.y;
}

Tensor BatchNormalizationLayer::train_by_moments(const Tensor& x, const Nested& mask) {
  const int axis = normalize_axis(config_.axis, x.rank(), "axis");
  const nn::Moments m =
      mask.is_none() ? nn::moments(x, axes_but(axis, x.rank())) : masked_moments(x, mask, axis);
  Tensor scale = gamma(x.dtype()), offset = beta(x.dtype());
  if (config_.renorm) {
    correct(m.mean, m.variance, scale, offset);
  } else {
    update_moving(m.mean, m.variance);
  }
  std::vector<std::int64_t> broadcast(static_cast<std::size_t>(x.rank()), 1);
  broadcast[static_cast<std::size_t>(axis)] = -1;
  const Tensor factor = math::rsqrt(m.variance + config_.epsilon) * scale;
  return x * reshape(factor, broadcast) + reshape(offset - m.mean * factor, broadcast);
}

namespace {

// A step of a moving average.
Tensor moved(const Tensor& from, const Tensor& to, double momentum) {
  return as(from, to.dtype()) * momentum + to * (1 - momentum);
}
void assign_moved(Variable& variable, const Tensor& to, double momentum) {
  variable.assign(as(moved(variable.value(), to, momentum), variable.dtype()));
}

}  // namespace

void BatchNormalizationLayer::update_moving(const Tensor& mean, const Tensor& variance) {
  assign_moved(*moving_mean_, mean, config_.momentum);
  assign_moved(*moving_variance_, variance, config_.momentum);
}

// Batch renormalisation: with r and d, the result is near to what the averages would give.
void BatchNormalizationLayer::correct(const Tensor& mean, const Tensor& variance, Tensor& gamma,
                                      Tensor& beta) {
  const DType dtype = mean.dtype();
  const Tensor stddev = sqrt(variance + config_.epsilon);
  const Tensor old_stddev =
      maximum(as(renorm_stddev_->value(), dtype), fill({}, std::sqrt(config_.epsilon), dtype));
  Tensor r = stddev / old_stddev;
  Tensor d = (mean - as(renorm_mean_->value(), dtype)) / old_stddev;
  if (const auto rmin = limit(config_.renorm_clipping, "rmin"))
    r = maximum(r, fill({}, *rmin, dtype));
  if (const auto rmax = limit(config_.renorm_clipping, "rmax"))
    r = minimum(r, fill({}, *rmax, dtype));
  if (const auto dmax = limit(config_.renorm_clipping, "dmax")) d = clip_by_value(d, -*dmax, *dmax);
  beta = stop_gradient(d) * gamma + beta;
  gamma = stop_gradient(r) * gamma;

  assign_moved(*renorm_mean_, mean, config_.renorm_momentum);
  assign_moved(*renorm_stddev_, stddev, config_.renorm_momentum);
  assign_moved(*moving_mean_, mean, config_.momentum);
  const Tensor moving = moved(moving_stddev_->value(), stddev, config_.momentum);
  moving_stddev_->assign(as(moving, moving_stddev_->dtype()));
  moving_variance_->assign(
      as(nn::relu(square(moving) - config_.epsilon), moving_variance_->dtype()));
}

}  // namespace plimsoll::keras
