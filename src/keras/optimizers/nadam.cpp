#include "keras/optimizers/adam.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

std::vector<SlotSpec> NadamOptimizer::slots(const Variable&) const {
  return adam_slots(false);
}

void NadamOptimizer::build_own(std::span<const VariablePtr> variables) {
  u_product_ = add_variable(ones({}, variables[0]->dtype()), "u_product");
}

void NadamOptimizer::begin_update() {
  const Tensor t = step(u_product_->dtype());
  u_product_->assign(u_product_->value() * config_.beta_1 * (1 - 0.5 * power(0.96, t)));
}

void NadamOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                            const Tensor& learning_rate) {
  const Tensor t = step(variable.dtype());
  const Tensor u = config_.beta_1 * (1 - 0.5 * power(0.96, t));
  const Tensor u_next = config_.beta_1 * (1 - 0.5 * power(0.96, t + 1));
  const Tensor product = cast(u_product_->value(), variable.dtype());
  const Tensor product_next = product * u_next;
  Variable& m = *slots[0];
  Variable& v = *slots[1];
  update_average(m, gradient, config_.beta_1);
  update_average(v, square(gradient), config_.beta_2);
  const Tensor m_hat = u_next * m / (1 - product_next) + (1 - u) * gradient / (1 - product);
  const Tensor v_hat = v / (1 - power(config_.beta_2, t));
  variable.assign_sub(m_hat * learning_rate / (sqrt(v_hat) + config_.epsilon));
}

}  // namespace plimsoll::keras
