// Heads: projections by EinsumDense, as Keras has them, around attention.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/layers/attention_util.h"
#include "plimsoll/keras/layers/attention.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

char letter(int i) {
  return static_cast<char>('a' + i);
}

// "abcd,bde->..." of scores and of what the values sum up to.
struct Equations {
  std::string scores, combine;
};
Equations attention_equations(int rank, const std::vector<std::int64_t>& axes) {
  const auto is_axis = [&](int i) { return std::ranges::find(axes, i) != axes.end(); };
  std::string target, source, product;
  int next = rank;
  for (int i = 0; i < rank; ++i) target += letter(i);
  for (int i = 0; i < rank; ++i)
    source += is_axis(i) ? letter(next++) : target[static_cast<std::size_t>(i)];
  for (int i = 0; i < rank - 1; ++i) {
    if (!is_axis(i)) product += target[static_cast<std::size_t>(i)];
  }
  for (const std::int64_t i : axes) product += target[static_cast<std::size_t>(i)];
  for (const std::int64_t i : axes) product += source[static_cast<std::size_t>(i)];
  return {source + "," + target + "->" + product, product + "," + source + "->" + target};
}

// [batch, ..., heads, dim] with one dimension where there are several or none.
Tensor with_one_time_axis(const Tensor& x) {
  const Shape& s = x.shape();
  return reshape(x, {s[0], -1, s[x.rank() - 2], s[x.rank() - 1]});
}

}  // namespace

void MultiHeadAttentionConfig::visit(ConfigVisitor& v) {
  v("num_heads", num_heads);
  v("key_dim", key_dim);
  v("value_dim", value_dim);
  v("dropout", dropout);
  v("use_bias", use_bias);
  v("use_gate", use_gate);
  v("output_shape", output_shape);
  v("attention_axes", attention_axes);
  v("sliding_window", sliding_window);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v("activity_regularizer", activity_regularizer);
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
  v("seed", seed);
  if (v.is_reading()) v("flash_attention", flash_attention);
}

namespace {

// Activities are those of the projections; the layer itself has no regularizer for its own.
LayerOptions without_activity(LayerOptions options) {
  options.activity_regularizer = {};
  return options;
}

}  // namespace

MultiHeadAttentionLayer::MultiHeadAttentionLayer(MultiHeadAttentionConfig config,
                                                 LayerOptions options)
    : Configured(std::move(config), without_activity(options)) {
  constexpr const char* kInvalid =
      "Received an invalid value for argument `{}`, expected a positive integer. Received: {}={}";
  if (!config_.activity_regularizer) config_.activity_regularizer = options.activity_regularizer;
  PLIMSOLL_CHECK(config_.num_heads > 0, InvalidArgumentError, kInvalid, "num_heads", "num_heads",
                 config_.num_heads);
  PLIMSOLL_CHECK(config_.key_dim > 0, InvalidArgumentError, kInvalid, "key_dim", "key_dim",
                 config_.key_dim);
  if (!config_.value_dim) config_.value_dim = config_.key_dim;
  PLIMSOLL_CHECK(*config_.value_dim > 0, InvalidArgumentError, kInvalid, "value_dim", "value_dim",
                 *config_.value_dim);
  PLIMSOLL_CHECK(!config_.sliding_window || *config_.sliding_window > 0, InvalidArgumentError,
                 "`sliding_window` must be `None` or a positive integer. Received: "
                 "sliding_window={}",
                 *config_.sliding_window);
  PLIMSOLL_CHECK(!config_.flash_attention.value_or(false) || config_.dropout == 0,
                 InvalidArgumentError,
                 "Dropout is not supported when flash attention is enabled. Please set dropout to "
                 "0.0 to use flash attention.");
  if (!config_.output_shape.is_none())
    config_.output_shape = Sizes(std::vector(config_.output_shape.values()));
  if (!config_.attention_axes.is_none())
    config_.attention_axes = Sizes(std::vector(config_.attention_axes.values()));
  supports_masking_ = true;
}

std::vector<std::string> MultiHeadAttentionLayer::call_argument_names() const {
  return {"value", "key", "query_mask", "value_mask", "key_mask", "attention_mask"};
}

// The last `bound_dims` dimensions of the input become `output`; the `free_dims` before them stay.
std::shared_ptr<EinsumDenseLayer> MultiHeadAttentionLayer::projection(
    const std::string& layer_name, int free_dims, int bound_dims,
    const std::vector<std::int64_t>& output, const Activation& activation) {
  std::string in, kernel, out, bias;
  int next = 0;
  for (; next < free_dims; ++next) in += letter(next);
  out = in;
  for (int i = 0; i < bound_dims; ++i) kernel += letter(next++);
  in += kernel;
  for (std::size_t i = 0; i < output.size(); ++i) bias += letter(next++);
  kernel += bias;
  out += bias;
  EinsumDenseConfig config{.equation = in + "," + kernel + "->" + out,
                           .activation = activation,
                           .kernel_initializer = config_.kernel_initializer,
                           .bias_initializer = config_.bias_initializer,
                           .kernel_regularizer = config_.kernel_regularizer,
                           .bias_regularizer = config_.bias_regularizer,
                           .kernel_constraint = config_.kernel_constraint,
                           .bias_constraint = config_.bias_constraint};
  config.output_shape.resize(static_cast<std::size_t>(free_dims) - 1);
  config.output_shape.insert(config.output_shape.end(), output.begin(), output.end());
  if (config_.use_bias) config.bias_axes = bias;
  return track(
      std::make_shared<EinsumDenseLayer>(
          std::move(config), LayerOptions{.name = layer_name,
                                          .dtype = dtype_policy(),
                                          .activity_regularizer = config_.activity_regularizer}),
      (layer_name == "gate" ? "_" : "") + projection_attribute(layer_name));
}

