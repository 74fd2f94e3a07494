#include "base/check.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

SGDOptimizer::SGDOptimizer(SGDConfig config, OptimizerOptions options)
    : ConfiguredOptimizer(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.momentum >= 0 && config_.momentum <= 1, InvalidArgumentError,
                 "`momentum` must be a float between [0, 1]. Received: momentum={}",
                 config_.momentum);
}

std::vector<SlotSpec> SGDOptimizer::slots(const Variable&) const {
  if (config_.momentum == 0) return {};
  return {{.name = "momentum"}};
}

void SGDOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                          const Tensor& learning_rate) {
  if (slots.empty()) return variable.assign_sub(gradient * learning_rate);
  Variable& m = *slots[0];
  m.assign(m * config_.momentum - gradient * learning_rate);
  variable.assign_add(config_.nesterov ? m * config_.momentum - gradient * learning_rate
                                       : Tensor(m));
}

}  // namespace plimsoll::keras
