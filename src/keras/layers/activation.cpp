#include "plimsoll/keras/layers/activation.h"

#include <algorithm>

#include "base/check.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Activation", make_layer_of_config<ActivationLayer>},
    {"ReLU", make_layer_of_config<ReLULayer>},
    {"LeakyReLU", make_layer_of_config<LeakyReLULayer>},
    {"PReLU", make_layer_of_config<PReLULayer>},
    {"ELU", make_layer_of_config<ELULayer>},
    {"Softmax", make_layer_of_config<SoftmaxLayer>},
};

// Throws unless the mask broadcasts to the shape.
void check_softmax_mask(const Shape& input, const Shape& mask) {
  bool fits = mask.rank() <= input.rank();
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "The `mask` must be broadcastable to `inputs` and must not have more dimensions. "
                 "Received: inputs.shape={}, mask.shape={}",
                 PartialShape(input).to_string(), PartialShape(mask).to_string());
  for (int i = 1; i <= mask.rank(); ++i) {
    const std::int64_t m = mask[mask.rank() - i];
    fits = fits && (m == 1 || m == input[input.rank() - i]);
  }
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "The `mask` must be broadcastable to `inputs`. Each mask dimension must be 1 or "
                 "match the corresponding input dimension. Received: inputs.shape={}, "
                 "mask.shape={}",
                 PartialShape(input).to_string(), PartialShape(mask).to_string());
}

Tensor softmax_along(const Tensor& x, const Axes& axes) {
  if (axes.size() == 1) return activations::softmax(x, axes[0]);
  return exp(x - reduce_logsumexp(x, axes, true));
}

}  // namespace

std::span<const ClassRow> activation_layers() {
  return kLayers;
}

ActivationLayer::ActivationLayer(ActivationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
}
Nested ActivationLayer::call(const Nested& inputs, const CallArgs&) {
  return config_.activation(inputs);
}

ReLULayer::ReLULayer(ReLUConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  PLIMSOLL_CHECK(!config_.max_value || *config_.max_value >= 0, InvalidArgumentError,
                 "max_value of a ReLU layer cannot be a negative value. Received: max_value={}",
                 config_.max_value.value_or(0));
  PLIMSOLL_CHECK(config_.negative_slope >= 0, InvalidArgumentError,
                 "negative_slope of a ReLU layer cannot be None or a negative value. Received: "
                 "negative_slope={}",
                 config_.negative_slope);
  PLIMSOLL_CHECK(config_.threshold >= 0, InvalidArgumentError,
                 "threshold of a ReLU layer cannot be None or a negative value. Received: "
                 "threshold={}",
                 config_.threshold);
  supports_masking_ = true;
  set_built(true);
}
Nested ReLULayer::call(const Nested& inputs, const CallArgs&) {
  return activations::relu(inputs, config_.negative_slope, config_.max_value.value_or(-1),
                           config_.threshold);
}

LeakyReLULayer::LeakyReLULayer(LeakyReLUConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  PLIMSOLL_CHECK(config_.negative_slope >= 0, InvalidArgumentError,
                 "The negative_slope value of a Leaky ReLU layer cannot be None or negative value. "
                 "Expected a float. Received: negative_slope={}",
                 config_.negative_slope);
  supports_masking_ = true;
  set_built(true);
}
Nested LeakyReLULayer::call(const Nested& inputs, const CallArgs&) {
  return activations::leaky_relu(inputs, config_.negative_slope);
}

PReLULayer::PReLULayer(PReLUConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  if (!config_.shared_axes.is_none()) config_.shared_axes = Sizes(config_.shared_axes.values());
  supports_masking_ = true;
}

void PReLULayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  const auto& shared = config_.shared_axes.values();
  std::vector<std::int64_t> dims(input.dims().begin() + 1, input.dims().end());
  InputSpec spec{.ndim = input.rank()};
  for (const std::int64_t axis : shared) {
    PLIMSOLL_CHECK(axis >= 1 && axis < input.rank(), InvalidArgumentError,
                   "PReLU shares slopes along axes behind the batch. Received: shared_axes={}, "
                   "input_shape={}",
                   to_config(config_.shared_axes).dump(), input.to_string());
    dims[static_cast<std::size_t>(axis - 1)] = 1;
  }
  for (int i = 1; i < input.rank(); ++i) {
    PLIMSOLL_CHECK(dims[static_cast<std::size_t>(i - 1)] != kNone, InvalidArgumentError,
                   "PReLU needs to know axis {} of its input, or to share slopes along it. "
                   "Received: shared_axes={}, input_shape={}",
                   i, to_config(config_.shared_axes).dump(), input.to_string());
    if (!shared.empty() && std::ranges::count(shared, i) == 0) spec.axes[i] = input[i];
  }
  alpha_ = add_weight({.name = "alpha",
                       .shape = Shape(dims),
                       .initializer = config_.alpha_initializer,
                       .regularizer = config_.alpha_regularizer,
                       .constraint = config_.alpha_constraint});
  input_spec = {spec};
}

Nested PReLULayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor& x = inputs.leaf().tensor();
  return nn::relu(x) - alpha_->value() * nn::relu(-x);
}

ELULayer::ELULayer(ELUConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  supports_masking_ = true;
  set_built(true);
}
Nested ELULayer::call(const Nested& inputs, const CallArgs&) {
  return activations::elu(inputs, config_.alpha);
}

SoftmaxLayer::SoftmaxLayer(SoftmaxConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(!config_.axis.values().empty(), InvalidArgumentError,
                 "Softmax needs an axis. Received: axis={}", to_config(config_.axis).dump());
  supports_masking_ = true;
  set_built(true);
}

Nested SoftmaxLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  const auto& axes = config_.axis.values();
  if (args.mask.is_none()) return softmax_along(x, axes);
  Tensor mask = args.mask;
  check_softmax_mask(x.shape(), mask.shape());
  if (mask.dtype() != DType::kBool) mask = greater(mask, fill({}, 0.5, mask.dtype()));
  const double low = x.dtype() == DType::kFloat16 ? -3e4 : -1e9;
  const Tensor y = softmax_along(where(mask, x, fill({}, low, x.dtype())), axes);
  return where(mask, y, zeros_like(y));
}

}  // namespace plimsoll::keras
