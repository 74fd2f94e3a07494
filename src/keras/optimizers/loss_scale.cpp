#include "base/check.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

LossScaleOptimizer::LossScaleOptimizer(LossScaleOptimizerConfig config, OptimizerOptions options)
    : Configured(std::move(config), LearningRate(0), std::move(options)) {
  PLIMSOLL_CHECK(config_.inner_optimizer, InvalidArgumentError,
                 "LossScaleOptimizer needs an `inner_optimizer`");
  OptimizerOptions plain;
  plain.name = options_.name;
  LearningRate none = 0.0;
  Json mine, none_set;
  ConfigVisitor write(mine), write_plain(none_set);
  visit_optimizer_options(write, none, options_);
  visit_optimizer_options(write_plain, none, plain);
  for (const auto& [name, value] : mine.as_object()) {
    PLIMSOLL_CHECK(value == none_set.at(name), InvalidArgumentError,
                   "LossScaleOptimizer does not support `{}`. Instead, set `{}` on the "
                   "`inner_optimizer`.",
                   name, name);
  }
  config_.inner_optimizer->options_.loss_scale_factor.reset();
}

void LossScaleOptimizer::build_own(std::span<const VariablePtr> variables) {
  step_counter_ = add_variable(zeros({}, int64), "step_counter");
  dynamic_scale_ = add_variable(fill({}, config_.initial_scale), "dynamic_scale");
  config_.inner_optimizer->build(variables);
}

void LossScaleOptimizer::apply(std::span<const Tensor> gradients) {
  PLIMSOLL_CHECK(built(), FailedPreconditionError,
                 "When passing `grads` without `variables`, the optimizer must already be built on "
                 "a list of variables. Call `optimizer.build(trainable_variables)` first.");
  const name_scope scope(name());
  Tensor is_finite;
  for (const Tensor& g : gradients) {
    if (!g.is_valid()) continue;
    const Tensor one = reduce_all(math::is_finite(g));
    is_finite = is_finite.is_valid() ? logical_and(is_finite, one) : one;
  }
  PLIMSOLL_CHECK(is_finite.is_valid(), InvalidArgumentError,
                 "No gradients provided for any variable.");
  const Tensor scale = dynamic_scale_->value();
  run_if(is_finite, [&] {
    std::vector<Tensor> unscaled(gradients.begin(), gradients.end());
    for (std::size_t i = 0; i < unscaled.size(); ++i) {
      Tensor& g = unscaled[i];
      if (!g.is_valid() || trainable_variables()[i]->overwrite_with_gradient) continue;
      g = g / (g.dtype() == scale.dtype() ? scale : cast(scale, g.dtype()));
    }
    config_.inner_optimizer->apply(unscaled);
  });
  // Doubled after so many finite steps, halved after one that is not.
  const Tensor count = step_counter_->value(), none = zeros({}, int64);
  const Tensor last = fill({}, static_cast<double>(config_.dynamic_growth_steps - 1), int64);
  const Tensor doubles = logical_and(is_finite, equal(count, last));
  const Tensor counts = logical_and(is_finite, not_equal(count, last));
  step_counter_->assign(where(counts, count + 1, none));
  dynamic_scale_->assign(where(doubles, scale * 2, where(is_finite, scale, scale * 0.5)));
}

Tensor LossScaleOptimizer::scale_loss(const Tensor& loss) const {
  if (!built()) return loss * config_.initial_scale;
  const Tensor scale = dynamic_scale_->value();
  return loss * (loss.dtype() == scale.dtype() ? scale : cast(scale, loss.dtype()));
}

void LossScaleOptimizer::finalize_variable_values() {
  config_.inner_optimizer->finalize_variable_values();
}
Tensor LossScaleOptimizer::learning_rate() const {
  return config_.inner_optimizer->learning_rate();
}
void LossScaleOptimizer::set_learning_rate(double value) {
  config_.inner_optimizer->set_learning_rate(value);
}
std::int64_t LossScaleOptimizer::iterations() const {
  return config_.inner_optimizer->iterations();
}
std::vector<VariablePtr> LossScaleOptimizer::variables() const {
  std::vector<VariablePtr> all = Optimizer::variables();
  const std::vector<VariablePtr> inner = config_.inner_optimizer->variables();
  all.insert(all.end(), inner.begin(), inner.end());
  return all;
}

Json LossScaleOptimizer::get_config() const {
  Json config = Json::object({{"name", name()}});
  ConfigVisitor visitor(config);
  const_cast<LossScaleOptimizer*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

}  // namespace plimsoll::keras
