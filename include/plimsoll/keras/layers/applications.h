// Layers that models of keras.applications have of their own.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct LayerScaleConfig {
  static constexpr const char* kClassName = "LayerScale";
  double init_values = 1e-6;
  std::int64_t projection_dim = 0;
  void visit(ConfigVisitor& v) {
    v("init_values", init_values);
    v("projection_dim", projection_dim);
  }
};
// x * gamma, of ConvNeXt.
class LayerScaleLayer : public Configured<Layer, LayerScaleConfig> {
 public:
  explicit LayerScaleLayer(LayerScaleConfig config, LayerOptions options = {});
  std::string module() const override { return "keras.src.applications.convnext"; }
  std::string registered_name() const override { return kClassName; }
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr gamma_;
};

struct CustomScaleLayerConfig {
  static constexpr const char* kClassName = "CustomScaleLayer";
  double scale = 1;
  void visit(ConfigVisitor& v) { v("scale", scale); }
};
// x0 + x1 * scale, of InceptionResNetV2.
class CustomScaleLayer : public Configured<Layer, CustomScaleLayerConfig> {
 public:
  using Configured::Configured;
  std::string module() const override { return "keras.src.applications.inception_resnet_v2"; }
  std::string registered_name() const override { return kClassName; }
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

}  // namespace plimsoll::keras
