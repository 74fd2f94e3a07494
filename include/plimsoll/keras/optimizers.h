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

struct AdamWConfig {
  static constexpr const char* kClassName = "AdamW";
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
// Its weight decay is 0.004 unless another is given.
class AdamWOptimizer : public ConfiguredOptimizer<AdamWConfig> {
 public:
  explicit AdamWOptimizer(AdamWConfig config, OptimizerOptions options = {});

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct NadamConfig {
  static constexpr const char* kClassName = "Nadam";
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
  }
};
class NadamOptimizer : public ConfiguredOptimizer<NadamConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void build_own(std::span<const VariablePtr> variables) override;
  void begin_update() override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;

 private:
  VariablePtr u_product_;
};

struct AdamaxConfig {
  static constexpr const char* kClassName = "Adamax";
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
  }
};
class AdamaxOptimizer : public ConfiguredOptimizer<AdamaxConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct RMSpropConfig {
  static constexpr const char* kClassName = "RMSprop";
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  void visit(ConfigVisitor& v) {
    v("rho", rho);
    v("momentum", momentum);
    v("epsilon", epsilon);
    v("centered", centered);
  }
};
class RMSpropOptimizer : public ConfiguredOptimizer<RMSpropConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct AdagradConfig {
  static constexpr const char* kClassName = "Adagrad";
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  void visit(ConfigVisitor& v) {
    v("initial_accumulator_value", initial_accumulator_value);
    v("epsilon", epsilon);
  }
};
class AdagradOptimizer : public ConfiguredOptimizer<AdagradConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct AdadeltaConfig {
  static constexpr const char* kClassName = "Adadelta";
  LearningRate learning_rate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  void visit(ConfigVisitor& v) {
    v("rho", rho);
    v("epsilon", epsilon);
  }
};
class AdadeltaOptimizer : public ConfiguredOptimizer<AdadeltaConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct FtrlConfig {
  static constexpr const char* kClassName = "Ftrl";
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0, l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0, beta = 0;
  void visit(ConfigVisitor& v) {
    v("learning_rate_power", learning_rate_power);
    v("initial_accumulator_value", initial_accumulator_value);
    v("l1_regularization_strength", l1_regularization_strength);
    v("l2_regularization_strength", l2_regularization_strength);
    v("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength);
    v("beta", beta);
  }
};
class FtrlOptimizer : public ConfiguredOptimizer<FtrlConfig> {
 public:
  explicit FtrlOptimizer(FtrlConfig config, OptimizerOptions options = {});

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct LionConfig {
  static constexpr const char* kClassName = "Lion";
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.99;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
  }
};
class LionOptimizer : public ConfiguredOptimizer<LionConfig> {
 public:
  explicit LionOptimizer(LionConfig config, OptimizerOptions options = {});

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct AdafactorConfig {
  static constexpr const char* kClassName = "Adafactor";
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3, clip_threshold = 1;
  bool relative_step = true;
  void visit(ConfigVisitor& v) {
    v("beta_2_decay", beta_2_decay);
    v("epsilon_1", epsilon_1);
    v("epsilon_2", epsilon_2);
    v("clip_threshold", clip_threshold);
    v("relative_step", relative_step);
  }
};
class AdafactorOptimizer : public ConfiguredOptimizer<AdafactorConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct LambConfig {
  static constexpr const char* kClassName = "Lamb";
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
  }
};
class LambOptimizer : public ConfiguredOptimizer<LambConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct ScheduleFreeAdamWConfig {
  static constexpr const char* kClassName = "ScheduleFreeAdamW";
  LearningRate learning_rate = 0.0025;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;
  std::int64_t warmup_steps = 0;
  void visit(ConfigVisitor& v) {
    v("beta_1", beta_1);
    v("beta_2", beta_2);
    v("epsilon", epsilon);
    v("warmup_steps", warmup_steps);
  }
};
class ScheduleFreeAdamWOptimizer : public ConfiguredOptimizer<ScheduleFreeAdamWConfig> {
 public:
  using ConfiguredOptimizer::ConfiguredOptimizer;

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void build_own(std::span<const VariablePtr> variables) override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
};

struct MuonConfig {
  static constexpr const char* kClassName = "Muon";
  LearningRate learning_rate = 0.001;
  double adam_beta_1 = 0.9, adam_beta_2 = 0.999;
  std::optional<double> adam_weight_decay = 0.004;
  double epsilon = 1e-7;
  std::vector<std::string> exclude_layers = {};  // patterns of paths that Adam updates
  bool exclude_embeddings = true;
  double muon_a = 3.4445, muon_b = -4.775, muon_c = 2.0315;
  Number adam_lr_ratio = 1;
  double momentum = 0.95;
  std::int64_t ns_steps = 5;
  bool nesterov = true;
  std::optional<double> rms_rate = 0.2;
  void visit(ConfigVisitor& v);
};
// Matrices by Muon, everything else by AdamW. Its weight decay is 0.004 unless another is given.
class MuonOptimizer : public ConfiguredOptimizer<MuonConfig> {
 public:
  explicit MuonOptimizer(MuonConfig config, OptimizerOptions options = {});

