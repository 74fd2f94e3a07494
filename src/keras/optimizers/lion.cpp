#include "base/check.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

LionOptimizer::LionOptimizer(LionConfig config, OptimizerOptions options)
    : ConfiguredOptimizer(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.beta_1 > 0 && config_.beta_1 <= 1, InvalidArgumentError,
                 "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer "
                 "degenerates to SignSGD. Received: beta_1={}.",
                 config_.beta_1);
}

std::vector<SlotSpec> LionOptimizer::slots(const Variable&) const {
  return {{.name = "momentum"}};
}

void LionOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  Variable& m = *slots[0];
  const double beta_1 = config_.beta_1, beta_2 = config_.beta_2;
  variable.assign_sub(learning_rate * sign(m * beta_1 + gradient * (1 - beta_1)));
  m.assign(m * beta_2 + gradient * (1 - beta_2));
}

}  // namespace plimsoll::keras
