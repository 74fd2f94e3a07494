#include "plimsoll/keras/layers/activation.h"

#include "keras/layers/tables.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Activation", make_layer_of_config<ActivationLayer>},
};

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

}  // namespace plimsoll::keras
