// Layers that bring what passes through them to a common scale.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct BatchNormalizationConfig {
  static constexpr const char* kClassName = "BatchNormalization";
  std::int64_t axis = -1;
  double momentum = 0.99, epsilon = 1e-3;
  bool center = true, scale = true;
  InitializerArg beta_initializer = "zeros", gamma_initializer = "ones";
  InitializerArg moving_mean_initializer = "zeros", moving_variance_initializer = "ones";
  RegularizerArg beta_regularizer = {}, gamma_regularizer = {};
  ConstraintArg beta_constraint = {}, gamma_constraint = {};
  bool renorm = false;        // towards the moving averages while training, too
  Json renorm_clipping = {};  // rmax, rmin, dmax
  double renorm_momentum = 0.99;
  void visit(ConfigVisitor& v);
};
// By the mean and variance of the batch while it is trained, by their moving averages else, and
// always where trainable is false. A mask says what counts for the statistics.
// memory: over the last axis nothing of the input's size beside input and output.
class BatchNormalizationLayer : public Configured<Layer, BatchNormalizationConfig> {
 public:
  explicit BatchNormalizationLayer(BatchNormalizationConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  void build_renorm(const Shape& shape);
  Tensor train(const Tensor& x, const Nested& mask);
  Tensor train_by_moments(const Tensor& x, const Nested& mask);
  void update_moving(const Tensor& mean, const Tensor& variance);
  void correct(const Tensor& mean, const Tensor& variance, Tensor& gamma, Tensor& beta);
  Tensor gamma(DType dtype) const;  // of ones, if there is none
  Tensor beta(DType dtype) const;   // of zeros

  VariablePtr gamma_, beta_, moving_mean_, moving_variance_;
  VariablePtr moving_stddev_, renorm_mean_, renorm_stddev_;  // of renorm
};

struct LayerNormalizationConfig {
  static constexpr const char* kClassName = "LayerNormalization";
  Sizes axis = -1;  // one or several
  double epsilon = 1e-3;
  bool center = true, scale = true;
  bool rms_scaling = false;  // by the variance alone, as older Keras did
  InitializerArg beta_initializer = "zeros", gamma_initializer = "ones";
  RegularizerArg beta_regularizer = {}, gamma_regularizer = {};
  ConstraintArg beta_constraint = {}, gamma_constraint = {};
  void visit(ConfigVisitor& v);
};
// Each example by its own mean and variance over the axes.
class LayerNormalizationLayer : public Configured<Layer, LayerNormalizationConfig> {
 public:
  explicit LayerNormalizationLayer(LayerNormalizationConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr gamma_, beta_;
};

struct GroupNormalizationConfig {
  static constexpr const char* kClassName = "GroupNormalization";
  std::int64_t groups = 32;  // -1: each channel by itself
  std::int64_t axis = -1;
  double epsilon = 1e-3;
  bool center = true, scale = true;
  InitializerArg beta_initializer = "zeros", gamma_initializer = "ones";
  RegularizerArg beta_regularizer = {}, gamma_regularizer = {};
  ConstraintArg beta_constraint = {}, gamma_constraint = {};
  void visit(ConfigVisitor& v);
};
// Groups of channels of each example by their own mean and variance.
class GroupNormalizationLayer : public Configured<Layer, GroupNormalizationConfig> {
 public:
  explicit GroupNormalizationLayer(GroupNormalizationConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr gamma_, beta_;
};

struct RMSNormalizationConfig {
  static constexpr const char* kClassName = "RMSNormalization";
  Sizes axis = -1;  // one or several
  double epsilon = 1e-6;
  void visit(ConfigVisitor& v) {
    v("axis", axis);
    v("epsilon", epsilon);
  }
};
// x / sqrt(mean(x^2) + epsilon) * scale
class RMSNormalizationLayer : public Configured<Layer, RMSNormalizationConfig> {
 public:
  using Configured::Configured;
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr scale_;
};

struct UnitNormalizationConfig {
  static constexpr const char* kClassName = "UnitNormalization";
  Sizes axis = -1;  // one or several
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
// To vectors of length 1.
class UnitNormalizationLayer : public Configured<Layer, UnitNormalizationConfig> {
 public:
  explicit UnitNormalizationLayer(UnitNormalizationConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct SpectralNormalizationConfig {
  static constexpr const char* kClassName = "SpectralNormalization";
  LayerArg layer = {};  // that has a kernel, or embeddings
  std::int64_t power_iterations = 1;
  void visit(ConfigVisitor& v) {
    v("layer", layer);
    v("power_iterations", power_iterations);
  }
};
// Divides the kernel of the layer inside by its largest singular value, in training at each call.
class SpectralNormalizationLayer : public Configured<Layer, SpectralNormalizationConfig> {
 public:
  explicit SpectralNormalizationLayer(SpectralNormalizationConfig config,
                                      LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  void normalize_kernel();

  VariablePtr kernel_, vector_u_;
};

namespace layers {
using BatchNormalization = LayerRef<BatchNormalizationLayer>;
using LayerNormalization = LayerRef<LayerNormalizationLayer>;
using GroupNormalization = LayerRef<GroupNormalizationLayer>;
using RMSNormalization = LayerRef<RMSNormalizationLayer>;
using UnitNormalization = LayerRef<UnitNormalizationLayer>;
using SpectralNormalization = LayerRef<SpectralNormalizationLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
