// Normalisation layers but BatchNormalization, which is in batch_normalization.cpp.
#include "plimsoll/keras/layers/normalization.h"

#include <algorithm>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"BatchNormalization", make_layer_of_config<BatchNormalizationLayer>},
    {"LayerNormalization", make_layer_of_config<LayerNormalizationLayer>},
    {"GroupNormalization", make_layer_of_config<GroupNormalizationLayer>},
    {"RMSNormalization", make_layer_of_config<RMSNormalizationLayer>},
    {"UnitNormalization", make_layer_of_config<UnitNormalizationLayer>},
    {"SpectralNormalization", make_layer_of_config<SpectralNormalizationLayer>},
};

void check_axis(std::int64_t axis, const PartialShape& input, const Sizes& all) {
  PLIMSOLL_CHECK(axis < input.rank() && axis >= -input.rank(), InvalidArgumentError,
                 "Axis {} is out of bounds for input shape {}. Received: axis={}", axis,
                 input.to_string(), to_config(all).dump());
}

// A list in order, as Keras keeps it once the layer is built, and the shape along it.
Shape sort_axes(Sizes& axis, const PartialShape& input, const std::string& layer) {
  std::vector<std::int64_t> sorted = axis.values();
  std::ranges::sort(sorted);
  std::vector<std::int64_t> dims;
  for (const std::int64_t a : sorted) {
    check_axis(a, input, axis);
    dims.push_back(input[static_cast<int>(a)]);
    PLIMSOLL_CHECK(dims.back() != kNone, InvalidArgumentError,
                   "Axis {} of the input of layer '{}' should have a defined dimension but the "
                   "layer received an input with shape {}.",
                   a, layer, input.to_string());
  }
  axis = Sizes(std::move(sorted));
  return Shape(dims);
}

Axes positive_axes(const Sizes& axis, int rank) {
  Axes axes;
  for (const std::int64_t a : axis.values()) axes.push_back(normalize_axis(a, rank, "axis"));
  return axes;
}
// Whether they are the last ones, in order.
bool are_last(const Axes& axes, int rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<std::int64_t>(axes.size() - i)) return false;
  }
  return true;
}

// At least float32, as statistics are computed.
Tensor widened(const Tensor& x) {
  return is_floating(x.dtype()) && dtype_size(x.dtype()) > 2 ? x : cast(x, float32);
}
Tensor value_or(const VariablePtr& weight, double otherwise, const Shape& shape, DType dtype) {
  if (!weight) return fill(shape, otherwise, dtype);
  const Tensor value = *weight;
  return value.dtype() == dtype ? value : cast(value, dtype);
}

}  // namespace

std::span<const ClassRow> normalization_layers() {
  return kLayers;
}

void LayerNormalizationConfig::visit(ConfigVisitor& v) {
  v("axis", axis);
  v("epsilon", epsilon);
  v("center", center);
  v("scale", scale);
  v("rms_scaling", rms_scaling);
  v("beta_initializer", beta_initializer);
  v("gamma_initializer", gamma_initializer);
  v("beta_regularizer", beta_regularizer);
  v("gamma_regularizer", gamma_regularizer);
  v("beta_constraint", beta_constraint);
  v("gamma_constraint", gamma_constraint);
}

LayerNormalizationLayer::LayerNormalizationLayer(LayerNormalizationConfig config,
                                                 LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
  autocast_ = false;
}

void LayerNormalizationLayer::build(const Shapes& input_shapes) {
  const Shape shape = sort_axes(config_.axis, input_shapes.leaf(), name());
  if (config_.scale || config_.rms_scaling)
    gamma_ = add_weight({.name = "gamma",
                         .shape = shape,
                         .initializer = config_.gamma_initializer,
                         .autocast = false,
                         .regularizer = config_.gamma_regularizer,
                         .constraint = config_.gamma_constraint});
  if (config_.center && !config_.rms_scaling)
    beta_ = add_weight({.name = "beta",
                        .shape = shape,
                        .initializer = config_.beta_initializer,
                        .autocast = false,
                        .regularizer = config_.beta_regularizer,
                        .constraint = config_.beta_constraint});
}

