// Plans of one batch, for which no data is needed.
#include "base/check.h"
#include "keras/fit_plan.h"

namespace plimsoll::keras {
namespace {

const FunctionalModel& graph_of(const Model& model) {
  const auto* functional = dynamic_cast<const FunctionalModel*>(&model);
  if (const auto* sequential = dynamic_cast<const SequentialModel*>(&model))
    functional = sequential->functional();
  PLIMSOLL_CHECK(
      functional, FailedPreconditionError,
      "model '{}' ({}) does not say what its inputs are: it cannot be planned from shapes "
      "alone. Give a Sequential its keras::Input, or use plan_fit with data",
      model.name(), model.class_name());
  return *functional;
}

KerasTensor batch_tensor(PartialShape shape, DType dtype) {
  return KerasTensor(std::move(shape), dtype, "batch");
}

Nested input_form(const FunctionalModel& model, const PlanOptions& options) {
  const std::size_t num = model.inputs().flatten().size(), given = options.input_shapes.size();
  PLIMSOLL_CHECK(given == 0 || given == num, InvalidArgumentError,
                 "model '{}' has {} inputs, received {} in input_shapes", model.name(), num, given);
  std::size_t next = 0;
  return model.inputs().map([&](const Value& v) {
    PartialShape shape = v.shape();
    const std::size_t i = next++;
    if (given) {
      const PartialShape& wanted = options.input_shapes[i];
      bool fits = wanted.rank() + 1 == shape.rank();
      for (int k = 0; fits && k < wanted.rank(); ++k) {
        fits = shape[k + 1] == kNone || shape[k + 1] == wanted[k];
        shape[k + 1] = wanted[k];
      }
      PLIMSOLL_CHECK(fits, InvalidArgumentError,
                     "input '{}' of model '{}' has shape {}; {} does not go with it",
                     v.symbolic().name(), model.name(), v.shape().to_string(), wanted.to_string());
    }
    PLIMSOLL_CHECK(shape[0] == kNone || shape[0] == options.batch_size, InvalidArgumentError,
                   "input '{}' of model '{}' takes batches of {}, received batch_size={}",
                   v.symbolic().name(), model.name(), shape[0], options.batch_size);
    shape[0] = options.batch_size;
    PLIMSOLL_CHECK(shape.is_known(), InvalidArgumentError,
                   "input '{}' of model '{}' has shape {}: say what is open there in input_shapes",
                   v.symbolic().name(), model.name(), v.shape().to_string());
    return Value(batch_tensor(std::move(shape), v.dtype()));
  });
}

// The loss of an output: by its name, by its position, or the same for all.
const Loss* loss_of(const LossSpec& spec, const std::string& name, std::size_t index) {
  if (spec.is_leaf()) return spec.leaf().get();
  if (spec.is_dict()) {
    const LossSpec* found = spec.find(name);
    return found && found->is_leaf() ? found->leaf().get() : nullptr;
  }
  return spec.is_list() && index < spec.size() && spec[index].is_leaf() ? spec[index].leaf().get()
                                                                        : nullptr;
}

// Labels as the losses read them: class numbers where the loss is a sparse one, else like the
// outputs.
Nested label_form(Model& model, const Nested& x, const TrainerState& state) {
  const std::vector<std::string> names = model.output_names();
  const Nested outputs = model.compute_output_spec(x, {.training = true});
  std::size_t next = 0;
  return outputs.map([&](const Value& v) {
    const std::size_t i = next++;
    const Loss* loss = loss_of(state.options.loss, i < names.size() ? names[i] : "", i);
    PartialShape shape = v.shape();
    if (!loss || !loss->class_name().starts_with("Sparse") || shape.rank() < 2)
      return Value(batch_tensor(std::move(shape), DType::kFloat32));
    return Value(batch_tensor(
        PartialShape(std::vector(shape.dims().begin(), shape.dims().end() - 1)), DType::kInt32));
  });
}

FitPlan plan_batch(Model& model, TrainerState& state, StepKind kind, const PlanOptions& options) {
  PLIMSOLL_CHECK(options.batch_size > 0, InvalidArgumentError,
                 "`batch_size` must be a positive integer. Received: batch_size={}",
                 options.batch_size);
  const Nested x = input_form(graph_of(model), options);
  const Nested y = kind == StepKind::kTrain ? label_form(model, x, state) : Nested();
  // What was prepared for another size is not needed beside it.
  for (auto& step : state.steps) step.reset();
  const Feed feed{.batches = data::Dataset::range(0),
                  .num_batches = 1,
                  .forms = {Nested::List{x, y, Nested()}},
                  .num_rows = options.batch_size};
  return plan_steps(model, state, feed, nullptr, {}, kind);
}

}  // namespace

FitPlan Model::plan_train(const PlanOptions& options) {
  return plan_batch(*this, trainer(), StepKind::kTrain, options);
}
FitPlan Model::plan_predict(const PlanOptions& options) {
  return plan_batch(*this, predictor_of(*this), StepKind::kPredict, options);
}

}  // namespace plimsoll::keras