void MultiHeadAttentionLayer::build(const Shapes& input_shapes) {
  const PartialShape& query = input_shapes.leaf();
  const auto [value, key] = key_value_shapes(*this, named_shapes());
  const std::int64_t heads = config_.num_heads, value_dim = *config_.value_dim;
  const int query_free = query.rank() - 1;
  query_dense_ = projection("query", query_free, 1, {heads, config_.key_dim});
  query_dense_->ensure_built(query);
  key_dense_ = projection("key", key.rank() - 1, 1, {heads, config_.key_dim});
  key_dense_->ensure_built(key);
  if (config_.use_gate) {
    gate_dense_ = projection("gate", query_free, 1, {heads, value_dim}, "sigmoid");
    gate_dense_->ensure_built(query);
  }
  value_dense_ = projection("value", value.rank() - 1, 1, {heads, value_dim});
  value_dense_->ensure_built(value);

  const int rank = value.rank() + 1;  // of the projected value
  axes_ = config_.attention_axes.values();
  if (config_.attention_axes.is_none()) {
    for (int i = 1; i < rank - 2; ++i) axes_.push_back(i);
  }
  for (std::int64_t& axis : axes_) axis += axis < 0 ? rank - 1 : 0;
  config_.attention_axes = Sizes(axes_);

  const std::vector<std::int64_t> output = config_.output_shape.is_none()
                                               ? std::vector<std::int64_t>{query[-1]}
                                               : config_.output_shape.values();
  output_dense_ = projection("attention_output", query_free, 2, output);
  std::vector<std::int64_t> heads_shape(query.dims().begin(), query.dims().end() - 1);
  heads_shape.insert(heads_shape.end(), {heads, value_dim});
  output_dense_->ensure_built(PartialShape(std::move(heads_shape)));
}

// By einsum, with all scores.
Nested MultiHeadAttentionLayer::call_with_scores(Tensor query, const Tensor& key,
                                                 const Tensor& value, const AttentionMasks& masks,
                                                 bool training) const {
  const Equations equations = attention_equations(query.rank(), axes_);
  const Tensor mask = full_mask(masks, query.shape()[1], value.shape()[1]);
  query = query * (1 / std::sqrt(static_cast<double>(config_.key_dim)));
  const Tensor scores =
      masked_softmax(einsum(equations.scores, {key, query}), mask, static_cast<int>(axes_.size()));
  const Tensor kept =
      training && config_.dropout > 0 ? nn::dropout(scores, config_.dropout, config_.seed) : scores;
  return {einsum(equations.combine, {kept, value}), scores};
}

Nested MultiHeadAttentionLayer::call(const Nested& inputs, const CallArgs& args) {
  // As in Keras, the query's mask is the one that it carries, whatever was named.
  AttentionInputs in = attention_inputs(*this, inputs, args, keras_mask(inputs.leaf().tensor()));
  in.masks.sliding_window = config_.sliding_window;
  const bool wants_scores = args.option("return_attention_scores", false);
  PLIMSOLL_CHECK(!wants_scores || !config_.flash_attention.value_or(false), InvalidArgumentError,
                 "Returning attention scores is not supported when flash attention is enabled. "
                 "Please disable flash attention to access attention scores.");
  const Tensor query = (*query_dense_)(in.query), key = (*key_dense_)(in.key),
               value = (*value_dense_)(in.value);
  bool is_default = true;
  for (int i = 1; i < value.rank() - 2; ++i)
    is_default = is_default && std::ranges::find(axes_, i) != axes_.end();
  const bool is_flat = query.rank() == 4 && value.rank() == 4;
  Tensor made, scores;
  if (!wants_scores && is_default && query.rank() >= 4 && value.rank() >= 4 &&
      (is_flat || in.masks.is_none())) {
    made = attend(with_one_time_axis(query), with_one_time_axis(key), with_one_time_axis(value),
                  in.masks,
                  {.scale = 1 / std::sqrt(static_cast<double>(config_.key_dim)),
                   .dropout = args.is_training() ? config_.dropout : 0,
                   .seed = config_.seed,
                   .means_empty_rows = is_flat && config_.dropout == 0});
    if (!is_flat) {
      std::vector<std::int64_t> dims(query.shape().dims().begin(), query.shape().dims().end());
      dims.back() = *config_.value_dim;
      made = reshape(made, dims);
    }
  } else {
    const Nested both = call_with_scores(query, key, value, in.masks, args.is_training());
    made = both[0];
    scores = both[1];
  }
  if (gate_dense_) made = made * Tensor((*gate_dense_)(in.query));
  const Tensor output = (*output_dense_)(made);
  if (wants_scores) return {output, scores};
  return output;
}

}  // namespace plimsoll::keras
