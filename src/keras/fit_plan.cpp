#include "keras/fit_plan.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "data/node.h"
#include "keras/pipeline_plan.h"
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
std::string limit_origin_of(const memory::Budget& scope) {
  const memory::BudgetStats stats = scope.stats();
  return stats.origin.empty() ? "limit of " + stats.name : stats.origin;
}
// The smallest of what compile says, what the device has, what the process may hold, and what the
// scope of this thread leaves.
Limit limit_of(const TrainerState& state, const Device& on) {
  const memory::BudgetStats device = on.budget().stats();
  std::uint64_t room = on.budget().available();
  Limit limit{device.in_use + room, ""};
  if (const memory::Budget* scope = scope_budget(on); scope && scope->available() < room) {
    room = scope->available();
    limit = {device.in_use + room, limit_origin_of(*scope)};
  }
  for (const memory::BudgetStats& node :
       {device, Context::get().process_budget().stats(), Context::get().root_budget().stats()}) {
    if (limit.origin.empty() && node.limit - node.in_use <= room)
      limit.origin = node.origin.empty() ? "limit of " + node.name : node.origin;
  }
  if (limit.origin.empty()) limit.origin = "limits of " + device.name;
  if (!state.options.memory_budget.empty()) {
    const std::uint64_t own = parse_bytes(state.options.memory_budget);
    if (own < limit.nbytes) limit = {own, "memory_budget of compile"};
  }
  return limit;
}

Device& device_of(const Model& model) {
  const auto weights = model.weights();
  return weights.empty() ? place_value(DType::kFloat32, 0) : weights[0]->raw().state()->home();
}
bool is_on_host(const Model& model) {
  return &device_of(model) == &Context::get().cpu();
}

struct Held {
  memory::BudgetStats device;  // with the pipelines
  std::uint64_t without_pipelines;
};
// Threads of pipelines may be at work meanwhile: their bytes and the device's are of one moment.
Held held_now(Device& device, const Feed& training, const Feed* validation) {
  std::set<memory::BudgetScopeState*> scopes;
  for (const Feed* feed : {&training, validation}) {
    if (feed && feed->scope && &device == &Context::get().cpu()) scopes.insert(feed->scope.get());
  }
  const auto pipelines = [&] {
    std::uint64_t sum = 0;
    for (memory::BudgetScopeState* scope : scopes) sum += host_budget_of(*scope).in_use();
    return sum;
  };
  constexpr int kTries = 1000;
  for (int i = 0;; ++i) {
    const std::uint64_t before = pipelines();
    const memory::BudgetStats stats = device.budget().stats();
    if (pipelines() == before || i == kTries) return {stats, stats.in_use - before};
  }
}

}  // namespace

namespace {

// The steps of one kind: batches and arenas one at a time; small results stay with the step that
// made them.
struct Phase {
  std::uint64_t batch_bytes = 0, arena_bytes = 0, result_bytes = 0;
  // The most in the first round, where the results of the last step are there with its batch only.
  std::uint64_t first_bytes = 0;
};
// arena: what there is already.
Phase prepare_phase(Model& model, TrainerState& state, StepKind kind, const Feed& feed,
                    std::uint64_t arena, MemoryPlan& largest) {
  Phase phase;
  // What the dataset has anyway, as a cache does, costs nothing on the host.
  const data::Holds holds = feed.batches.node()->holds({.num_taken = feed.num_taken});
  const std::uint64_t there = is_on_host(model) ? holds.element - holds.given : 0;
  for (const Nested& form : feed.forms) {
    Step step = prepare(model, state, kind, form);
    step.batch_bytes -= std::min(step.batch_bytes, there);
    phase.batch_bytes = std::max(phase.batch_bytes, step.batch_bytes);
    phase.arena_bytes = std::max(phase.arena_bytes, rounded(step.plan.arena_bytes));
    phase.result_bytes += step.plan.output_bytes;
    phase.first_bytes = std::max(phase.first_bytes, std::max(arena, phase.arena_bytes) +
                                                        step.batch_bytes + phase.result_bytes);
    if (step.plan.peak_bytes >= largest.peak_bytes) largest = step.plan;
  }
  if (!feed.are_forms_in_order) {
    phase.first_bytes = std::max(arena, phase.arena_bytes) + phase.batch_bytes + phase.result_bytes;
  }
  return phase;
}

std::uint64_t without_values(const std::vector<VariablePtr>& variables) {
  std::uint64_t nbytes = 0;
  for (const VariablePtr& v : variables) {
    if (!v->has_value()) nbytes += rounded(static_cast<std::uint64_t>(v->nbytes()));
  }
  return nbytes;
}

// The most of several moments.
class Peak {
 public:
  void at(std::uint64_t nbytes, data::Trust trust) {
    is_bounded_ = is_bounded_ && trust != data::Trust::kAbout;
    if (nbytes > nbytes_) is_exact_ = false;
    nbytes_ = std::max(nbytes_, nbytes);
    is_exact_ = is_exact_ || (nbytes == nbytes_ && trust == data::Trust::kExact);
  }
  std::uint64_t nbytes() const { return nbytes_; }
  // One of the moments comes as it was said, and all others are no higher.
  bool is_exact() const { return is_exact_ && is_bounded_; }
  bool is_bounded() const { return is_bounded_; }

