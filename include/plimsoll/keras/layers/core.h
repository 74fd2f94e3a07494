// Layers that everything is made of.
#pragma once

#include "plimsoll/keras/activations.h"
#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct InputLayerConfig {
  static constexpr const char* kClassName = "InputLayer";
  PartialShape batch_shape = {};
  DType dtype = DType::kFloat32;  // of the input
  void visit(ConfigVisitor& v);
};
// Where a functional model begins; keras::Input makes one.
class InputLayer : public Configured<Layer, InputLayerConfig> {
 public:
  explicit InputLayer(InputLayerConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Json get_config() const override;
  KerasTensor tensor();  // the placeholder
};

struct DenseConfig {
  static constexpr const char* kClassName = "Dense";
  std::int64_t units = 0;
  Activation activation = {};
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// activation(x kernel + bias), over the last dimension.
class DenseLayer : public Configured<Layer, DenseConfig> {
 public:
  explicit DenseLayer(DenseConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr kernel_, bias_;
};

struct IdentityConfig {
  static constexpr const char* kClassName = "Identity";
  void visit(ConfigVisitor&) {}
};
// Gives what it is called on.
class IdentityLayer : public Configured<Layer, IdentityConfig> {
 public:
  explicit IdentityLayer(IdentityConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using Dense = LayerRef<DenseLayer>;
using Identity = LayerRef<IdentityLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