 protected:
  std::vector<SlotSpec> slots(const Variable& variable) const override;
  void update(const Tensor& gradient, Variable& variable, Slots slots,
              const Tensor& learning_rate) override;
  std::optional<double> weight_decay_of(const Variable& variable) const override;

 private:
  bool is_for_adam(const Variable& variable) const;
  Tensor orthogonalised(const Tensor& x) const;
};

struct LossScaleOptimizerConfig {
  static constexpr const char* kClassName = "LossScaleOptimizer";
  OptimizerArg inner_optimizer = {};
  double initial_scale = 32768;
  std::int64_t dynamic_growth_steps = 2000;  // that are finite, until the scale doubles
  void visit(ConfigVisitor& v) {
    v("inner_optimizer", inner_optimizer);
    v("initial_scale", initial_scale);
    v("dynamic_growth_steps", dynamic_growth_steps);
  }
};
// Scales the loss so that gradients of 16 bits do not vanish, and leaves out steps in which one of
// them is not finite. memory: all gradients are alive at once.
class LossScaleOptimizer : public Configured<Optimizer, LossScaleOptimizerConfig> {
 public:
  explicit LossScaleOptimizer(LossScaleOptimizerConfig config, OptimizerOptions options = {});
  using Optimizer::apply;
  void apply(std::span<const Tensor> gradients) override;
  Tensor scale_loss(const Tensor& loss) const override;
  void finalize_variable_values() override;
  Tensor learning_rate() const override;
  void set_learning_rate(double value) override;
  std::int64_t iterations() const override;
  std::vector<VariablePtr> variables() const override;
  Json get_config() const override;

 protected:
  void build_own(std::span<const VariablePtr> variables) override;
  void update(const Tensor&, Variable&, Slots, const Tensor&) override {}

 private:
  VariablePtr step_counter_, dynamic_scale_;
};

namespace optimizers {
using SGD = OptimizerRef<SGDOptimizer>;
using Adam = OptimizerRef<AdamOptimizer>;
using AdamW = OptimizerRef<AdamWOptimizer>;
using Nadam = OptimizerRef<NadamOptimizer>;
using Adamax = OptimizerRef<AdamaxOptimizer>;
using RMSprop = OptimizerRef<RMSpropOptimizer>;
using Adagrad = OptimizerRef<AdagradOptimizer>;
using Adadelta = OptimizerRef<AdadeltaOptimizer>;
using Ftrl = OptimizerRef<FtrlOptimizer>;
using Lion = OptimizerRef<LionOptimizer>;
using Adafactor = OptimizerRef<AdafactorOptimizer>;
using Lamb = OptimizerRef<LambOptimizer>;
using Muon = OptimizerRef<MuonOptimizer>;
using ScheduleFreeAdamW = OptimizerRef<ScheduleFreeAdamWOptimizer>;
using LossScaleOptimizer = OptimizerRef<keras::LossScaleOptimizer>;
}  // namespace optimizers

}  // namespace plimsoll::keras
