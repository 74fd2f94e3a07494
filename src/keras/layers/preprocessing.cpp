#include "plimsoll/keras/layers/preprocessing.h"

#include "base/check.h"
#include "keras/layers/preprocessing_util.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// Its configuration has a type where other layers have a policy, and is not trainable.
std::shared_ptr<Object> make_discretization(const Json& config) {
  DiscretizationConfig read;
  LayerOptions options;
  ConfigVisitor v(config, DiscretizationConfig::kClassName);
  visit_layer_options(v, options);
  read.visit(v);
  v.finish();
  return std::make_shared<DiscretizationLayer>(std::move(read), std::move(options));
}

constexpr ClassRow kLayers[] = {
    {"Rescaling", make_layer_of_config<RescalingLayer>},
    {"Normalization", make_layer_of_config<NormalizationLayer>},
    {"CategoryEncoding", make_layer_of_config<CategoryEncodingLayer>},
    {"Discretization", make_discretization},
};

void flatten_numbers(const Json& json, std::vector<double>& values) {
  if (!json.is_array()) {
    values.push_back(json.as_double());
    return;
  }
  for (const Json& item : json.as_array()) flatten_numbers(item, values);
}

}  // namespace

std::span<const ClassRow> preprocessing_layers() {
  return kLayers;
}

Tensor to_tensor(const Json& json, DType dtype) {
  std::vector<double> values;
  std::vector<std::int64_t> dims;
  flatten_numbers(json, values);
  for (const Json* at = &json; at->is_array() && !at->as_array().empty(); at = &at->as_array()[0])
    dims.push_back(static_cast<std::int64_t>(at->as_array().size()));
  const Shape shape{std::span<const std::int64_t>(dims)};
  PLIMSOLL_CHECK(shape.num_elements() == static_cast<std::int64_t>(values.size()),
                 InvalidArgumentError, "lists of different lengths are no array: {}",
                 json.dump().substr(0, 200));
  return cast(constant(std::span<const double>(values), shape), dtype);
}

Tensor encode_categories(const Tensor& indices, const std::string& output_mode, std::int64_t depth,
                         DType dtype, const Tensor& weights) {
  if (output_mode == "int") return cast(indices, dtype);
  Tensor x = indices.rank() == 0 ? expand_dims(indices, 0) : indices;
  if (!is_integer(x.dtype())) x = cast(x, int32);
  const int axis = x.rank() - 1;
  if (output_mode == "one_hot") {
    if (x.rank() > 1 && x.shape()[axis] == 1) x = squeeze(x, {axis});
    return one_hot(x, depth, 1, 0, -1, dtype);
  }
  const std::int64_t reduced = x.rank() > 1 ? 1 : 0;
  const Tensor hot = one_hot(x, depth, 1, 0, -1, dtype);
  if (output_mode == "multi_hot") return reduce_max(hot, {reduced});
  return reduce_sum(weights.is_valid() ? hot * expand_dims(cast(weights, dtype), -1) : hot,
                    {reduced});
}

void RescalingConfig::visit(ConfigVisitor& v) {
  v("scale", scale);
  v("offset", offset);
}

RescalingLayer::RescalingLayer(RescalingConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  supports_masking_ = true;
  to_tensor(config_.scale, DType::kFloat32);  // that they are numbers
  to_tensor(config_.offset, DType::kFloat32);
}

Nested RescalingLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor x = cast(inputs.leaf().tensor(), compute_dtype());
  if (config_.scale.is_number() && config_.offset.is_number())
    return x * config_.scale.as_double() + config_.offset.as_double();
  return x * to_tensor(config_.scale, compute_dtype()) + to_tensor(config_.offset, compute_dtype());
}

void CategoryEncodingConfig::visit(ConfigVisitor& v) {
  v("num_tokens", num_tokens);
  v("output_mode", output_mode);
  if (v.is_reading()) v.constant("sparse", false);
}

CategoryEncodingLayer::CategoryEncodingLayer(CategoryEncodingConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  std::string& mode = config_.output_mode;
  if (mode == "binary") mode = "multi_hot";
  PLIMSOLL_CHECK(mode == "count" || mode == "one_hot" || mode == "multi_hot", InvalidArgumentError,
                 "Unknown arg for output_mode: {}", mode);
  PLIMSOLL_CHECK(config_.num_tokens >= 1, InvalidArgumentError,
                 "`num_tokens` must be >= 1. Received: num_tokens={}.", config_.num_tokens);
  autocast_ = false;
}

Nested CategoryEncodingLayer::call(const Nested& inputs, const CallArgs& args) {
  const Nested* given = args.find("count_weights");
  const Tensor weights = given && !given->is_none() ? given->leaf().tensor() : Tensor();
  PLIMSOLL_CHECK(!weights.is_valid() || config_.output_mode == "count", InvalidArgumentError,
                 "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                 "`count_weights` of shape {} with output_mode={}.",
                 PartialShape(weights.shape()).to_string(), config_.output_mode);
  return encode_categories(inputs, config_.output_mode, config_.num_tokens, variable_dtype(),
                           weights);
}

}  // namespace plimsoll::keras
