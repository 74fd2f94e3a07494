// Activations as layers.
#pragma once

#include "plimsoll/keras/activations.h"
#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct ActivationConfig {
  static constexpr const char* kClassName = "Activation";
  Activation activation = {};
  void visit(ConfigVisitor& v) { v("activation", activation); }
};
class ActivationLayer : public Configured<Layer, ActivationConfig> {
 public:
  explicit ActivationLayer(ActivationConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using Activation = LayerRef<ActivationLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
