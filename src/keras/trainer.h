// What a compiled model has beside its layers: optimizer, losses, metrics, and the functions that
// run a step.
#pragma once

#include <optional>
#include <vector>

#include "keras/compile_utils.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

// {x, y, sample_weight} flattened, and the way back. Two batches of one layout run the same
// function.
class BatchLayout {
 public:
  explicit BatchLayout(const Nested& batch);
  static std::vector<Tensor> flatten(const Nested& batch);
  Nested unflatten(std::span<const Tensor> flat) const;
  bool matches(const Nested& batch) const;

 private:
  Nest<int> shape_;  // leaves are positions
};

enum class StepKind { kTrain, kTest, kPredict };

// A step of one kind for batches of one layout.
struct StepFunction {
  BatchLayout layout;
  std::shared_ptr<std::vector<std::string>> names;  // of what it returns, known once it is traced
  std::shared_ptr<Nest<int>> result_layout;         // of predictions
  Function function;
};

struct TrainerState {
  explicit TrainerState(CompileOptions given);

  CompileOptions options;
  OptimizerPtr optimizer;
  CompileLoss loss;
  CompileMetrics metrics;
  std::shared_ptr<MeanMetric> loss_tracker;
  std::optional<StepFunction> steps[3];  // by kind
  std::vector<VariablePtr> trained;      // when the training step was made

  // The function for a batch; made anew if the layout has changed, or, looked at closely, what is
  // built or trained.
  StepFunction& step_for(Model& model, StepKind kind, const Nested& batch, bool is_close = true);
  // Runs it and reads the values. pre: step_for has looked closely since the model changed.
  Logs run(Model& model, StepKind kind, const Nested& batch);
  Nested run_predict(Model& model, const Nested& batch);
  // Builds the model, if need be, for such a batch, and the optimizer.
  void build(Model& model, const Nested& batch, bool for_training);

 private:
  StepFunction make_step(Model& model, StepKind kind, const Nested& batch);
};

// The state of models that were not compiled, for predict.
TrainerState& predictor_of(Model& model);

Logs to_logs(const StepLogs& logs);

}  // namespace plimsoll::keras
