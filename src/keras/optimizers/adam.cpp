#include "keras/optimizers/adam.h"

#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

Tensor power(double base, const Tensor& exponent) {
  return pow(fill(Shape(), base, exponent.dtype()), exponent);
}

void update_average(Variable& average, const Tensor& value, double beta) {
  average.assign_add((value - average) * (1 - beta));
}

std::vector<SlotSpec> adam_slots(bool amsgrad) {
  std::vector<SlotSpec> specs{{.name = "momentum"}, {.name = "velocity"}};
  if (amsgrad) specs.push_back({.name = "velocity_hat", .group = 1});
  return specs;
}

void update_adam(const AdamNumbers& numbers, const Tensor& gradient, Variable& variable,
                 Slots slots, const Tensor& learning_rate, const Tensor& step) {
  const Tensor alpha =
      learning_rate * sqrt(1 - power(numbers.beta_2, step)) / (1 - power(numbers.beta_1, step));
  Variable& m = *slots[0];
  Variable& v = *slots[1];
  update_average(m, gradient, numbers.beta_1);
  update_average(v, square(gradient), numbers.beta_2);
  if (numbers.amsgrad) slots[2]->assign(maximum(*slots[2], v));
  const Tensor scale = numbers.amsgrad ? slots[2]->value() : v.value();
  variable.assign_sub(m * alpha / (sqrt(scale) + numbers.epsilon));
}

std::vector<SlotSpec> AdamOptimizer::slots(const Variable&) const {
  return adam_slots(config_.amsgrad);
}
void AdamOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  update_adam({config_.beta_1, config_.beta_2, config_.epsilon, config_.amsgrad}, gradient,
              variable, slots, learning_rate, step(variable.dtype()));
}

AdamWOptimizer::AdamWOptimizer(AdamWConfig config, OptimizerOptions options)
    : ConfiguredOptimizer(std::move(config), std::move(options)) {
  if (!options_.weight_decay) options_.weight_decay = 0.004;
}
std::vector<SlotSpec> AdamWOptimizer::slots(const Variable&) const {
  return adam_slots(config_.amsgrad);
}
void AdamWOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                            const Tensor& learning_rate) {
  update_adam({config_.beta_1, config_.beta_2, config_.epsilon, config_.amsgrad}, gradient,
              variable, slots, learning_rate, step(variable.dtype()));
}

std::vector<SlotSpec> AdamaxOptimizer::slots(const Variable&) const {
  return {{.name = "momentum"}, {.name = "norm"}};
}
void AdamaxOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                             const Tensor& learning_rate) {
  Variable& m = *slots[0];
  Variable& u = *slots[1];
  update_average(m, gradient, config_.beta_1);
  u.assign(maximum(config_.beta_2 * u, abs(gradient)));
  const Tensor correction = 1 - power(config_.beta_1, step(variable.dtype()));
  variable.assign_sub(learning_rate * m / (correction * (u + config_.epsilon)));
}

}  // namespace plimsoll::keras
