#include "base/check.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

void check_positive(const char* name, double value) {
  PLIMSOLL_CHECK(value >= 0, InvalidArgumentError,
                 "`{}` needs to be positive or zero. Received: {}={}.", name, name, value);
}

}  // namespace

FtrlOptimizer::FtrlOptimizer(FtrlConfig config, OptimizerOptions options)
    : ConfiguredOptimizer(std::move(config), std::move(options)) {
  check_positive("initial_accumulator_value", config_.initial_accumulator_value);
  PLIMSOLL_CHECK(config_.learning_rate_power <= 0, InvalidArgumentError,
                 "`learning_rate_power` needs to be negative or zero. Received: "
                 "learning_rate_power={}.",
                 config_.learning_rate_power);
  check_positive("l1_regularization_strength", config_.l1_regularization_strength);
  check_positive("l2_regularization_strength", config_.l2_regularization_strength);
  check_positive("l2_shrinkage_regularization_strength",
                 config_.l2_shrinkage_regularization_strength);
}

std::vector<SlotSpec> FtrlOptimizer::slots(const Variable&) const {
  return {{.name = "accumulator", .initial_value = config_.initial_accumulator_value},
          {.name = "linear"}};
}

void FtrlOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  Variable& sum = *slots[0];
  Variable& linear = *slots[1];
  const Tensor exponent = fill({}, -config_.learning_rate_power, variable.dtype());
  const Tensor l2 = config_.l2_regularization_strength + config_.beta / (2.0 * learning_rate);
  const Tensor shrunk =
      gradient + 2 * config_.l2_shrinkage_regularization_strength * variable.value();
  const Tensor next_sum = sum + square(gradient);
  const Tensor next_power = pow(next_sum, exponent);
  linear.assign_add(shrunk - (next_power - pow(sum, exponent)) / learning_rate * variable);
  const Tensor quadratic = next_power / learning_rate + 2 * l2;
  const double l1 = config_.l1_regularization_strength;
  variable.assign((clip_by_value(linear, -l1, l1) - linear) / quadratic);
  sum.assign(next_sum);
}

}  // namespace plimsoll::keras
