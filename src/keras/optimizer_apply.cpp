#include <algorithm>
#include <regex>

#include <fmt/ranges.h>

#include "base/check.h"
#include "base/log.h"
#include "keras/losses_util.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/optimizer.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

bool is_set(const std::optional<double>& value) {
  return value && *value > 0;
}

Tensor clip_by_norm(const Tensor& gradient, double norm) {
  const Tensor sum = reduce_sum(square(gradient));
  const Tensor limit = fill({}, norm, gradient.dtype());
  return gradient * norm / maximum(sqrt(sum), limit);
}

// steps / period, rounded down, for less than 2^23 periods. An integer division could fail, and in
// a function no variable is written before the last op that could.
Tensor floor_divide(const Tensor& steps, std::int64_t period) {
  const auto n = static_cast<double>(period);
  const Tensor guess = cast(floor(cast(steps, float32) / n), steps.dtype());
  const Tensor rest = steps - guess * n;
  const Tensor zero = zeros({}, steps.dtype()), limit = fill({}, n, steps.dtype());
  return guess + cast(greater_equal(rest, limit), steps.dtype()) -
         cast(less(rest, zero), steps.dtype());
}

Tensor is_multiple(const Tensor& steps, std::int64_t period) {
  return equal(floor_divide(steps, period) * static_cast<double>(period), steps);
}

}  // namespace

void Optimizer::run_if(const Tensor& condition, const std::function<void()>& body) {
  if (current_trace) {
    const ConditionalAssignScope only_then(condition);
    body();
  } else if (condition.item<bool>()) {
    body();
  }
}

void Optimizer::apply(std::span<const Tensor> gradients, std::span<const VariablePtr> variables) {
  PLIMSOLL_CHECK(gradients.size() == variables.size(), InvalidArgumentError,
                 "apply of '{}' received {} gradients for {} variables", name(), gradients.size(),
                 variables.size());
  build(variables);
  std::vector<Tensor> all(trainable_.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto found = std::ranges::find(trainable_, variables[i]);
    all[static_cast<std::size_t>(found - trainable_.begin())] = gradients[i];
  }
  apply(all);
}

void Optimizer::apply(std::span<const Tensor> gradients) {
  if (gradients.empty()) return;
  PLIMSOLL_CHECK(built_, FailedPreconditionError,
                 "When passing `grads` without `variables`, the optimizer must already be built on "
                 "a list of variables. Call `optimizer.build(trainable_variables)` first.");
  PLIMSOLL_CHECK(gradients.size() == trainable_.size(), InvalidArgumentError,
                 "When passing `grads` as a list of gradient tensors, the gradients must match "
                 "`optimizer.variables` one-to-one. Received a list of {} gradients, but the "
                 "optimizer is tracking {} trainable variables.",
                 gradients.size(), trainable_.size());
  const name_scope scope(name());
  const AutocastScope own_types(std::nullopt);
  std::vector<Update> updates = present(gradients);
  overwrite(updates);
  if (!updates.empty()) {
    if (options_.loss_scale_factor) {
      for (Update& u : updates) u.gradient = u.gradient / *options_.loss_scale_factor;
    }
    if (options_.gradient_accumulation_steps) {
      accumulate(updates);
    } else {
      update_all(updates);
    }
    average();
    for (const Update& u : updates) {
      Variable& v = *trainable_[u.index];
      if (v.constraint()) v.assign((*v.constraint())(v));
    }
  }
  iterations_->assign_add(ones({}, int64));
}

std::vector<Optimizer::Update> Optimizer::present(std::span<const Tensor> gradients) const {
  std::vector<Update> updates;
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Variable& v = *trainable_[i];
    if (!gradients[i].is_valid()) {
      missing.push_back(v.path().empty() ? v.name() : v.path());
      continue;
    }
    PLIMSOLL_CHECK(gradients[i].shape() == v.shape(), InvalidArgumentError,
                   "the gradient of variable '{}' has shape {}, the variable {}", v.path(),
                   gradients[i].shape().to_string(), v.shape().to_string());
    updates.push_back({gradients[i], i});
  }
  PLIMSOLL_CHECK(!updates.empty(), InvalidArgumentError, "No gradients provided for any variable.");
  if (!missing.empty()) {
    log_once(LogLevel::kWarning,
             fmt::format("Gradients do not exist for variables ['{}'] when minimizing the loss. If "
                         "using `model.compile()`, did you forget to provide a `loss` argument?",
                         fmt::join(missing, "', '")));
  }
  return updates;
}

