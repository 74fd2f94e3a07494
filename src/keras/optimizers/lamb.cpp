#include "keras/optimizers/adam.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

std::vector<SlotSpec> LambOptimizer::slots(const Variable&) const {
  return adam_slots(false);
}
void LambOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  const Tensor t = step(variable.dtype());
  Variable& m = *slots[0];
  Variable& v = *slots[1];
  update_average(m, gradient, config_.beta_1);
  update_average(v, square(gradient), config_.beta_2);
  const Tensor m_hat = m / (1 - power(config_.beta_1, t));
  const Tensor v_hat = v / (1 - power(config_.beta_2, t));
  const Tensor change = m_hat / (sqrt(v_hat) + config_.epsilon);
  const Tensor w_norm = sqrt(reduce_sum(square(variable)));
  const Tensor g_norm = sqrt(reduce_sum(square(change)));
  const Tensor zero = zeros({}, variable.dtype()), one = ones({}, variable.dtype());
  const Tensor both = logical_and(greater(w_norm, zero), greater(g_norm, zero));
  variable.assign_sub(where(both, w_norm / g_norm, one) * learning_rate * change);
}

std::vector<SlotSpec> ScheduleFreeAdamWOptimizer::slots(const Variable&) const {
  return adam_slots(false);
}
void ScheduleFreeAdamWOptimizer::build_own(std::span<const VariablePtr> variables) {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (!variables[i]->overwrite_with_gradient) slots_of(i)[0]->assign(variables[i]->raw().value());
  }
}
void ScheduleFreeAdamWOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                                        const Tensor& learning_rate) {
  const Tensor t = step(variable.dtype()), one = ones({}, variable.dtype());
  const double beta_1 = config_.beta_1;
  Tensor rate = learning_rate;
  if (config_.warmup_steps > 0)
    rate = rate * minimum(t / static_cast<double>(config_.warmup_steps), one);
  Variable& z = *slots[0];
  Variable& velocity = *slots[1];
  update_average(velocity, square(gradient), config_.beta_2);
  const Tensor scale = sqrt(velocity / (1 - power(config_.beta_2, t))) + config_.epsilon;
  z.assign_sub(rate * gradient / scale);
  const Tensor weight = 1 / t;
  // By the new z, as Keras computes it on TensorFlow, where a variable's value follows it.
  const Tensor old_x = (variable - (1 - beta_1) * z) / beta_1;
  const Tensor x = (1 - weight) * old_x + weight * z;
  variable.assign((1 - beta_1) * z + beta_1 * x);
}

}  // namespace plimsoll::keras
