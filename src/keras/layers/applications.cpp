#include "plimsoll/keras/layers/applications.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"LayerScale", make_layer_of_config<LayerScaleLayer>},
    {"CustomScaleLayer", make_layer_of_config<CustomScaleLayer>},
};

}  // namespace

std::span<const ClassRow> application_layers() {
  return kLayers;
}

LayerScaleLayer::LayerScaleLayer(LayerScaleConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.projection_dim > 0, InvalidArgumentError,
                 "LayerScale: projection_dim has to be positive. Received: {}",
                 config_.projection_dim);
}

void LayerScaleLayer::build(const Shapes&) {
  gamma_ = add_weight({.name = "gamma",
                       .shape = {config_.projection_dim},
                       .initializer = initializers::Constant({config_.init_values})});
}

Nested LayerScaleLayer::call(const Nested& inputs, const CallArgs&) {
  return inputs.leaf().tensor() * gamma_->value();
}

Nested CustomScaleLayer::call(const Nested& inputs, const CallArgs&) {
  PLIMSOLL_CHECK(inputs.is_list() && inputs.size() == 2, InvalidArgumentError,
                 "CustomScaleLayer '{}' takes a list of two tensors", name());
  return inputs[0].leaf().tensor() + inputs[1].leaf().tensor() * config_.scale;
}

}  // namespace plimsoll::keras
