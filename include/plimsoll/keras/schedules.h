// Learning rates that depend on the step.
//
//   auto optimizer = keras::optimizers::SGD(
//       {.learning_rate = keras::schedules::CosineDecay({.initial_learning_rate = 0.1,
//                                                        .decay_steps = 1000})});
//
// One's own is a class with operator(), of ops alone: in a function it is computed in every run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plimsoll/keras/object.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class LearningRateSchedule : public Object {
 public:
  // The rate, a float32 scalar, at a step, an integer scalar that counts from 0.
  virtual Tensor operator()(const Tensor& step) const = 0;
  std::string module() const override { return "keras.optimizers.schedules"; }

  // throws: InvalidArgumentError that names what was received.
  static std::shared_ptr<LearningRateSchedule> get(const Json& identifier);
};

// rate * decay_rate ^ (step / decay_steps)
struct ExponentialDecayConfig {
  static constexpr const char* kClassName = "ExponentialDecay";
  Number initial_learning_rate = 0.0;
  Number decay_steps = 0;
  Number decay_rate = 0.0;
  bool staircase = false;  // whole decay steps only
  std::string name = "ExponentialDecay";
  void visit(ConfigVisitor& v);
};
class ExponentialDecaySchedule : public Configured<LearningRateSchedule, ExponentialDecayConfig> {
 public:
  explicit ExponentialDecaySchedule(ExponentialDecayConfig config);
  Tensor operator()(const Tensor& step) const override;
};

// values[i] up to and with step boundaries[i].
struct PiecewiseConstantDecayConfig {
  static constexpr const char* kClassName = "PiecewiseConstantDecay";
  std::vector<Number> boundaries = {};
  std::vector<Number> values = {};  // one more
  std::string name = "PiecewiseConstant";
  void visit(ConfigVisitor& v);
};
class PiecewiseConstantDecaySchedule
    : public Configured<LearningRateSchedule, PiecewiseConstantDecayConfig> {
 public:
  explicit PiecewiseConstantDecaySchedule(PiecewiseConstantDecayConfig config);
  Tensor operator()(const Tensor& step) const override;
};

// (rate - end) * (1 - step / decay_steps) ^ power + end
struct PolynomialDecayConfig {
  static constexpr const char* kClassName = "PolynomialDecay";
  Number initial_learning_rate = 0.0;
  Number decay_steps = 0;
  Number end_learning_rate = 0.0001;
  Number power = 1.0;
  bool cycle = false;  // begins again, slower
  std::string name = "PolynomialDecay";
  void visit(ConfigVisitor& v);
};
class PolynomialDecaySchedule : public Configured<LearningRateSchedule, PolynomialDecayConfig> {
 public:
  explicit PolynomialDecaySchedule(PolynomialDecayConfig config);
  Tensor operator()(const Tensor& step) const override;
};

// rate / (1 + decay_rate * step / decay_steps)
struct InverseTimeDecayConfig {
  static constexpr const char* kClassName = "InverseTimeDecay";
  Number initial_learning_rate = 0.0;
  Number decay_steps = 0;
  Number decay_rate = 0.0;
  bool staircase = false;
  std::string name = "InverseTimeDecay";
  void visit(ConfigVisitor& v);
};
class InverseTimeDecaySchedule : public Configured<LearningRateSchedule, InverseTimeDecayConfig> {
 public:
  explicit InverseTimeDecaySchedule(InverseTimeDecayConfig config);
  Tensor operator()(const Tensor& step) const override;
};

// Up to warmup_target in a line, if there is one, then half a cosine down to alpha of it.
struct CosineDecayConfig {
  static constexpr const char* kClassName = "CosineDecay";
  Number initial_learning_rate = 0.0;
  Number decay_steps = 0;
  Number alpha = 0.0;
  std::string name = "CosineDecay";
  std::optional<Number> warmup_target = {};
  Number warmup_steps = 0;
  void visit(ConfigVisitor& v);
};
class CosineDecaySchedule : public Configured<LearningRateSchedule, CosineDecayConfig> {
 public:
  explicit CosineDecaySchedule(CosineDecayConfig config);
  Tensor operator()(const Tensor& step) const override;
};

// Again and again, each time t_mul as long and from m_mul as high.
struct CosineDecayRestartsConfig {
  static constexpr const char* kClassName = "CosineDecayRestarts";
  Number initial_learning_rate = 0.0;
  Number first_decay_steps = 0;
  Number t_mul = 2.0;
  Number m_mul = 1.0;
  Number alpha = 0.0;
  std::string name = "SGDRDecay";
  void visit(ConfigVisitor& v);
};
class CosineDecayRestartsSchedule
    : public Configured<LearningRateSchedule, CosineDecayRestartsConfig> {
 public:
  explicit CosineDecayRestartsSchedule(CosineDecayRestartsConfig config);
  Tensor operator()(const Tensor& step) const override;
};

namespace schedules {
using ExponentialDecay = Ref<ExponentialDecaySchedule>;
using PiecewiseConstantDecay = Ref<PiecewiseConstantDecaySchedule>;
using PolynomialDecay = Ref<PolynomialDecaySchedule>;
using InverseTimeDecay = Ref<InverseTimeDecaySchedule>;
using CosineDecay = Ref<CosineDecaySchedule>;
using CosineDecayRestarts = Ref<CosineDecayRestartsSchedule>;
}  // namespace schedules

}  // namespace plimsoll::keras
