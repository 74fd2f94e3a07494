// What the networks have beside Keras's layers: the peers' first values, PyTorch's padding where
// the stride is not 1, and attention with one matrix for queries, keys and values.
#pragma once

#include <string>

#include "plimsoll/keras/initializers.h"
#include "plimsoll/keras/layers.h"
#include "plimsoll/ops.h"

namespace plimsoll::bench {

// Uniform in +-scale * sqrt(6 / fan_in), by the name that the weight has at the peers.
keras::InitializerArg named_values(std::string name, double scale);

// The name of a layer, which has no slashes: "stem/conv" is "stem.conv".
std::string layer_name(std::string name);
// The name of a variable at the peers: "block1_1/1/conv/kernel".
std::string peer_name(const keras::Variable& variable);

// As many zeros all around as keep the size at stride 1; Keras's "same" has them at one end if the
// stride is 2.
struct PaddedConv2DConfig {
  static constexpr const char* kClassName = "PaddedConv2D";
  std::int64_t filters = 0;  // 0: each channel by itself
  std::int64_t kernel_size = 3, strides = 1;
  keras::InitializerArg kernel_initializer = "glorot_uniform";
  void visit(keras::ConfigVisitor& v);
};
class PaddedConv2DLayer : public keras::Configured<keras::Layer, PaddedConv2DConfig> {
 public:
  using Configured::Configured;
  void build(const keras::Shapes& input_shapes) override;
  keras::Nested call(const keras::Nested& inputs, const keras::CallArgs& args) override;

 private:
  keras::VariablePtr kernel_;
};

struct PaddedMaxPooling2DConfig {
  static constexpr const char* kClassName = "PaddedMaxPooling2D";
  std::int64_t pool_size = 3, strides = 2;
  void visit(keras::ConfigVisitor& v);
};
class PaddedMaxPooling2DLayer : public keras::Configured<keras::Layer, PaddedMaxPooling2DConfig> {
 public:
  using Configured::Configured;
  keras::Nested call(const keras::Nested& inputs, const keras::CallArgs& args) override;
};

struct SelfAttentionConfig {
  static constexpr const char* kClassName = "SelfAttention";
  std::int64_t num_heads = 1;
  std::string values_name = {};  // what the weights' names begin with at the peers
  void visit(keras::ConfigVisitor& v);
};
// Over [batch, positions, channels].
class SelfAttentionLayer : public keras::Configured<keras::Layer, SelfAttentionConfig> {
 public:
  using Configured::Configured;
  void build(const keras::Shapes& input_shapes) override;
  keras::Nested call(const keras::Nested& inputs, const keras::CallArgs& args) override;

 private:
  std::shared_ptr<keras::DenseLayer> qkv_, out_;
};

using PaddedConv2D = keras::LayerRef<PaddedConv2DLayer>;
using PaddedMaxPooling2D = keras::LayerRef<PaddedMaxPooling2DLayer>;
using SelfAttention = keras::LayerRef<SelfAttentionLayer>;

}  // namespace plimsoll::bench
