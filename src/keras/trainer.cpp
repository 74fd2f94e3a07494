#include "keras/trainer.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/layers/lookup.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

constexpr std::string_view kStepNames[] = {"train_step", "test_step", "predict_step"};

double to_double(const Tensor& t) {
  if (t.dtype() == DType::kFloat32 && t.num_elements() == 1) return t.to_vector<float>()[0];
  const Tensor value = t.dtype() == DType::kFloat64 ? t : cast(t, float64);
  return value.num_elements() == 1 ? value.to_vector<double>()[0]
                                   : reduce_mean(value).item<double>();
}

bool same_form(const Nest<int>& a, const Nested& b) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.is_leaf() || b.is_leaf()) return a.is_leaf() && b.is_leaf();
  if (a.is_list() != b.is_list() || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a.is_dict() && a.dict()[i].first != b.dict()[i].first) return false;
    if (!same_form(a[i], b[i])) return false;
  }
  return true;
}

// Whether there are layers in it that look words up, which functions cannot.
bool is_for_host(const Model& model) {
  return std::ranges::any_of(model.flatten_layers(), [](const Layer* layer) {
    return dynamic_cast<const TextVectorizationLayer*>(layer) ||
           dynamic_cast<const LookupLayer<StringLookupConfig>*>(layer) ||
           dynamic_cast<const LookupLayer<IntegerLookupConfig>*>(layer);
  });
}

// Keras sorts the names of logs.
void sort_logs(StepLogs& logs) {
  std::ranges::sort(logs, {}, [](const auto& row) { return row.first; });
}

}  // namespace

BatchLayout::BatchLayout(const Nested& batch) {
  int next = 0;
  shape_ = batch.map([&](const Value&) { return next++; });
}
std::vector<Tensor> BatchLayout::flatten(const Nested& batch) {
  std::vector<Tensor> flat;
  batch.for_each([&](const Value& v) { flat.push_back(v.tensor()); });
  return flat;
}
Nested BatchLayout::unflatten(std::span<const Tensor> flat) const {
  return shape_.map([&](int i) { return Value(flat[static_cast<std::size_t>(i)]); });
}
bool BatchLayout::matches(const Nested& batch) const {
  return same_form(shape_, batch);
}

Logs to_logs(const StepLogs& logs) {
  Logs values;
  for (const auto& [name, tensor] : logs) values.emplace_back(name, to_double(tensor));
  return values;
}

TrainerState::TrainerState(CompileOptions given)
    : options(std::move(given)),
      optimizer(options.optimizer.ptr()),
      loss(options.loss, options.loss_weights),
      metrics(options.metrics, options.weighted_metrics),
      loss_tracker(std::make_shared<MeanMetric>(MeanConfig{}, MetricOptions{"loss"})) {}

void TrainerState::build(Model& model, const Nested& batch, bool for_training) {
  const auto is_unbuilt = [](const Layer* layer) { return !layer->built(); };
  const Nested& x = batch[0];
  model.ensure_built(shapes_of(x));
  // Layers inside may have to see their inputs. A model whose layers are all there may be without a
  // `call`, and have steps of its own.
  if (std::ranges::any_of(model.flatten_layers(), is_unbuilt))
    model.compute_output_spec(x, {.training = for_training});
  model.set_path("");
  if (for_training && optimizer && !optimizer->built()) optimizer->build(model.trainable_weights());
}