Nested LayerNormalizationLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor& given = inputs.leaf().tensor();
  const Axes axes = positive_axes(config_.axis, given.rank());
  std::vector<std::int64_t> dims, broadcast(static_cast<std::size_t>(given.rank()), 1);
  for (const std::int64_t a : axes) {
    dims.push_back(given.shape()[static_cast<int>(a)]);
    broadcast[static_cast<std::size_t>(a)] = dims.back();
  }
  const bool is_plain = !config_.rms_scaling && are_last(axes, given.rank());
  const Tensor x = is_plain && is_floating(given.dtype()) ? given : widened(given);
  const DType dtype = dtype_size(x.dtype()) == 2 ? float32 : x.dtype();
  const Tensor gamma = value_or(gamma_, 1, Shape(dims), dtype);
  const Tensor beta = value_or(beta_, 0, Shape(dims), dtype);
  Tensor y;
  if (is_plain) {
    y = nn::layer_norm(x, gamma, beta, config_.epsilon);
  } else {
    const nn::Moments m = nn::moments(x, axes, true);
    const Tensor factor = math::rsqrt(m.variance + config_.epsilon) * reshape(gamma, broadcast);
    y = config_.rms_scaling ? x * factor : (x - m.mean) * factor + reshape(beta, broadcast);
  }
  return y.dtype() == compute_dtype() ? y : cast(y, compute_dtype());
}

void GroupNormalizationConfig::visit(ConfigVisitor& v) {
  v("groups", groups);
  v("axis", axis);
  v("epsilon", epsilon);
  v("center", center);
  v("scale", scale);
  v("beta_initializer", beta_initializer);
  v("gamma_initializer", gamma_initializer);
  v("beta_regularizer", beta_regularizer);
  v("gamma_regularizer", gamma_regularizer);
  v("beta_constraint", beta_constraint);
  v("gamma_constraint", gamma_constraint);
}

GroupNormalizationLayer::GroupNormalizationLayer(GroupNormalizationConfig config,
                                                 LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.groups > 0 || config_.groups == -1, InvalidArgumentError,
                 "Received an invalid value for argument `groups`, expected a positive integer (or "
                 "`-1` for instance normalization). Received: groups={}",
                 config_.groups);
  supports_masking_ = true;
  autocast_ = false;
}

void GroupNormalizationLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  check_axis(config_.axis, input, config_.axis);
  const std::int64_t dim = input[static_cast<int>(config_.axis)];
  PLIMSOLL_CHECK(dim != kNone, InvalidArgumentError,
                 "Axis {} of input tensor should have a defined dimension but the layer received "
                 "an input with shape {}.",
                 config_.axis, input.to_string());
  if (config_.groups == -1) config_.groups = dim;
  PLIMSOLL_CHECK(dim >= config_.groups, InvalidArgumentError,
                 "Number of groups ({}) cannot be more than the number of channels ({}).",
                 config_.groups, dim);
  PLIMSOLL_CHECK(dim % config_.groups == 0, InvalidArgumentError,
                 "Number of groups ({}) must be a multiple of the number of channels ({}).",
                 config_.groups, dim);
  input_spec = {{.ndim = input.rank(), .axes = {{static_cast<int>(config_.axis), dim}}}};
  if (config_.scale)
    gamma_ = add_weight({.name = "gamma",
                         .shape = {dim},
                         .initializer = config_.gamma_initializer,
                         .autocast = false,
                         .regularizer = config_.gamma_regularizer,
                         .constraint = config_.gamma_constraint});
  if (config_.center)
    beta_ = add_weight({.name = "beta",
                        .shape = {dim},
                        .initializer = config_.beta_initializer,
                        .autocast = false,
                        .regularizer = config_.beta_regularizer,
                        .constraint = config_.beta_constraint});
}

Nested GroupNormalizationLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor x = inputs;
  if (!is_floating(x.dtype())) x = cast(x, float32);
  const int axis = normalize_axis(config_.axis, x.rank(), "axis");
  const DType dtype = dtype_size(x.dtype()) == 2 ? float32 : x.dtype();
  const Shape channels = {x.shape()[axis]};
  const Tensor gamma = value_or(gamma_, 1, channels, dtype);
  const Tensor beta = value_or(beta_, 0, channels, dtype);
  const bool is_last = axis == x.rank() - 1;
  std::vector<std::int64_t> there, back;  // channels to the last axis
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) there.push_back(i);
    back.push_back(i < axis ? i : i == axis ? x.rank() - 1 : i - 1);
  }
  there.push_back(axis);
  Tensor y = nn::group_norm(is_last ? x : transpose(x, there), gamma, beta, config_.groups,
                            config_.epsilon);
  if (!is_last) y = transpose(y, back);
  return y.dtype() == compute_dtype() ? y : cast(y, compute_dtype());
}

