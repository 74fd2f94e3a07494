#include "plimsoll/keras/layers/regularization.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Dropout", make_layer_of_config<DropoutLayer>},
};

}  // namespace

std::span<const ClassRow> regularization_layers() {
  return kLayers;
}

DropoutLayer::DropoutLayer(DropoutConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.rate >= 0 && config_.rate <= 1, InvalidArgumentError,
                 "Invalid value received for argument `rate`. Expected a float value between 0 and "
                 "1. Received: rate={}",
                 config_.rate);
  supports_masking_ = true;
}

Nested DropoutLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  if (!args.is_training() || config_.rate == 0) return inputs;
  if (config_.rate == 1) return zeros_like(x);
  if (!config_.noise_shape) return nn::dropout(x, config_.rate, config_.seed);
  PartialShape noise = *config_.noise_shape;
  PLIMSOLL_CHECK(noise.rank() == x.rank(), InvalidArgumentError,
                 "Argument noise_shape must have as many dimensions as the inputs. Received: "
                 "noise_shape={}, input of shape {}",
                 noise.to_string(), PartialShape(x.shape()).to_string());
  for (int i = 0; i < x.rank(); ++i) {
    if (noise[i] == kNone) noise[i] = x.shape()[i];
  }
  return nn::dropout(x, config_.rate, Shape(noise.dims()), config_.seed);
}

}  // namespace plimsoll::keras
