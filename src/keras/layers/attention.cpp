// Attention of one head, by product or by sum.
#include "plimsoll/keras/layers/attention.h"

#include "base/check.h"
#include "keras/layers/attention_util.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"MultiHeadAttention", make_layer_of_config<MultiHeadAttentionLayer>},
    {"GroupQueryAttention", make_layer_of_config<GroupQueryAttentionLayer>,
     "GroupedQueryAttention"},
    {"Attention", make_layer_of_config<AttentionLayer>},
    {"AdditiveAttention", make_layer_of_config<AdditiveAttentionLayer>},
};

template <class T>
void check_list(const Nest<T>& inputs, const char* class_name) {
  PLIMSOLL_CHECK(inputs.is_list(), InvalidArgumentError,
                 "{} layer must be called on a list of inputs, namely [query, value] or [query, "
                 "value, key]. Received one that is no list.",
                 class_name);
  PLIMSOLL_CHECK(inputs.size() == 2 || inputs.size() == 3, InvalidArgumentError,
                 "{} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, "
                 "value, key]. Received length: {}.",
                 class_name, inputs.size());
}

struct Inputs {
  Tensor query, value, key;
  Tensor query_mask, value_mask;  // may be empty
};
Inputs read_inputs(const Nested& inputs, const Nested& masks, const char* class_name) {
  check_list(inputs, class_name);
  Inputs in{.query = inputs[0],
            .value = inputs[1],
            .key = inputs[inputs.size() - 1],
            .query_mask = {},
            .value_mask = {}};
  if (masks.is_none()) return in;
  PLIMSOLL_CHECK(masks.is_list() && (masks.size() == 2 || masks.size() == 3), InvalidArgumentError,
                 "{} layer mask must be a list of length 2 or 3, namely [query_mask, value_mask]. "
                 "Received {}.",
                 class_name,
                 masks.is_list() ? fmt::format("a list of {}", masks.size()) : "no list");
  if (!masks[0].is_none()) in.query_mask = as_bool(masks[0]);
  if (!masks[1].is_none()) in.value_mask = as_bool(masks[1]);
  return in;
}

Tensor mask_queries(const Tensor& made, const Tensor& query_mask) {
  if (!query_mask.is_valid()) return made;
  return where(expand_dims(query_mask, -1), made, zeros({}, made.dtype()));
}

// Of scores that are there.
Nested apply_scores(Tensor scores, const Inputs& in, const CallArgs& args, double dropout,
                    ConfigSeed seed) {
  const AttentionMasks masks{.keys = in.value_mask,
                             .causal = args.option("use_causal_mask", false)};
  const Shape& s = scores.shape();
  if (const Tensor mask = full_mask(masks, s[s.rank() - 2], s[s.rank() - 1]); mask.is_valid()) {
    const double low = scores.dtype() == DType::kFloat16 ? 65504 : 1e9;
    scores = where(mask, scores, scores - low);
  }
  const Tensor weights = nn::softmax(scores);
  const Tensor kept =
      args.is_training() && dropout > 0 ? nn::dropout(weights, dropout, seed) : weights;
  const Tensor made = mask_queries(matmul(kept, in.value), in.query_mask);
  if (args.option("return_attention_scores", false)) return {made, weights};
  return made;
}

// query [..., tq, dim] + key [..., tk, dim] as [..., tq, tk, dim].
Tensor sums(const Inputs& in) {
  return expand_dims(in.query, -2) + expand_dims(in.key, -3);
}

Nested query_mask_of(const Nested& inputs, const Nested& mask, const char* class_name) {
  check_list(inputs, class_name);
  if (mask.is_none() || !mask.is_list() || mask.size() == 0 || mask[0].is_none()) return {};
  return mask[0];
}

}  // namespace

std::span<const ClassRow> attention_layers() {
  return kLayers;
}

void AttentionConfig::visit(ConfigVisitor& v) {
  v("use_scale", use_scale);
  v("score_mode", score_mode);
  v("dropout", dropout);
  v("seed", seed);
}

AttentionLayer::AttentionLayer(AttentionConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.score_mode == "dot" || config_.score_mode == "concat",
                 InvalidArgumentError,
                 "Invalid value for argument score_mode. Expected one of {{'dot', 'concat'}}. "
                 "Received: score_mode={}",
                 config_.score_mode);
  supports_masking_ = true;
}

void AttentionLayer::build(const Shapes& input_shapes) {
  check_list(input_shapes, kClassName);
  if (config_.use_scale) scale_ = add_weight({.name = "scale", .shape = {}, .initializer = "ones"});
  if (config_.score_mode == "concat")
    concat_score_weight_ =
        add_weight({.name = "concat_score_weight", .shape = {}, .initializer = "ones"});
}

Nested AttentionLayer::call(const Nested& inputs, const CallArgs& args) {
  Inputs in = read_inputs(inputs, args.mask, kClassName);
  if (config_.score_mode == "concat") {
    const Tensor sum = scale_ ? sums(in) * scale_->value() : sums(in);
    return apply_scores(reduce_sum(tanh(sum), {-1}) * concat_score_weight_->value(), in, args,
                        config_.dropout, config_.seed);
  }
  const bool wants_scores = args.option("return_attention_scores", false);
  if (wants_scores || in.query.rank() != 3) {
    Tensor scores = matmul(in.query, in.key, {.transpose_b = true});
    if (scale_) scores = scores * scale_->value();
    return apply_scores(scores, in, args, config_.dropout, config_.seed);
  }
  const Tensor query = scale_ ? in.query * scale_->value() : in.query;
  const AttentionMasks masks{.keys = in.value_mask,
                             .causal = args.option("use_causal_mask", false)};
  const Tensor made = attend(
      expand_dims(query, 2), expand_dims(in.key, 2), expand_dims(in.value, 2), masks,
      {.scale = 1.0, .dropout = args.is_training() ? config_.dropout : 0, .seed = config_.seed});
  return mask_queries(squeeze(made, {2}), in.query_mask);
}

Nested AttentionLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  return query_mask_of(inputs, mask, kClassName);
}

void AdditiveAttentionConfig::visit(ConfigVisitor& v) {
  v("use_scale", use_scale);
  v("dropout", dropout);
  v("seed", seed);
}

AdditiveAttentionLayer::AdditiveAttentionLayer(AdditiveAttentionConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
}

void AdditiveAttentionLayer::build(const Shapes& input_shapes) {
  check_list(input_shapes, kClassName);
  if (config_.use_scale)
    scale_ = add_weight(
        {.name = "scale", .shape = {input_shapes[0].leaf()[-1]}, .initializer = "glorot_uniform"});
}

Nested AdditiveAttentionLayer::call(const Nested& inputs, const CallArgs& args) {
  const Inputs in = read_inputs(inputs, args.mask, kClassName);
  const Tensor sum = tanh(sums(in));
  return apply_scores(reduce_sum(scale_ ? sum * scale_->value() : sum, {-1}), in, args,
                      config_.dropout, config_.seed);
}

Nested AdditiveAttentionLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  return query_mask_of(inputs, mask, kClassName);
}

}  // namespace plimsoll::keras
