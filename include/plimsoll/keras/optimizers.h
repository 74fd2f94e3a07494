// Keras's optimizers.
#pragma once

#include "plimsoll/keras/optimizer.h"

namespace plimsoll::keras {

struct SGDConfig {
  static constexpr const char* kClassName = "SGD";
  LearningRate learning_rate = 0.01;
  double momentum = 0;  // in [0, 1]
  bool nesterov = false;
  void visit(ConfigVisitor& v) {
    v("momentum", momentum);
    v("nesterov", nesterov);
  }
};
class SGDOptimizer : public ConfiguredOptimizer<SGDConfig> {
 public:
  explicit SGDOptimizer(SGDConfig config, OptimizerOptions options = {});

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct AdamConfig {
  static constexpr const char* kClassName = "Adam";
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    v("amsgrad", amsgrad);
  }
};
class AdamOptimizer : public ConfiguredOptimizer<AdamConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

namespace optimizers {
using SGD = OptimizerRef<SGDOptimizer>;
using Adam = OptimizerRef<AdamOptimizer>;
}  // namespace optimizers

}  // namespace plimsoll::keras
