#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

std::vector<SlotSpec> RMSpropOptimizer::slots(const Variable&) const {
  std::vector<SlotSpec> specs{{.name = "velocity"}};
  if (config_.momentum > 0) specs.push_back({.name = "momentum", .group = 1});
  if (config_.centered) specs.push_back({.name = "average_gradient", .group = 2});
  return specs;
}
void RMSpropOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                              const Tensor& learning_rate) {
  const double rho = config_.rho;
  Variable& velocity = *slots[0];
  velocity.assign(rho * velocity + (1 - rho) * square(gradient));
  Tensor denominator = velocity + config_.epsilon;
  if (config_.centered) {
    Variable& average = *slots.back();
    average.assign(rho * average + (1 - rho) * gradient);
    denominator = velocity - square(average) + config_.epsilon;
  }
  const Tensor increment = learning_rate * gradient / sqrt(denominator);
  if (config_.momentum <= 0) return variable.assign_sub(increment);
  Variable& momentum = *slots[1];
  momentum.assign(config_.momentum * momentum + increment);
  variable.assign_sub(momentum);
}

std::vector<SlotSpec> AdagradOptimizer::slots(const Variable&) const {
  return {{.name = "accumulator", .initial_value = config_.initial_accumulator_value}};
}
void AdagradOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                              const Tensor& learning_rate) {
  Variable& sum = *slots[0];
  sum.assign_add(square(gradient));
  variable.assign_sub(learning_rate * gradient / sqrt(sum + config_.epsilon));
}

std::vector<SlotSpec> AdadeltaOptimizer::slots(const Variable&) const {
  return {{.name = "accumulated_grad"}, {.name = "accumulated_delta_var"}};
}
void AdadeltaOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                               const Tensor& learning_rate) {
  const double rho = config_.rho;
  const auto rms = [&](const Tensor& x) { return sqrt(x + config_.epsilon); };
  Variable& gradients = *slots[0];
  Variable& deltas = *slots[1];
  gradients.assign(rho * gradients + (1 - rho) * square(gradient));
  const Tensor delta = -(rms(deltas) * gradient / rms(gradients));
  deltas.assign(rho * deltas + (1 - rho) * square(delta));
  variable.assign_add(learning_rate * delta);
}

}  // namespace plimsoll::keras