 private:
  std::uint64_t nbytes_ = 0;
  bool is_exact_ = true, is_bounded_ = true;
};

// What steps take at their most, without what datasets hold; batches are theirs.
struct Steps {
  std::uint64_t train_bytes = 0, test_bytes = 0;
};

// Goes through the epochs until nothing new comes. Adds to the plan what the datasets hold.
// reset_bytes: what it takes to begin with new metrics, before each run.
Peak peak_of_epochs(const Phase& train, const Phase* test, PipelinePlan& pipelines, bool on_host,
                    std::uint64_t reset_bytes, const Course& course, FitPlan& plan, Steps& steps) {
  Peak peak;
  // The arena keeps the size that it once had, and results stay: after a validation, an epoch of
  // training has them too.
  std::uint64_t arena = 0, results = 0;
  const auto run = [&](const Phase& phase, const PipelinePlan::Ahead& ahead, int num_before) {
    const std::uint64_t step =
        results + (num_before ? arena + phase.batch_bytes : phase.first_bytes);
    peak.at((on_host ? ahead.nbytes : 0) + step, ahead.trust);
    plan.pipeline_bytes = std::max(plan.pipeline_bytes, ahead.nbytes);
    arena = std::max(arena, phase.arena_bytes);
    results += num_before ? 0 : phase.result_bytes;
    return step - std::min(step, phase.batch_bytes);
  };
  const auto reset = [&] {
    const PipelinePlan::Ahead idle = on_host ? pipelines.idle() : PipelinePlan::Ahead();
    peak.at(idle.nbytes + arena + results + reset_bytes, idle.trust);
  };
  int num_trained = 0, num_tested = 0;
  for (std::int64_t epoch = course.first_epoch; epoch < course.end_epoch; ++epoch) {
    reset();
    const std::uint64_t trained = run(train, pipelines.train(), num_trained++);
    steps.train_bytes = std::max(steps.train_bytes, trained);
    if (test && course.validates_after(epoch)) {
      reset();
      const std::uint64_t tested = run(*test, pipelines.test(), num_tested++);
      steps.test_bytes = std::max(steps.test_bytes, tested);
    }
    if (num_trained > 1 && (!test || num_tested > 1)) break;
  }
  plan.cached_bytes = pipelines.cached_bytes();
  plan.has_open_cache = pipelines.has_open_cache();
  return peak;
}

// Metrics get new values for their variables, one after the other.
std::uint64_t reset_bytes_of(const Model& model) {
  std::uint64_t most = 0;
  for (const MetricPtr& metric : model.model_metrics()) {
    for (const VariablePtr& v : metric->variables())
      most = std::max(most, rounded(static_cast<std::uint64_t>(v->nbytes())));
  }
  return most;
}

FitPlan plan_at_depth(Model& model, TrainerState& state, const Feed& training,
                      const Feed* validation, const Course& course, StepKind kind,
                      data::Depth depth) {
  const bool trains = kind == StepKind::kTrain;
  // What earlier steps have kept for the next ones is planned anew.
  for (const auto& step : state.steps) {
    if (step) step->function.trim();
  }
  FitPlan plan;
  const Phase train = prepare_phase(model, state, kind, training, 0, plan.step);
  const Phase test = validation ? prepare_phase(model, state, StepKind::kTest, *validation,
                                                train.arena_bytes, plan.step)
                                : Phase();
  Device& device = device_of(model);
  const std::uint64_t now = held_now(device, training, validation).without_pipelines;
  plan.weights_bytes = nbytes_of(model.weights());
  // Of models that are shapes alone.
  std::uint64_t missing = without_values(model.weights());
  if (trains && state.optimizer) {
    plan.optimizer_bytes = nbytes_of(state.optimizer->variables());
    missing += without_values(state.optimizer->variables());
  }
  // The first step copies weights whose values somebody else holds.
  std::uint64_t copies = 0;
  for (const VariablePtr& v : model.trainable_weights()) {
    if (trains && !v->raw().state()->is_alone())
      copies += rounded(static_cast<std::uint64_t>(v->nbytes()));
  }
  const bool on_host = is_on_host(model);  // where datasets are
  PipelinePlan pipelines(depth, training, validation);
  Steps steps;
  const Peak peak =
      peak_of_epochs(train, validation ? &test : nullptr, pipelines, on_host,
                     kind == StepKind::kPredict ? 0 : reset_bytes_of(model), course, plan, steps);
  const data::Trust forms =
      std::max(training.forms_trust, validation ? validation->forms_trust : data::Trust::kExact);
  // In a scope of the user's, arenas go when a step is done.
  const bool keeps = !current_budget_scope || keeps_arenas(*current_budget_scope);
  plan.is_exact = peak.is_exact() && keeps && forms == data::Trust::kExact;
  plan.is_bounded = peak.is_bounded() && forms != data::Trust::kAbout;
  plan.arena_bytes = std::max(train.arena_bytes, test.arena_bytes);
  plan.batch_bytes = std::max(train.batch_bytes, test.batch_bytes);
  plan.peak_bytes = now + missing + copies + peak.nbytes();
  plan.other_bytes =
      plan.peak_bytes -
      std::min(plan.peak_bytes, plan.arena_bytes + plan.batch_bytes + plan.weights_bytes +
                                    plan.optimizer_bytes + (on_host ? plan.pipeline_bytes : 0));
  const Limit limit = limit_of(state, device);
  plan.limit_bytes = limit.nbytes;
  plan.limit_origin = limit.origin;
  const auto beside = [&](std::uint64_t step) {
    return limit.nbytes - std::min(limit.nbytes, now + missing + copies + step);
  };
  plan.training_room_bytes = beside(steps.train_bytes);
  plan.validation_room_bytes = beside(steps.test_bytes);
  return plan;
}

}  // namespace