StepFunction TrainerState::make_step(Model& model, StepKind kind, const Nested& batch) {
  auto names = std::make_shared<std::vector<std::string>>();
  auto result_layout = std::make_shared<Nest<int>>();
  const BatchLayout layout(batch);
  const auto body = [&model, kind, layout, names,
                     result_layout](std::span<const Tensor> in) -> std::vector<Tensor> {
    const Nested data = layout.unflatten(in);
    std::vector<Tensor> out;
    if (kind == StepKind::kPredict) {
      const Nested predicted = model.predict_step(data);
      int next = 0;
      *result_layout = predicted.map([&](const Value& v) {
        out.push_back(v.tensor());
        return next++;
      });
      return out;
    }
    StepLogs logs = kind == StepKind::kTrain ? model.train_step(data) : model.test_step(data);
    sort_logs(logs);
    names->clear();
    for (auto& [name, value] : logs) {
      names->push_back(name);
      out.push_back(value.dtype() == DType::kFloat32 ? value : cast(value, float32));
    }
    return out;
  };
  const Function* partner = nullptr;
  for (const auto& other : steps) {
    if (other) partner = &other->function;
  }
  return {layout, names, result_layout,
          Function(body, {.name = std::string(kStepNames[static_cast<int>(kind)]),
                          .shares_arenas_with = partner})};
}

StepFunction& TrainerState::step_for(Model& model, StepKind kind, const Nested& batch,
                                     bool is_close) {
  auto& step = steps[static_cast<int>(kind)];
  if (!is_close && step && step->layout.matches(batch)) return *step;
  build(model, batch, kind == StepKind::kTrain);
  if (kind == StepKind::kTrain) {
    std::vector<VariablePtr> now = model.trainable_weights();
    if (now != trained) step.reset();  // what is trained has changed
    trained = std::move(now);
  }
  if (!step || !step->layout.matches(batch)) step.emplace(make_step(model, kind, batch));
  return *step;
}

Logs TrainerState::run(Model& model, StepKind kind, const Nested& batch) {
  if (options.run_eagerly) {
    build(model, batch, kind == StepKind::kTrain);
    StepLogs logs = kind == StepKind::kTrain ? model.train_step(batch) : model.test_step(batch);
    sort_logs(logs);
    return to_logs(logs);
  }
  const StepFunction& step = step_for(model, kind, batch, false);
  const std::vector<Tensor> results = step.function(BatchLayout::flatten(batch));
  Logs logs;
  for (std::size_t i = 0; i < results.size(); ++i)
    logs.emplace_back((*step.names)[i], to_double(results[i]));
  return logs;
}

Nested TrainerState::run_predict(Model& model, const Nested& batch) {
  if (options.run_eagerly || is_for_host(model)) return model.predict_step(batch);
  const StepFunction& step = step_for(model, StepKind::kPredict, batch, false);
  const std::vector<Tensor> results = step.function(BatchLayout::flatten(batch));
  return step.result_layout->map(
      [&](int i) { return Value(results[static_cast<std::size_t>(i)]); });
}

Model::Model(LayerOptions options) : Layer(std::move(options)) {}
Model::~Model() = default;

void Model::compile(CompileOptions options) {
  PLIMSOLL_CHECK(options.optimizer, InvalidArgumentError,
                 "compile of model '{}' needs an optimizer", name());
  if (!options.memory_budget.empty()) parse_bytes(options.memory_budget);
  // Options may serve several models: by name, each gets an optimizer of its own.
  if (options.optimizer.is_by_name())
    options.optimizer = Optimizer::get(serialize_keras_object(options.optimizer.get()));
  const bool is_half =
      dtype_policy().compute_dtype() == DType::kFloat16 ||
      std::ranges::any_of(flatten_layers(), [](const Layer* layer) {
        return layer->compute_dtype() == DType::kFloat16 && layer->dtype_policy().is_mixed();
      });
  if (options.auto_scale_loss && is_half &&
      !std::dynamic_pointer_cast<LossScaleOptimizer>(options.optimizer.ptr()))
    options.optimizer = std::make_shared<LossScaleOptimizer>(
        LossScaleOptimizerConfig{.inner_optimizer = options.optimizer});
  trainer_ = std::make_unique<TrainerState>(std::move(options));
}

bool Model::compiled() const noexcept {
  return trainer_ && trainer_->optimizer;
}

const CompileOptions& Model::compile_options() const {
  return trainer().options;
}

TrainerState& Model::trainer() const {
  PLIMSOLL_CHECK(compiled(), FailedPreconditionError,
                 "You must call `compile()` before using the model '{}'.", name());
  return *trainer_;
}

