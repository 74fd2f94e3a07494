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

struct EinsumDenseConfig {
  static constexpr const char* kClassName = "EinsumDense";
  std::string equation = {};  // of input and kernel: "abc,cd->abd", "...x,xy->...y"
  // Of the output without its first dimension; None where it is the input's.
  std::vector<std::optional<std::int64_t>> output_shape = {};
  Activation activation = {};
  std::optional<std::string> bias_axes = {};  // letters of the output; none: no bias
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// activation(einsum(equation, x, kernel) + bias).
class EinsumDenseLayer : public Configured<Layer, EinsumDenseConfig> {
 public:
  explicit EinsumDenseLayer(EinsumDenseConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr kernel_, bias_;
};

struct EmbeddingConfig {
  static constexpr const char* kClassName = "Embedding";
  std::int64_t input_dim = 0, output_dim = 0;
  InitializerArg embeddings_initializer = "uniform";
  RegularizerArg embeddings_regularizer = {};
  ConstraintArg embeddings_constraint = {};
  bool mask_zero = false;  // 0 is padding: the output carries a mask
  void visit(ConfigVisitor& v);
};
// A row of a table for each number below input_dim.
class EmbeddingLayer : public Configured<Layer, EmbeddingConfig> {
 public:
  explicit EmbeddingLayer(EmbeddingConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 private:
  VariablePtr embeddings_;
};

struct MaskingConfig {
  static constexpr const char* kClassName = "Masking";
  double mask_value = 0;
  void visit(ConfigVisitor& v);
};
// Time steps of nothing but mask_value are masked, and zeros.
class MaskingLayer : public Configured<Layer, MaskingConfig> {
 public:
  explicit MaskingLayer(MaskingConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
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
using EinsumDense = LayerRef<EinsumDenseLayer>;
using Embedding = LayerRef<EmbeddingLayer>;
using Masking = LayerRef<MaskingLayer>;
using Identity = LayerRef<IdentityLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
