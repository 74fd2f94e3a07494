// Attention. Where scores are not asked for, no tensor of query x key elements is made: the layers
// use nn::scaled_dot_product_attention, and masks of queries and keys stay vectors.
//
//   auto mha = keras::layers::MultiHeadAttention({.num_heads = 8, .key_dim = 64});
//   tf::Tensor y = mha(x, {.named = keras::Nested::dict({{"value", x}}),
//                          .options = tf::Json::object({{"use_causal_mask", true}})});
#pragma once

#include "plimsoll/keras/layers/core.h"

namespace plimsoll::keras {

struct MultiHeadAttentionConfig {
  static constexpr const char* kClassName = "MultiHeadAttention";
  std::int64_t num_heads = 0, key_dim = 0;
  std::optional<std::int64_t> value_dim = {};  // none: key_dim
  double dropout = 0;                          // of the probabilities
  bool use_bias = true;
  Sizes output_shape = {};                          // none: the last dimension of the query
  Sizes attention_axes = {};                        // none: all but batch and features
  std::optional<std::int64_t> sliding_window = {};  // a query looks less far than that, both ways
  std::optional<bool> flash_attention = {};         // attention is in tiles either way
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;  // what the heads give is scaled by sigmoid(a projection of the query)
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// Called on the query. Named tensors: "value", "key" (none: the value), "value_mask", "key_mask",
// "attention_mask" [batch, tq, tk]. Options: return_attention_scores, use_causal_mask.
// memory: linear in the lengths unless scores are asked for, attention_axes are others than the
// default, or a mask of tq x tk elements is given.
class MultiHeadAttentionLayer : public Configured<Layer, MultiHeadAttentionConfig> {
 public:
  explicit MultiHeadAttentionLayer(MultiHeadAttentionConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  std::vector<std::string> call_argument_names() const override;

 private:
  std::shared_ptr<EinsumDenseLayer> projection(const std::string& name, int free_dims,
                                               int bound_dims,
                                               const std::vector<std::int64_t>& output,
                                               const Activation& activation = {});
  Nested call_with_scores(Tensor query, const Tensor& key, const Tensor& value,
                          const struct AttentionMasks& masks, bool training) const;

  std::shared_ptr<EinsumDenseLayer> query_dense_, key_dense_, gate_dense_, value_dense_,
      output_dense_;
  std::vector<std::int64_t> axes_;  // that attention goes over, of query and value
};

struct GroupQueryAttentionConfig {
  static constexpr const char* kClassName = "GroupQueryAttention";
  std::int64_t head_dim = 0, num_query_heads = 0, num_key_value_heads = 0;
  double dropout = 0;
  bool use_bias = true;
  std::optional<std::int64_t> sliding_window = {};
  std::optional<bool> flash_attention = {};
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// As MultiHeadAttention, with fewer heads of key and value than of the query; keys and values are
// not repeated. Its activity regularizer is also that of its projections, as in Keras.
class GroupQueryAttentionLayer : public Configured<Layer, GroupQueryAttentionConfig> {
 public:
  explicit GroupQueryAttentionLayer(GroupQueryAttentionConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  std::vector<std::string> call_argument_names() const override;

 private:
  std::shared_ptr<EinsumDenseLayer> projection(const char* name, const char* equation,
                                               std::vector<std::int64_t> output,
                                               const char* bias_axes,
                                               const Activation& activation = {});

  std::shared_ptr<EinsumDenseLayer> query_dense_, key_dense_, gate_dense_, value_dense_,
      output_dense_;
};

struct AttentionConfig {
  static constexpr const char* kClassName = "Attention";
  bool use_scale = false;          // scores are scaled by a weight
  std::string score_mode = "dot";  // or concat: a weight times sum(tanh(query + key))
  double dropout = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// Called on a list: query, value, and key unless it is the value. Masks: a list of those of query
// and value. Options: return_attention_scores, use_causal_mask.
// memory: linear in the lengths for scores by "dot" that are not asked for.
class AttentionLayer : public Configured<Layer, AttentionConfig> {
 public:
  explicit AttentionLayer(AttentionConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 private:
  VariablePtr scale_, concat_score_weight_;
};

struct AdditiveAttentionConfig {
  static constexpr const char* kClassName = "AdditiveAttention";
  bool use_scale = true;
  double dropout = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// As Attention, with scores sum(scale * tanh(query + key)).
class AdditiveAttentionLayer : public Configured<Layer, AdditiveAttentionConfig> {
 public:
  explicit AdditiveAttentionLayer(AdditiveAttentionConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 private:
  VariablePtr scale_;
};

namespace layers {
using MultiHeadAttention = LayerRef<MultiHeadAttentionLayer>;
using GroupQueryAttention = LayerRef<GroupQueryAttentionLayer>;
using Attention = LayerRef<AttentionLayer>;
using AdditiveAttention = LayerRef<AdditiveAttentionLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
