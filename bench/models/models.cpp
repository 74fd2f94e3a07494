#include "models/models.h"

#include "models/networks.h"
#include "models/values.h"
#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::bench {
namespace {

constexpr ModelInfo kModels[] = {
    {"mlp", "MLP", {128, 0}, false},
    {"cnn", "MNIST CNN", {128, 0}, true},
    {"transformer", "transformer encoder", {32, 0}, false},
    {"lstm", "LSTM", {64, 0}, false},
    {"mobilenet_v2", "MobileNetV2", {32, 0}, false},
    {"resnet50", "ResNet-50", {16, 32}, false},
};

struct Made {
  keras::ModelPtr network;
  std::int64_t num_classes;
};

Made make_network(std::string_view name, const ModelOptions& options) {
  if (name == "mlp") return {make_mlp(), 10};
  if (name == "cnn") return {make_mnist_cnn(options.dropout ? 0.5 : 0), 10};
  if (name == "transformer") return {make_transformer_encoder(), 10};
  if (name == "lstm") return {make_lstm(), 10};
  if (name == "mobilenet_v2") return {make_mobilenet_v2(), 1000};
  if (name == "resnet50") return {make_resnet50(), 1000};
  std::string known;
  for (const ModelInfo& info : kModels) known += " " + std::string(info.name);
  throw InvalidArgumentError("no model is called '" + std::string(name) + "'; there are:" + known);
}

// SGD with momentum 0.9, or Adam; with a scaled loss where the policy needs it.
keras::OptimizerPtr make_optimizer(const ModelOptions& options) {
  keras::OptimizerPtr made;
  if (options.optimizer == "sgd") {
    made = keras::optimizers::SGD({.learning_rate = options.learning_rate, .momentum = 0.9});
  } else if (options.optimizer == "adam") {
    made = keras::optimizers::Adam({.learning_rate = options.learning_rate});
  } else {
    throw InvalidArgumentError("no optimizer is called '" + options.optimizer +
                               "'; there are: sgd, adam");
  }
  if (options.dtype == "mixed_float16")
    made = keras::optimizers::LossScaleOptimizer({.inner_optimizer = made});
  return made;
}

// Layers that are made while it lives have this policy.
class PolicyScope {
 public:
  explicit PolicyScope(const std::string& name) : outer_(keras::mixed_precision::global_policy()) {
    keras::mixed_precision::set_global_policy(name);
  }
  ~PolicyScope() { keras::mixed_precision::set_global_policy(outer_); }
  PolicyScope(const PolicyScope&) = delete;
  PolicyScope& operator=(const PolicyScope&) = delete;

 private:
  keras::DTypePolicy outer_;
};

Shape input_shape(const keras::Model& network, std::int64_t batch) {
  const auto* sequential = dynamic_cast<const keras::SequentialModel*>(&network);
  const auto& functional =
      sequential ? *sequential->functional() : dynamic_cast<const keras::FunctionalModel&>(network);
  return functional.inputs().leaf().shape().with_unknown(batch);
}

Tensor in_float32(const Tensor& x) {
  return x.dtype() == float32 ? x : cast(x, float32);
}

}  // namespace

std::span<const ModelInfo> all_models() {
  return kModels;
}

Model make_model(std::string_view name, int batch, const ModelOptions& options) {
  const PolicyScope policy(options.dtype);
  const Made made = make_network(name, options);
  const keras::ModelPtr network = made.network;
  network->set_name(std::string(name));
  network->set_path("");
  const keras::OptimizerPtr optimizer = make_optimizer(options);
  optimizer->build(network->trainable_weights());
  const auto body = [network, optimizer](std::span<const Tensor> in) -> std::vector<Tensor> {
    GradientTape tape;
    const Tensor logits = (*network)(in[0], {.training = true});
    const Tensor loss =
        reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(in[1], in_float32(logits)));
    std::vector<const Variable*> trained;
    for (const keras::VariablePtr& v : optimizer->trainable_variables())
      trained.push_back(&v->raw());
    optimizer->apply(tape.gradient(optimizer->scale_loss(loss), trained));
    return {loss};
  };
  std::vector<Tensor> inputs{uniform_values("x", input_shape(*network, batch), 1),
                             label_values("labels", batch, made.num_classes)};
  std::vector<TensorSpec> specs;
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape()});
  return {network, optimizer, Function(body, {.name = std::string(name)}), std::move(inputs),
          std::move(specs)};
}

}  // namespace plimsoll::bench
