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

struct ReLUConfig {
  static constexpr const char* kClassName = "ReLU";
  std::optional<double> max_value = {};
  double negative_slope = 0, threshold = 0;
  void visit(ConfigVisitor& v) {
    v("max_value", max_value);
    v("negative_slope", negative_slope);
    v("threshold", threshold);
  }
};
// x above the threshold, up to max_value; below it negative_slope (x - threshold).
class ReLULayer : public Configured<Layer, ReLUConfig> {
 public:
  explicit ReLULayer(ReLUConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct LeakyReLUConfig {
  static constexpr const char* kClassName = "LeakyReLU";
  double negative_slope = 0.3;
  void visit(ConfigVisitor& v) { v("negative_slope", negative_slope); }
};
class LeakyReLULayer : public Configured<Layer, LeakyReLUConfig> {
 public:
  explicit LeakyReLULayer(LeakyReLUConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct PReLUConfig {
  static constexpr const char* kClassName = "PReLU";
  InitializerArg alpha_initializer = "zeros";
  RegularizerArg alpha_regularizer = {};
  ConstraintArg alpha_constraint = {};
  Sizes shared_axes = {};  // along which there is one slope; from 1, behind the batch
  void visit(ConfigVisitor& v) {
    v("alpha_initializer", alpha_initializer);
    v("alpha_regularizer", alpha_regularizer);
    v("alpha_constraint", alpha_constraint);
    v("shared_axes", shared_axes);
  }
};
// As LeakyReLU, with slopes that are learnt.
class PReLULayer : public Configured<Layer, PReLUConfig> {
 public:
  explicit PReLULayer(PReLUConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr alpha_;
};

struct ELUConfig {
  static constexpr const char* kClassName = "ELU";
  double alpha = 1;
  void visit(ConfigVisitor& v) { v("alpha", alpha); }
};
class ELULayer : public Configured<Layer, ELUConfig> {
 public:
  explicit ELULayer(ELUConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct SoftmaxConfig {
  static constexpr const char* kClassName = "Softmax";
  Sizes axis = -1;  // one or several
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
// Where a mask is false, or not above a half, the result is 0.
class SoftmaxLayer : public Configured<Layer, SoftmaxConfig> {
 public:
  explicit SoftmaxLayer(SoftmaxConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using Activation = LayerRef<ActivationLayer>;
using ReLU = LayerRef<ReLULayer>;
using LeakyReLU = LayerRef<LeakyReLULayer>;
using PReLU = LayerRef<PReLULayer>;
using ELU = LayerRef<ELULayer>;
using Softmax = LayerRef<SoftmaxLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
