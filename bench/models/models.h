// The models of `scripts/bench models`, as training steps: each is one tf::function of a batch and
// its labels that gives the loss and updates the weights.
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

#include "models/layers.h"
#include "plimsoll/function.h"

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
  bool dropout = true;            // where the model has it
};

struct Model {
  std::shared_ptr<Weights> weights;  // variables, moving averages and the optimizer's slots
  Function step;                     // inputs -> {loss}
  std::vector<Tensor> inputs;        // a batch and its labels, the same every time
  std::vector<TensorSpec> input_specs;
};

// memory: variables and slots (tags weights and optimizer) and a batch; nothing is traced yet.
// throws: InvalidArgumentError for an unknown name.
Model make_model(std::string_view name, int batch, const ModelOptions& options = {});

}  // namespace plimsoll::bench