TrainerState& predictor_of(Model& model) {
  if (!model.trainer_)
    model.trainer_ = std::make_unique<TrainerState>(CompileOptions{.optimizer = nullptr});
  return *model.trainer_;
}

const std::shared_ptr<Optimizer>& Model::optimizer() const {
  return trainer().optimizer;
}

std::vector<MetricPtr> Model::model_metrics() const {
  const TrainerState& state = trainer();
  std::vector<MetricPtr> all{state.loss_tracker};
  for (const auto& tracker : state.loss.metrics()) {
    if (tracker) all.push_back(tracker);
  }
  for (const auto& row : state.metrics.rows()) all.push_back(row.metric);
  for (const MetricPtr& metric : metrics()) all.push_back(metric);
  return all;
}

void Model::reset_metrics() {
  for (const MetricPtr& metric : model_metrics()) metric->reset_state();
}

Tensor Model::compute_loss(const Nested&, const Nested& y, const Nested& y_pred,
                           const Nested& sample_weight) {
  TrainerState& state = trainer();
  Tensor total = state.loss(y, name_outputs(y_pred, output_names()), sample_weight);
  for (const Tensor& extra : losses()) {
    const Tensor value = extra.dtype() == DType::kFloat32 ? extra : cast(extra, float32);
    total = total.is_valid() ? total + value : value;
  }
  PLIMSOLL_CHECK(total.is_valid(), FailedPreconditionError,
                 "No loss to compute. Provide a `loss` argument in `compile()`.");
  return total;
}

StepLogs Model::compute_metrics(const Nested&, const Nested& y, const Nested& y_pred,
                                const Nested& sample_weight) {
  TrainerState& state = trainer();
  if (!y.is_none())
    state.metrics.update_state(y, name_outputs(y_pred, output_names()), sample_weight);
  StepLogs logs{{"loss", state.loss_tracker->result()}};
  for (const auto& tracker : state.loss.metrics()) {
    if (tracker) logs.emplace_back(tracker->name(), tracker->result());
  }
  for (const auto& row : state.metrics.rows()) logs.emplace_back(row.name, row.metric->result());
  for (const MetricPtr& metric : metrics()) logs.emplace_back(metric->name(), metric->result());
  return logs;
}

namespace {

double batch_of(const Nested& x) {
  return static_cast<double>(x.flatten()[0].tensor().shape()[0]);
}

}  // namespace

StepLogs Model::train_step(const Nested& data) {
  TrainerState& state = trainer();
  const Nested &x = data[0], &y = data[1], &weight = data[2];
  const std::vector<VariablePtr> trained = trainable_weights();
  GradientTape tape({.watch_accessed_variables = false});
  for (const VariablePtr& v : trained) tape.watch(v->raw());
  const Nested y_pred = (*this)(x, {.training = true});
  const Tensor loss = compute_loss(x, y, y_pred, weight);
  const Tensor target = state.optimizer->scale_loss(loss);
  // Before the gradients, so that nothing that metrics read is kept for them.
  StepLogs logs;
  {
    const auto pause = tape.stop_recording();
    state.loss_tracker->update_with(loss, fill(Shape(), batch_of(x)));
    logs = compute_metrics(x, y, y_pred, weight);
  }
  std::vector<const plimsoll::Variable*> sources;
  for (const VariablePtr& v : trained) sources.push_back(&v->raw());
  state.optimizer->apply(tape.gradient(target, sources), trained);
  return logs;
}

StepLogs Model::test_step(const Nested& data) {
  const Nested &x = data[0], &y = data[1], &weight = data[2];
  const Nested y_pred = (*this)(x, {.training = false});
  const Tensor loss = compute_loss(x, y, y_pred, weight);
  trainer().loss_tracker->update_with(loss, fill(Shape(), batch_of(x)));
  return compute_metrics(x, y, y_pred, weight);
}

Nested Model::predict_step(const Nested& data) {
  return (*this)(data[0], {.training = false});
}

}  // namespace plimsoll::keras
