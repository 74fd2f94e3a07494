#include "models/models.h"

#include "models/networks.h"
#include "models/optimizers.h"
#include "models/values.h"
#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"

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
  Network network;
  Shape input;  // of one example
  std::int64_t num_classes;
};

Made make_network(std::string_view name, Weights& w, const ModelOptions& options) {
  if (name == "mlp") return {make_mlp(w), {784}, 10};
  if (name == "cnn") return {make_mnist_cnn(w, options.dropout ? 0.5 : 0), {28, 28, 1}, 10};
  if (name == "transformer") return {make_transformer_encoder(w), {128, 256}, 10};
  if (name == "lstm") return {make_lstm(w), {64, 128}, 10};
  if (name == "mobilenet_v2") return {make_mobilenet_v2(w), {224, 224, 3}, 1000};
  if (name == "resnet50") return {make_resnet50(w), {224, 224, 3}, 1000};
  std::string known;
  for (const ModelInfo& info : kModels) known += " " + std::string(info.name);
  throw InvalidArgumentError("no model is called '" + std::string(name) + "'; there are:" + known);
}

}  // namespace

std::span<const ModelInfo> all_models() {
  return kModels;
}

Model make_model(std::string_view name, int batch, const ModelOptions& options) {
  const auto weights = std::make_shared<Weights>();
  const Made made = make_network(name, *weights, options);
  const Optimizer optimizer = make_optimizer(options.optimizer, *weights);
  const auto body = [weights, network = made.network,
                     optimizer](std::span<const Tensor> in) -> std::vector<Tensor> {
    GradientTape tape;
    const Tensor logits = network(in[0]);
    const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(in[1], logits));
    const std::vector<const Variable*> trained = weights->trainable();
    optimizer(tape.gradient(loss, trained));
    return {loss};
  };
  std::vector<std::int64_t> dims{batch};
  dims.insert(dims.end(), made.input.dims().begin(), made.input.dims().end());
  std::vector<Tensor> inputs{uniform_values("x", Shape(dims), 1),
                             label_values("labels", batch, made.num_classes)};
  std::vector<TensorSpec> specs;
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape()});
  return {weights, Function(body, {.name = std::string(name)}), std::move(inputs),
          std::move(specs)};
}

}  // namespace plimsoll::bench
