// Layers that disturb their input while a model is trained.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct DropoutConfig {
  static constexpr const char* kClassName = "Dropout";
  double rate = 0;
  ConfigSeed seed = {};
  std::optional<PartialShape> noise_shape = {};  // None: as the input has it
  void visit(ConfigVisitor& v) {
    v("rate", rate);
    v("seed", seed);
    v("noise_shape", noise_shape);
  }
};
// memory: no mask is kept for the gradient.
class DropoutLayer : public Configured<Layer, DropoutConfig> {
 public:
  explicit DropoutLayer(DropoutConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using Dropout = LayerRef<DropoutLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
