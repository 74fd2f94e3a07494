#include "plimsoll/keras/layers/core.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/node.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// Its configuration has the type of the input where other layers have their policy.
std::shared_ptr<Object> make_input_layer(const Json& config) {
  InputLayerConfig read;
  std::string name;
  ConfigVisitor v(config, InputLayerConfig::kClassName);
  read.visit(v);
  v("name", name);
  v.constant("optional", false);
  v.finish();
  return std::make_shared<InputLayer>(std::move(read), LayerOptions{.name = std::move(name)});
}

// Its function is Python.
std::shared_ptr<Object> refuse_lambda(const Json&) {
  throw InvalidArgumentError(
      "Requested the deserialization of a `Lambda` layer whose `function` is a Python lambda. This "
      "carries a potential risk of arbitrary code execution and thus it is disallowed; here there "
      "is no `safe_mode=False` either. Write the function as a class of its own, derived from "
      "keras::Layer, and register it with saving::register_keras_serializable");
}

constexpr ClassRow kLayers[] = {
    {"Dense", make_layer_of_config<DenseLayer>},
    {"EinsumDense", make_layer_of_config<EinsumDenseLayer>},
    {"Embedding", make_layer_of_config<EmbeddingLayer>},
    {"InputLayer", make_input_layer},
    {"Lambda", refuse_lambda},
    {"Masking", make_layer_of_config<MaskingLayer>},
    {"Identity", make_layer_of_config<IdentityLayer>},
};

}  // namespace

std::span<const ClassRow> core_layers() {
  return kLayers;
}

void InputLayerConfig::visit(ConfigVisitor& v) {
  v("batch_shape", batch_shape);
  v("dtype", dtype);
  v.constant("sparse", false);
  v.constant("ragged", false);
}

InputLayer::InputLayer(InputLayerConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  autocast_ = false;
  set_built(true);
}

Json InputLayer::get_config() const {
  Json config = Object::get_config();
  config["name"] = name();
  config["optional"] = false;
  return config;
}

Nested InputLayer::call(const Nested& inputs, const CallArgs&) {
  return inputs;
}

KerasTensor InputLayer::tensor() {
  for (const auto& weak : inbound_nodes()) {
    if (const auto node = weak.lock()) return node->output_tensor(node->outputs.leaf());
  }
  auto node = std::make_shared<Node>();
  node->layer = shared_from_this();
  node->outputs = OutputSpec{config_.batch_shape, config_.dtype, 0};
  add_node(node);
  return node->output_tensor(node->outputs.leaf());
}

KerasTensor Input(const PartialShape& shape, const InputOptions& options) {
  std::vector<std::int64_t> dims{options.batch_size.value_or(kNone)};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  const auto layer =
      std::make_shared<InputLayer>(InputLayerConfig{PartialShape(std::move(dims)), options.dtype},
                                   LayerOptions{.name = options.name});
  return layer->tensor();
}

void DenseConfig::visit(ConfigVisitor& v) {
  v("units", units);
  v("activation", activation);
  v("use_bias", use_bias);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
  v.constant("quantization_config", nullptr);
}

DenseLayer::DenseLayer(DenseConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.units > 0, InvalidArgumentError,
                 "Received an invalid value for `units`, expected a positive integer. Received: "
                 "units={}",
                 config_.units);
  input_spec = {{.min_ndim = 2}};
  supports_masking_ = true;
}

void DenseLayer::build(const Shapes& input_shapes) {
  const std::int64_t in = input_shapes.leaf()[-1];
  PLIMSOLL_CHECK(in != kNone, InvalidArgumentError,
                 "The last dimension of the inputs to layer '{}' has to be known. Received: "
                 "input_shape={}",
                 name(), input_shapes.leaf().to_string());
  kernel_ = add_weight({.name = "kernel",
                        .shape = {in, config_.units},
                        .initializer = config_.kernel_initializer,
                        .regularizer = config_.kernel_regularizer,
                        .constraint = config_.kernel_constraint});
  if (config_.use_bias)
    bias_ = add_weight({.name = "bias",
                        .shape = {config_.units},
                        .initializer = config_.bias_initializer,
                        .regularizer = config_.bias_regularizer,
                        .constraint = config_.bias_constraint});
  input_spec = {{.min_ndim = 2, .axes = {{-1, in}}}};
}

Nested DenseLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor y = matmul(inputs, *kernel_);
  if (bias_) y = nn::bias_add(y, *bias_);
  return config_.activation(y);
}

IdentityLayer::IdentityLayer(IdentityConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  supports_masking_ = true;
  set_built(true);
}

Nested IdentityLayer::call(const Nested& inputs, const CallArgs&) {
  return inputs;
}

}  // namespace plimsoll::keras
