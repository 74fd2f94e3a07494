// Attention with fewer heads of key and value than of the query.
#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/layers/attention_util.h"
#include "keras/names.h"
#include "plimsoll/keras/layers/attention.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

LayerOptions with_name(LayerOptions options) {
  if (options.name.empty()) options.name = unique_name("grouped_query_attention");
  return options;
}

}  // namespace

void GroupQueryAttentionConfig::visit(ConfigVisitor& v) {
  v("head_dim", head_dim);
  v("num_query_heads", num_query_heads);
  v("num_key_value_heads", num_key_value_heads);
  v("use_bias", use_bias);
  v("use_gate", use_gate);
  v("sliding_window", sliding_window);
  v("dropout", dropout);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
  v("seed", seed);
  if (v.is_reading()) v("flash_attention", flash_attention);
}

GroupQueryAttentionLayer::GroupQueryAttentionLayer(GroupQueryAttentionConfig config,
                                                   LayerOptions options)
    : Configured(std::move(config), with_name(std::move(options))) {
  PLIMSOLL_CHECK(
      config_.head_dim > 0 && config_.num_query_heads > 0 && config_.num_key_value_heads > 0,
      InvalidArgumentError,
      "`head_dim`, `num_query_heads` and `num_key_value_heads` must be positive. "
      "Received: head_dim={}, num_query_heads={}, num_key_value_heads={}",
      config_.head_dim, config_.num_query_heads, config_.num_key_value_heads);
  PLIMSOLL_CHECK(config_.num_query_heads % config_.num_key_value_heads == 0, InvalidArgumentError,
                 "`num_query_heads` must be divisible by `num_key_value_heads`. Received: "
                 "num_query_heads={}, num_key_value_heads={}",
                 config_.num_query_heads, config_.num_key_value_heads);
  PLIMSOLL_CHECK(!config_.sliding_window || *config_.sliding_window > 0, InvalidArgumentError,
                 "`sliding_window` must be `None` or a positive integer. Received: "
                 "sliding_window={}",
                 *config_.sliding_window);
  PLIMSOLL_CHECK(!config_.flash_attention.value_or(false) || config_.dropout == 0,
                 InvalidArgumentError,
                 "Dropout is not supported when flash attention is enabled. Please set dropout to "
                 "0.0 to use flash attention.");
  supports_masking_ = true;
}

std::vector<std::string> GroupQueryAttentionLayer::call_argument_names() const {
  return {"value", "key", "query_mask", "value_mask", "key_mask", "attention_mask"};
}

std::shared_ptr<EinsumDenseLayer> GroupQueryAttentionLayer::projection(
    const char* layer_name, const char* equation, std::vector<std::int64_t> output,
    const char* bias_axes, const Activation& activation) {
  EinsumDenseConfig config{.equation = equation,
                           .output_shape = {std::nullopt},
                           .activation = activation,
                           .kernel_initializer = config_.kernel_initializer,
                           .bias_initializer = config_.bias_initializer,
                           .kernel_regularizer = config_.kernel_regularizer,
                           .bias_regularizer = config_.bias_regularizer,
                           .kernel_constraint = config_.kernel_constraint,
                           .bias_constraint = config_.bias_constraint};
  config.output_shape.insert(config.output_shape.end(), output.begin(), output.end());
  if (config_.use_bias) config.bias_axes = bias_axes;
  return track(std::make_shared<EinsumDenseLayer>(
                   std::move(config), LayerOptions{.name = layer_name,
                                                   .dtype = dtype_policy(),
                                                   .activity_regularizer = activity_regularizer()}),
               "_" + projection_attribute(layer_name));
}

void GroupQueryAttentionLayer::build(const Shapes& input_shapes) {
  const PartialShape& query = input_shapes.leaf();
  const auto [value, key] = key_value_shapes(*this, named_shapes());
  PLIMSOLL_CHECK(query.rank() == 3 && query[-1] == value[-1], InvalidArgumentError,
                 "The last dimension of `query_shape` and `value_shape` must be equal, but are {}, "
                 "{}. Received: query_shape={}, value_shape={}",
                 query[-1], value[-1], query.to_string(), value.to_string());
  const std::int64_t heads = config_.num_query_heads, kv_heads = config_.num_key_value_heads,
                     dim = config_.head_dim;
  query_dense_ = projection("query", "bqm,muh->bquh", {heads, dim}, "uh");
  query_dense_->ensure_built(query);
  key_dense_ = projection("key", "bkm,mvh->bkvh", {kv_heads, dim}, "vh");
  key_dense_->ensure_built(key);
  if (config_.use_gate) {
    gate_dense_ = projection("gate", "bqm,muh->bquh", {heads, dim}, "uh", "sigmoid");
    gate_dense_->ensure_built(query);
  }
  value_dense_ = projection("value", "bkm,mvh->bkvh", {kv_heads, dim}, "vh");
  value_dense_->ensure_built(value);
  output_dense_ = projection("attention_output", "bquh,uhm->bqm", {query[-1]}, "m");
  output_dense_->ensure_built(PartialShape{query[0], query[1], heads, dim});
}

Nested GroupQueryAttentionLayer::call(const Nested& inputs, const CallArgs& args) {
  Tensor query_mask = named_tensor(args, "query_mask");
  if (!query_mask.is_valid()) query_mask = keras_mask(inputs.leaf().tensor());
  AttentionInputs in = attention_inputs(*this, inputs, args, query_mask);
  in.masks.sliding_window = config_.sliding_window;
  const bool wants_scores = args.option("return_attention_scores", false);
  PLIMSOLL_CHECK(!wants_scores || !config_.flash_attention.value_or(false), InvalidArgumentError,
                 "Returning attention scores is not supported when flash attention is enabled. "
                 "Please disable flash attention to access attention scores.");
  const Tensor query = (*query_dense_)(in.query);
  Tensor key = (*key_dense_)(in.key), value = (*value_dense_)(in.value);
  const double scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
  const double rate = args.is_training() ? config_.dropout : 0;
  Tensor made, scores;
  if (wants_scores) {
    const std::int64_t group = config_.num_query_heads / config_.num_key_value_heads;
    key = repeat(key, group, 2);
    value = repeat(value, group, 2);
    const Tensor mask = full_mask(in.masks, query.shape()[1], value.shape()[1]);
    scores = masked_softmax(einsum("bquh,bkuh->buqk", {query * scale, key}), mask, 1);
    const Tensor kept = rate > 0 ? nn::dropout(scores, rate, config_.seed) : scores;
    made = einsum("buqk,bkuh->bquh", {kept, value});
  } else {
    made = attend(query, key, value, in.masks,
                  {.scale = scale,
                   .dropout = rate,
                   .seed = config_.seed,
                   .means_empty_rows = config_.dropout == 0});
  }
  if (gate_dense_) made = made * Tensor((*gate_dense_)(in.query));
  const Tensor output = (*output_dense_)(made);
  if (wants_scores) return {output, scores};
  return output;
}

}  // namespace plimsoll::keras
