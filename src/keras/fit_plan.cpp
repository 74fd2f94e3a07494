#include "keras/fit_plan.h"

#include <algorithm>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"
#include "runtime/context.h"
#include "runtime/placement.h"
#include "runtime/variable_state.h"

namespace plimsoll::keras {
namespace {

std::uint64_t rounded(std::uint64_t nbytes) {
  return (nbytes + 63) / 64 * 64;  // as budgets count
}

std::vector<TensorSpec> specs_of(const Nested& form) {
  std::vector<TensorSpec> specs;
  form.for_each([&](const Value& v) { specs.push_back({v.dtype(), v.shape().with_unknown(1)}); });
  return specs;
}

std::uint64_t nbytes_of(const std::vector<TensorSpec>& specs) {
  std::uint64_t sum = 0;
  for (const TensorSpec& spec : specs)
    sum += rounded(static_cast<std::uint64_t>(spec.shape.num_elements() * dtype_size(spec.dtype)));
  return sum;
}

std::uint64_t nbytes_of(const std::vector<VariablePtr>& variables) {
  std::uint64_t sum = 0;
  for (const VariablePtr& v : variables) sum += rounded(static_cast<std::uint64_t>(v->nbytes()));
  return sum;
}

// A batch of a form, without memory: enough to make the step for it.
struct Step {
  MemoryPlan plan;
  std::uint64_t batch_bytes;
};
Step prepare(Model& model, TrainerState& state, StepKind kind, const Nested& form) {
  const std::vector<TensorSpec> specs = specs_of(form);
  return {state.step_for(model, kind, form).function.prepare(specs), nbytes_of(specs)};
}

struct Limit {
  std::uint64_t nbytes;
  std::string origin;
};
// The smallest of what compile says and what the device has.
Limit limit_of(const TrainerState& state, const memory::BudgetStats& device, std::uint64_t in_use,
               std::uint64_t available) {
  Limit limit{in_use + available,
              device.origin.empty() ? "limit of " + device.name : device.origin};
  if (!state.options.memory_budget.empty()) {
    const std::uint64_t own = parse_bytes(state.options.memory_budget);
    if (own < limit.nbytes) limit = {own, "memory_budget of compile"};
  }
  return limit;
}

Device& device_of(const Model& model) {
  const auto weights = model.weights();
  return weights.empty() ? place_value(DType::kFloat32, 0)
                         : *owner_of(weights[0]->raw().state()->value);
}

}  // namespace

FitPlan plan_steps(Model& model, TrainerState& state, const Feed& training,
                   const Feed* validation) {
  std::vector<Step> steps;
  for (const Nested& form : training.forms)
    steps.push_back(prepare(model, state, StepKind::kTrain, form));
  if (validation) {
    for (const Nested& form : validation->forms)
      steps.push_back(prepare(model, state, StepKind::kTest, form));
  }
  FitPlan plan;
  // Batches and arenas one at a time; small results stay with the step that made them.
  std::uint64_t results = 0;
  for (const Step& step : steps) {
    plan.batch_bytes = std::max(plan.batch_bytes, step.batch_bytes);
    plan.arena_bytes = std::max(plan.arena_bytes, rounded(step.plan.arena_bytes));
    results += step.plan.output_bytes;
    if (step.plan.peak_bytes >= plan.step.peak_bytes) plan.step = step.plan;
  }
  Device& device = device_of(model);
  const memory::BudgetStats now = device.budget().stats();
  plan.weights_bytes = nbytes_of(model.weights());
  if (state.optimizer) plan.optimizer_bytes = nbytes_of(state.optimizer->variables());
  const std::uint64_t taken =
      plan.arena_bytes + plan.batch_bytes + results + training.shuffle_bytes;
  plan.peak_bytes = now.in_use + taken;
  plan.other_bytes = plan.peak_bytes - plan.arena_bytes - plan.batch_bytes -
                     std::min(plan.peak_bytes, plan.weights_bytes + plan.optimizer_bytes);
  const Limit limit = limit_of(state, now, now.in_use, device.budget().available());
  plan.limit_bytes = limit.nbytes;
  plan.limit_origin = limit.origin;
  return plan;
}

std::string FitPlan::to_string() const {
  std::string text = fmt::format(
      "plan: peak {} of {} ({}): weights {}, optimizer {}, arena {}, batch {}, other {}",
      format_bytes(peak_bytes), format_bytes(limit_bytes), limit_origin,
      format_bytes(weights_bytes), format_bytes(optimizer_bytes), format_bytes(arena_bytes),
      format_bytes(batch_bytes), format_bytes(other_bytes));
  std::string done;
  std::uint64_t before = 0, after = 0;
  for (const PassReport& pass : step.passes) {
    if (!before) before = pass.peak_before;
    after = pass.peak_after;
  }
  if (before > after) text += fmt::format("; passes saved {}", format_bytes(before - after));
  return text;
}

void check_fits(Model& model, TrainerState& state, const FitPlan& plan, const Feed& training) {
  if (plan.peak_bytes <= plan.limit_bytes) return;
  const std::uint64_t fixed = plan.peak_bytes - plan.arena_bytes - plan.batch_bytes;
  std::string fits;
  if (!training.forms.empty()) {
    const Nested& form = training.forms[0];
    const std::int64_t batch = form.flatten()[0].shape()[0];
    const StepFunction& step = state.step_for(model, StepKind::kTrain, form);
    std::int64_t good = 0, bad = batch;
    std::uint64_t peak = 0;
    while (bad - good > 1) {
      const std::int64_t tried = good + (bad - good) / 2;
      const Nested smaller = form.map([&](const Value& v) {
        PartialShape shape = v.shape();
        shape[0] = tried;
        return Value(KerasTensor(std::move(shape), v.dtype(), "batch"));
      });
      const std::vector<TensorSpec> specs = specs_of(smaller);
      const std::uint64_t needed =
          fixed + rounded(step.function.plan(specs).arena_bytes) + nbytes_of(specs);
      (needed <= plan.limit_bytes ? good : bad) = tried;
      if (needed <= plan.limit_bytes) peak = needed;
    }
    fits = good ? fmt::format("\n  would fit: batch_size {} (peak {})", good, format_bytes(peak))
                : "\n  not even a batch_size of 1 would fit";
  }
  throw ResourceExhaustedError(
      fmt::format("fit of model '{}' needs {} at its peak, and the limit is {} ({})\n  weights {}, "
                  "optimizer {}, "
                  "arena of a step {}, batch {}, other {}{}",
                  model.name(), format_bytes(plan.peak_bytes), format_bytes(plan.limit_bytes),
                  plan.limit_origin, format_bytes(plan.weights_bytes),
                  format_bytes(plan.optimizer_bytes), format_bytes(plan.arena_bytes),
                  format_bytes(plan.batch_bytes), format_bytes(plan.other_bytes), fits));
}

}  // namespace plimsoll::keras