FitPlan plan_steps(Model& model, TrainerState& state, const Feed& training, const Feed* validation,
                   const Course& course, StepKind kind) {
  FitPlan plan =
      plan_at_depth(model, state, training, validation, course, kind, data::Depth::kFull);
  if (plan.peak_bytes <= plan.limit_bytes || !is_on_host(model)) return plan;
  FitPlan least =
      plan_at_depth(model, state, training, validation, course, kind, data::Depth::kLeast);
  if (least.peak_bytes > least.limit_bytes || least.pipeline_bytes >= plan.pipeline_bytes)
    return least;
  least.pipeline_bytes += least.limit_bytes - least.peak_bytes;  // as much as there is room for
  least.peak_bytes = least.limit_bytes;
  least.is_exact = false;
  least.is_pipeline_cut = true;
  return least;
}

bool hold_to_room(const Model& model, const Feed& feed, std::uint64_t room_bytes) {
  if (!is_on_host(model) || !feed.scope) return true;
  set_host_limit(*feed.scope, std::min(room_bytes, memory::kNoLimit));
  return host_budget_of(*feed.scope).in_use() <= room_bytes;
}

HostRoom room_on_host(const Model& model, const TrainerState& state) {
  const Device& host = Context::get().cpu();
  const std::uint64_t in_use = host.budget().in_use();
  Limit limit{in_use + host_budget().available(), "limit of the host"};
  if (is_on_host(model)) limit = limit_of(state, host);
  return {limit.nbytes - std::min(limit.nbytes, in_use),
          fmt::format("in use {} of {} ({})", format_bytes(in_use), format_bytes(limit.nbytes),
                      limit.origin)};
}