void RMSNormalizationLayer::build(const Shapes& input_shapes) {
  const Shape shape = sort_axes(config_.axis, input_shapes.leaf(), name());
  scale_ = add_weight({.name = "scale", .shape = shape, .initializer = "ones"});
}

Nested RMSNormalizationLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor given = inputs;
  const Axes axes = positive_axes(config_.axis, given.rank());
  if (are_last(axes, given.rank()) && is_floating(given.dtype()))
    return nn::rms_norm(given, *scale_, config_.epsilon);
  // Keras does not bring the scale to the axes: it has to fit the last ones.
  const Tensor x = widened(given);
  const Tensor factor = math::rsqrt(reduce_mean(square(x), axes, true) + config_.epsilon);
  return cast(x * factor * cast(*scale_, x.dtype()), given.dtype());
}

UnitNormalizationLayer::UnitNormalizationLayer(UnitNormalizationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
  set_built(true);
}

Nested UnitNormalizationLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor& x = inputs.leaf().tensor();
  for (const std::int64_t a : config_.axis.values())
    PLIMSOLL_CHECK(a < x.rank() && a >= -x.rank(), InvalidArgumentError,
                   "Axis {} is out of bounds for input shape {}.", to_config(config_.axis).dump(),
                   PartialShape(x.shape()).to_string());
  return normalize(x, config_.axis.values(), 1e-12);
}

SpectralNormalizationLayer::SpectralNormalizationLayer(SpectralNormalizationConfig config,
                                                       LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.layer, InvalidArgumentError,
                 "Layer None supplied to Wrapper isn't a supported layer type. Please ensure "
                 "wrapped layer is a valid Keras layer.");
  PLIMSOLL_CHECK(config_.power_iterations > 0, InvalidArgumentError,
                 "`power_iterations` should be greater than zero. Received: "
                 "`power_iterations={}`",
                 config_.power_iterations);
  track_layer(config_.layer.ptr(), "layer");
}

void SpectralNormalizationLayer::build(const Shapes& input_shapes) {
  config_.layer->ensure_built(input_shapes);
  input_spec = {{.min_ndim = 1, .axes = {{-1, input_shapes.leaf()[-1]}}}};
  for (const char* wanted : {"kernel", "embeddings"}) {
    for (const VariablePtr& v : config_.layer->own_variables()) {
      if (!kernel_ && v->name() == wanted) kernel_ = v;
    }
  }
  PLIMSOLL_CHECK(kernel_, InvalidArgumentError,
                 "{} object has no attribute 'kernel' nor 'embeddings'",
                 config_.layer->class_name());
  track_variable(kernel_);
  vector_u_ = add_weight({.name = "vector_u",
                          .shape = {1, kernel_->shape()[kernel_->shape().rank() - 1]},
                          .initializer = initializers::TruncatedNormal({.stddev = 0.02}),
                          .dtype = kernel_->dtype(),
                          .trainable = false});
}

// Power iteration: u and v come closer to the singular vectors with every call.
void SpectralNormalizationLayer::normalize_kernel() {
  const AutocastScope own_type(std::nullopt);
  const Tensor kernel = kernel_->value(), first_u = vector_u_->value();
  const Tensor weights = reshape(kernel, {-1, first_u.shape()[1]});
  Tensor u = first_u, v;
  for (std::int64_t i = 0; i < config_.power_iterations; ++i) {
    v = normalize(matmul(u, weights, {.transpose_b = true}), {}, kEpsilon);
    u = normalize(matmul(v, weights), {}, kEpsilon);
  }
  u = stop_gradient(u);
  v = stop_gradient(v);
  const Tensor sigma = matmul(matmul(v, weights), u, {.transpose_b = true});
  const Tensor is_zero = reduce_all(equal(kernel, zeros_like(kernel)));
  vector_u_->assign(where(is_zero, first_u, u));
  kernel_->assign(where(is_zero, kernel, kernel / reshape(sigma, {})));
}

Nested SpectralNormalizationLayer::call(const Nested& inputs, const CallArgs& args) {
  if (args.is_training()) normalize_kernel();
  const Tensor y = (*config_.layer)(inputs);
  const DType dtype = inputs.leaf().dtype();
  return y.dtype() == dtype ? y : cast(y, dtype);
}

}  // namespace plimsoll::keras
