#include "plimsoll/keras/layers/regularization.h"

#include <cmath>

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/layers/windows.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Dropout", make_layer_of_config<DropoutLayer>},
    {"SpatialDropout1D", make_layer_of_config<SpatialDropoutLayer<1>>},
    {"SpatialDropout2D", make_layer_of_config<SpatialDropoutLayer<2>>},
    {"SpatialDropout3D", make_layer_of_config<SpatialDropoutLayer<3>>},
    {"GaussianNoise", make_layer_of_config<GaussianNoiseLayer>},
    {"GaussianDropout", make_layer_of_config<GaussianDropoutLayer>},
    {"AlphaDropout", make_layer_of_config<AlphaDropoutLayer>},
    {"ActivityRegularization", make_layer_of_config<ActivityRegularizationLayer>},
};

void check_unit_range(double value, const char* name) {
  PLIMSOLL_CHECK(value >= 0 && value <= 1, InvalidArgumentError,
                 "Invalid value received for argument `{}`. Expected a float value between 0 and "
                 "1. Received: {}={}",
                 name, name, value);
}

// The shape of the noise, as the input has it where it says None.
Shape concrete_noise_shape(const std::optional<PartialShape>& given, const Shape& input) {
  if (!given) return input;
  PartialShape noise = *given;
  PLIMSOLL_CHECK(noise.rank() == input.rank(), InvalidArgumentError,
                 "Argument noise_shape must have as many dimensions as the inputs. Received: "
                 "noise_shape={}, input of shape {}",
                 noise.to_string(), PartialShape(input).to_string());
  for (int i = 0; i < input.rank(); ++i) {
    if (noise[i] == kNone) noise[i] = input[i];
  }
  return Shape(noise.dims());
}

}  // namespace

std::span<const ClassRow> regularization_layers() {
  return kLayers;
}

DropoutLayer::DropoutLayer(DropoutConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  check_unit_range(config_.rate, "rate");
  supports_masking_ = true;
}

Nested DropoutLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  if (!args.is_training() || config_.rate == 0) return inputs;
  if (config_.rate == 1) return zeros_like(x);
  if (!config_.noise_shape) return nn::dropout(x, config_.rate, config_.seed);
  return nn::dropout(x, config_.rate, concrete_noise_shape(config_.noise_shape, x.shape()),
                     config_.seed);
}

template <int rank>
SpatialDropoutLayer<rank>::SpatialDropoutLayer(SpatialDropoutConfig<rank> config,
                                               LayerOptions options)
    : Configured<Layer, SpatialDropoutConfig<rank>>(std::move(config), std::move(options)) {
  check_unit_range(this->config_.rate, "rate");
  this->config_.data_format = standardize_data_format(this->config_.data_format);
  this->input_spec = {{.ndim = rank + 2}};
  this->supports_masking_ = true;
}

template <int rank>
Nested SpatialDropoutLayer<rank>::call(const Nested& inputs, const CallArgs& args) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  if (!args.is_training() || c.rate == 0) return inputs;
  if (c.rate == 1) return zeros_like(x);
  std::vector<std::int64_t> noise(x.shape().dims().begin(), x.shape().dims().end());
  const auto first = static_cast<std::size_t>(first_spatial_axis(c.data_format));
  for (std::size_t i = 0; i < rank; ++i) noise[first + i] = 1;
  return nn::dropout(x, c.rate, Shape(noise), c.seed);
}

// Keras writes no trainable here, and the type by its name.
template <int rank>
Json SpatialDropoutLayer<rank>::get_config() const {
  Json config = Object::get_config();
  config["name"] = this->name();
  config["dtype"] = to_config(this->variable_dtype());
  return config;
}

template class SpatialDropoutLayer<1>;
template class SpatialDropoutLayer<2>;
template class SpatialDropoutLayer<3>;

GaussianNoiseLayer::GaussianNoiseLayer(GaussianNoiseConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  check_unit_range(config_.stddev, "stddev");
  supports_masking_ = true;
  set_built(true);
}

Nested GaussianNoiseLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  if (!args.is_training() || config_.stddev == 0) return inputs;
  return x + random::normal(x.shape(), 0, config_.stddev, x.dtype(), config_.seed);
}

GaussianDropoutLayer::GaussianDropoutLayer(GaussianDropoutConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  check_unit_range(config_.rate, "rate");
  supports_masking_ = true;
  set_built(true);
}

Nested GaussianDropoutLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  if (!args.is_training() || config_.rate == 0) return inputs;
  const double stddev = std::sqrt(config_.rate / (1 - config_.rate));
  return x * random::normal(x.shape(), 1, stddev, x.dtype(), config_.seed);
}

AlphaDropoutLayer::AlphaDropoutLayer(AlphaDropoutConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  check_unit_range(config_.rate, "rate");
  supports_masking_ = true;
  set_built(true);
}

// What is dropped takes the value that selu has far below 0; then everything is brought back to
// mean 0 and variance 1.
Nested AlphaDropoutLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  const double rate = config_.rate;
  if (!args.is_training() || rate == 0) return inputs;
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kLow = -kAlpha * kScale;
  const Tensor draw = random::uniform(concrete_noise_shape(config_.noise_shape, x.shape()), 0, 1.0,
                                      float32, config_.seed);
  const Tensor kept = greater_equal(draw, fill({}, rate, float32));
  const double a = 1 / std::sqrt((1 - rate) * (1 + rate * kLow * kLow));
  const double b = -a * kLow * rate;
  return where(kept, x, fill({}, kLow, x.dtype())) * a + b;
}

ActivityRegularizationLayer::ActivityRegularizationLayer(ActivityRegularizationConfig config,
                                                         LayerOptions options)
    : Configured(config, [&] {
        options.activity_regularizer = regularizers::L1L2({.l1 = config.l1, .l2 = config.l2});
        return std::move(options);
      }()) {
  supports_masking_ = true;
  set_built(true);
}

Nested ActivityRegularizationLayer::call(const Nested& inputs, const CallArgs&) {
  return inputs;
}

Json ActivityRegularizationLayer::get_config() const {
  Json config = Layer::get_config();
  config.erase("activity_regularizer");  // l1 and l2 say it
  return config;
}

}  // namespace plimsoll::keras