std::string FitPlan::to_string() const {
  const char* trust = is_exact ? "" : is_bounded ? "at most " : "about ";
  std::string text =
      fmt::format("plan: peak {}{} of {} ({}): weights {}, optimizer {}, arena {}, batch {}, ",
                  trust, format_bytes(peak_bytes), format_bytes(limit_bytes), limit_origin,
                  format_bytes(weights_bytes), format_bytes(optimizer_bytes),
                  format_bytes(arena_bytes), format_bytes(batch_bytes));
  if (pipeline_bytes > 0 || has_open_cache) {
    text += fmt::format("dataset {}", format_bytes(pipeline_bytes));
    if (has_open_cache) {
      text += " (and what cache() will keep: the number of elements is not known)";
    } else if (cached_bytes > 0) {
      text += fmt::format(" (cached {})", format_bytes(cached_bytes));
    }
    if (is_pipeline_cut) text += " (fewer elements ahead: memory is short)";
    text += ", ";
  }
  text += fmt::format("other {}", format_bytes(other_bytes));
  std::string done;
  std::uint64_t before = 0, after = 0;
  for (const PassReport& pass : step.passes) {
    if (!before) before = pass.peak_before;
    after = pass.peak_after;
  }
  if (before > after) text += fmt::format("; passes saved {}", format_bytes(before - after));
  return text;
}

namespace {

// The largest batch whose arena fits beside what the plan has apart from arena and batch.
std::int64_t estimate_batch(Model& model, TrainerState& state, const FitPlan& plan,
                            const Nested& form) {
  const std::uint64_t fixed = plan.peak_bytes - plan.arena_bytes - plan.batch_bytes;
  const StepFunction& step = state.step_for(model, StepKind::kTrain, form);
  std::int64_t good = 0, bad = form.flatten()[0].shape()[0];
  while (bad - good > 1) {
    const std::int64_t tried = good + (bad - good) / 2;
    const std::vector<TensorSpec> specs = specs_of(with_rows(form, tried));
    const std::uint64_t needed =
        fixed + rounded(step.function.plan(specs).arena_bytes) + nbytes_of(specs);
    (needed <= plan.limit_bytes ? good : bad) = tried;
  }
  return good;
}

}  // namespace

void check_fits(Model& model, TrainerState& state, const FitPlan& plan, const Feed& training,
                const Feed* validation, const Course& course) {
  if (plan.peak_bytes <= plan.limit_bytes) return;
  // What was prepared for a batch that does not fit would stand in the way of a smaller one.
  const auto forget = [&] {
    for (auto& step : state.steps) step.reset();
  };
  std::string fits;
  if (!training.forms.empty()) {
    const Nested form = training.forms[0];
    std::int64_t batch = estimate_batch(model, state, plan, form);
    Feed smaller = training;
    // Planned in full, with the last batch of another size that it may have.
    const auto is_good = [&] {
      forget();
      smaller.forms = {with_rows(form, batch)};
      if (const std::int64_t rest = training.num_rows % batch; training.num_rows > 0 && rest > 0)
        smaller.forms.push_back(with_rows(form, rest));
      try {
        const FitPlan made = plan_steps(model, state, smaller, validation, course);
        if (made.peak_bytes > made.limit_bytes) return false;
        fits = fmt::format("\n  would fit: batch_size {} (peak {})", batch,
                           format_bytes(made.peak_bytes));
        return true;
      } catch (const ResourceExhaustedError&) {
        return false;
      }
    };
    while (batch > 0 && !is_good()) batch = batch * 7 / 8;
    if (fits.empty()) fits = "\n  not even a batch_size of 1 would fit";
  }
  if (plan.cached_bytes > 0 && plan.peak_bytes - plan.cached_bytes <= plan.limit_bytes) {
    fits += fmt::format(
        "\n  would fit: cache(filename), which keeps the {} that cache() keeps here in a file",
        format_bytes(plan.cached_bytes));
  }
  forget();
  throw ResourceExhaustedError(fmt::format(
      "fit of model '{}' needs {} at its peak, and the limit is {} ({})\n  weights {}, "
      "optimizer {}, "
      "arena of a step {}, batch {}, dataset {}, other {}{}",
      model.name(), format_bytes(plan.peak_bytes), format_bytes(plan.limit_bytes),
      plan.limit_origin, format_bytes(plan.weights_bytes), format_bytes(plan.optimizer_bytes),
      format_bytes(plan.arena_bytes), format_bytes(plan.batch_bytes),
      format_bytes(plan.pipeline_bytes), format_bytes(plan.other_bytes), fits));
}

}  // namespace plimsoll::keras
