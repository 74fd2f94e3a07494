#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// base^exponent, as a scalar of the exponent's type.
Tensor power(double base, const Tensor& exponent) {
  return pow(fill(Shape(), base, exponent.dtype()), exponent);
}

}  // namespace

std::vector<SlotSpec> AdamOptimizer::slots(const Variable&) const {
  std::vector<SlotSpec> specs{{.name = "momentum"}, {.name = "velocity"}};
  if (config_.amsgrad) specs.push_back({.name = "velocity_hat", .group = 1});
  return specs;
}

void AdamOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  const Tensor t = step(variable.dtype());
  const Tensor alpha =
      learning_rate * sqrt(1 - power(config_.beta_2, t)) / (1 - power(config_.beta_1, t));
  Variable& m = *slots[0];
  Variable& v = *slots[1];
  m.assign_add((gradient - m) * (1 - config_.beta_1));
  v.assign_add((square(gradient) - v) * (1 - config_.beta_2));
  if (config_.amsgrad) slots[2]->assign(maximum(*slots[2], v));
  const Tensor scale = config_.amsgrad ? slots[2]->value() : v.value();
  variable.assign_sub(m * alpha / (sqrt(scale) + config_.epsilon));
}

}  // namespace plimsoll::keras
