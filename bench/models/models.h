// The models of `scripts/bench models`, as training steps of Keras models: each is one tf::function
// of a batch and its labels that gives the loss and updates the weights.
//
//   Model model = make_model("resnet50", 16);
//   MemoryPlan plan = model.step.plan(model.input_specs);
//   Tensor loss = model.step(model.inputs)[0];
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/function.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::bench {

struct ModelInfo {
  std::string_view name;
  std::string_view what;  // for tables
  int batches[2];         // that are measured; 0: none
  bool has_dropout;       // losses are compared without it
};
std::span<const ModelInfo> all_models();

struct ModelOptions {
  std::string optimizer = "sgd";  // or "adam"
  double learning_rate = 0.001;
  bool dropout = true;            // where the model has it
  std::string dtype = "float32";  // the policy: mixed_bfloat16, mixed_float16
};

struct Model {
  keras::ModelPtr network;        // gives logits
  keras::OptimizerPtr optimizer;  // with its slots
  Function step;                  // inputs -> {loss}
  std::vector<Tensor> inputs;     // a batch and its labels, the same every time
  std::vector<TensorSpec> input_specs;
};

// memory: variables and slots (tags weights and optimizer) and a batch; nothing is traced yet.
// throws: InvalidArgumentError for an unknown name, of the optimizer or policy as well.
Model make_model(std::string_view name, int batch, const ModelOptions& options = {});

}  // namespace plimsoll::bench