// Variables whose gradient is their next value.
void Optimizer::overwrite(std::vector<Update>& updates) {
  for (const Update& u : updates) {
    Variable& v = *trainable_[u.index];
    if (!v.overwrite_with_gradient) continue;
    if (const auto steps = options_.gradient_accumulation_steps) {
      Variable& sum = *accumulators_[u.index];
      const Tensor last = is_multiple(iterations_->value() + 1.0, *steps);
      const Tensor largest = maximum(u.gradient, sum);
      v.assign(where(last, largest, v));
      sum.assign(where(last, zeros_like(largest), largest));
    } else {
      v.assign(u.gradient);
    }
  }
  std::erase_if(updates,
                [&](const Update& u) { return trainable_[u.index]->overwrite_with_gradient; });
}

// Gradients go into their sums at once, so that none is kept.
void Optimizer::accumulate(const std::vector<Update>& updates) {
  const std::int64_t steps = *options_.gradient_accumulation_steps;
  for (const Update& u : updates) accumulators_[u.index]->assign_add(u.gradient);
  const Tensor is_last = is_multiple(iterations_->value() + 1.0, steps);
  run_if(is_last, [&] {
    std::vector<Update> sums = updates;
    for (Update& u : sums)
      u.gradient = accumulators_[u.index]->value() / static_cast<double>(steps);
    update_all(std::move(sums));
  });
  for (const VariablePtr& sum : accumulators_)
    sum->assign(where(is_last, zeros({}, sum->dtype()), *sum));
}

void Optimizer::update_all(std::vector<Update> updates) {
  if (!is_set(options_.clipnorm) && is_set(options_.global_clipnorm)) {
    Tensor sum;
    for (const Update& u : updates) {
      const Tensor squares = reduce_sum(square(u.gradient));
      sum = sum.is_valid() ? sum + to_type(squares, sum.dtype()) : squares;
    }
    const Tensor norm = sqrt(sum);
    const double limit = *options_.global_clipnorm;
    // Norms that are not finite make everything nan.
    const Tensor scale =
        minimum(1.0 / norm, fill({}, 1 / limit, norm.dtype())) * limit + (norm - norm);
    for (Update& u : updates) u.gradient = u.gradient * to_type(scale, u.gradient.dtype());
  }
  begin_update();
  const Tensor rate = learning_rate();
  for (Update& u : updates) {
    Variable& v = *trainable_[u.index];
    if (is_set(options_.clipnorm)) {
      u.gradient = clip_by_norm(u.gradient, *options_.clipnorm);
    } else if (!is_set(options_.global_clipnorm) && is_set(options_.clipvalue)) {
      u.gradient = clip_by_value(u.gradient, -*options_.clipvalue, *options_.clipvalue);
    }
    const Tensor own_rate = to_type(rate, v.dtype());
    decay(v, own_rate);
    update(to_type(u.gradient, v.dtype()), v, slots_[u.index], own_rate);
    u.gradient = {};
  }
}

void Optimizer::decay(Variable& v, const Tensor& rate) {
  const std::optional<double> factor = weight_decay_of(v);
  if (!factor || std::ranges::find(not_decayed_, &v) != not_decayed_.end()) return;
  if (!not_decayed_names_.empty() && std::regex_search(v.name(), std::regex(not_decayed_names_)))
    return;
  v.assign_sub(v.value() * *factor * rate);
}

void Optimizer::exclude_from_weight_decay(std::span<const VariablePtr> variables,
                                          const std::vector<std::string>& names) {
  PLIMSOLL_CHECK(!built_, FailedPreconditionError,
                 "`exclude_from_weight_decay()` can only be configured before the optimizer is "
                 "built.");
  not_decayed_.clear();
  for (const VariablePtr& v : variables) not_decayed_.push_back(v.get());
  not_decayed_names_ = fmt::format("{}", fmt::join(names, "|"));
}

Tensor Optimizer::counted() const {
  const Tensor steps = iterations_->value();
  if (!options_.gradient_accumulation_steps) return steps;
  return floor_divide(steps, *options_.gradient_accumulation_steps);
}
Tensor Optimizer::step(DType dtype) const {
  return cast(counted() + 1.0, dtype);
}

void Optimizer::average() {
  if (!options_.use_ema) return;
  const Tensor count = counted();
  const Tensor is_later = not_equal(count, zeros_like(count));
  for (std::size_t i = 0; i < trainable_.size(); ++i) {
    if (!averages_[i]) continue;
    const Tensor momentum = cast(is_later, trainable_[i]->dtype()) * options_.ema_momentum;
    averages_[i]->assign(momentum * *averages_[i] + (1 - momentum) * *trainable_[i]);
  }
  if (const auto frequency = options_.ema_overwrite_frequency) {
    run_if(is_multiple(count + 1.0, *frequency), [&] { finalize_variable_values(); });
  }
}

void Optimizer::finalize_variable_values() {
  for (std::size_t i = 0; i < averages_.size(); ++i) {
    if (averages_[i]) trainable_[i]->assign(*averages_[i]);
  }
}

}  // namespace plimsoll::keras
