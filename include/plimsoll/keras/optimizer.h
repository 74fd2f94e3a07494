// Optimizers: how gradients become updates of weights.
//
//   auto adam = keras::optimizers::Adam({.learning_rate = 1e-3}, {.clipnorm = 1.0});
//   adam->build(model->trainable_weights());
//   adam->apply(tape.gradient(loss, sources));      // eagerly, or in a tf::function
//
// One's own has two members beside its name:
//
//   class SignSGD : public keras::Optimizer {
//    public:
//     SignSGD() : Optimizer(0.01) {}
//     std::string class_name() const override { return "SignSGD"; }
//     void update(const tf::Tensor& gradient, keras::Variable& variable, keras::Slots,
//                 const tf::Tensor& learning_rate) override {
//       variable.assign_sub(tf::sign(gradient) * learning_rate);
//     }
//   };
//
// In a function every gradient is used up where it is made, unless global_clipnorm needs all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/keras/object.h"
#include "plimsoll/keras/schedules.h"
#include "plimsoll/keras/variable.h"

namespace plimsoll::keras {

// A number, or a schedule.
class LearningRate {
 public:
  LearningRate(double value = 0.001) noexcept : value_(value) {}
  template <class U>
  requires std::derived_from<U, LearningRateSchedule> LearningRate(std::shared_ptr<U> schedule)
  noexcept : schedule_(std::move(schedule)) {}

  double value() const noexcept { return value_; }
  const std::shared_ptr<LearningRateSchedule>& schedule() const noexcept { return schedule_; }

  friend Json to_config(const LearningRate& rate);
  friend void from_config(const Json& json, LearningRate& rate);

 private:
  double value_ = 0.001;
  std::shared_ptr<LearningRateSchedule> schedule_;  // none: the value
};

struct OptimizerOptions {
  std::string name = {};                                         // none: made of the class name
  std::optional<double> weight_decay = {};                       // of the weights, at every step
  std::optional<double> clipnorm = {};                           // of each gradient
  std::optional<double> clipvalue = {};                          // of each element
  std::optional<double> global_clipnorm = {};                    // of all gradients together
  bool use_ema = false;                                          // keep averages of the weights
  double ema_momentum = 0.99;                                    // in [0, 1]
  std::optional<std::int64_t> ema_overwrite_frequency = {};      // steps; none: at the end
  std::optional<double> loss_scale_factor = {};                  // of scale_loss
  std::optional<std::int64_t> gradient_accumulation_steps = {};  // at least 2
};

// A variable that an optimizer keeps for each weight.
struct SlotSpec {
  std::string name;  // "momentum"
  double initial_value = 0;
  std::optional<Shape> shape = {};  // none: the weight's
  int group = 0;  // slots of a group stand together: those of all weights, then the next group
};
using Slots = std::span<const VariablePtr>;

class Optimizer : public Object {
 public:
  // throws: InvalidArgumentError for options that do not go together.
  explicit Optimizer(LearningRate learning_rate, OptimizerOptions options = {});

  // Makes the slots. memory: under the tag optimizer, on the device of the variables.
  // throws: InvalidArgumentError if it was built for other variables.
  void build(std::span<const VariablePtr> variables);
  bool built() const noexcept { return built_; }

  // One step with a gradient for each variable that it was built for; an empty Tensor: none, and
  // the variable stays. memory: eagerly what the ops take; in a function see above.
  // throws: FailedPreconditionError if it is not built, InvalidArgumentError.
  virtual void apply(std::span<const Tensor> gradients);
  // The same for some of them; builds it for these if need be.
  void apply(std::span<const Tensor> gradients, std::span<const VariablePtr> variables);
  // The loss of which gradients are to be taken.
  virtual Tensor scale_loss(const Tensor& loss) const;
  // Weights become their averages, if these are kept.
  virtual void finalize_variable_values();
  // Before build: variables, or those whose name has a match of a pattern, that do not decay.
  void exclude_from_weight_decay(std::span<const VariablePtr> variables,
                                 const std::vector<std::string>& names = {});

  // Now: as scheduled for this step.
  virtual Tensor learning_rate() const;
  // throws: InvalidArgumentError if it is a schedule.
  virtual void set_learning_rate(double value);
  // Steps, or full accumulations.
  virtual std::int64_t iterations() const;
  const VariablePtr& iterations_variable() const;  // steps, int64

  const std::string& name() const;
  // iteration, learning_rate if it is a number, averages, accumulators, slots: in Keras's order.
  virtual std::vector<VariablePtr> variables() const;
  const std::vector<VariablePtr>& trainable_variables() const noexcept { return trainable_; }
  // throws: InvalidArgumentError for another number or other shapes; nothing has changed then.
  void set_weights(std::span<const Tensor> values);
  const OptimizerOptions& options() const noexcept { return options_; }

  std::string module() const override { return "keras.optimizers"; }
  Json get_config() const override;
  // By name ("adam", in any case) or configuration. throws: InvalidArgumentError.
  static std::shared_ptr<Optimizer> get(const Json& identifier);

 protected:
  // What a class of one's own may define.
  virtual std::vector<SlotSpec> slots(const Variable&) const { return {}; }
  virtual void build_own(std::span<const VariablePtr>) {}  // after the slots
  virtual void begin_update() {}                           // once a step, before the first update
  // The gradient and the rate are of the variable's type, the gradient is clipped.
  virtual void update(const Tensor& gradient, Variable& variable, Slots slots,
                      const Tensor& learning_rate) = 0;
  virtual std::optional<double> weight_decay_of(const Variable&) const {
    return options_.weight_decay;
  }

  Slots slots_of(std::size_t variable) const noexcept { return slots_[variable]; }
  bool has_schedule() const noexcept { return rate_.schedule() != nullptr; }
  // The number of this step, from 1 on.
  Tensor step(DType dtype) const;
  VariablePtr add_variable(const Tensor& value, const std::string& name);
  VariablePtr add_slot(const Variable& variable, const SlotSpec& spec);
  // Runs `body`, which assigns variables, if a scalar of type bool holds.
  static void run_if(const Tensor& condition, const std::function<void()>& body);
  OptimizerOptions options_;

 private:
  friend class LossScaleOptimizer;  // which takes loss_scale_factor from the one inside
  struct Update {
    Tensor gradient;
    std::size_t index;  // of the variable
  };

  VariableInfo info_of(const std::string& variable_name) const;
  void make_own_variables() const;
  void move_own_variables(const std::string& device);
  Tensor counted() const;  // iterations(), as a tensor
  std::vector<Update> present(std::span<const Tensor> gradients) const;
  void overwrite(std::vector<Update>& updates);
  void accumulate(const std::vector<Update>& updates);
  void update_all(std::vector<Update> updates);
  void decay(Variable& variable, const Tensor& rate);
  void average();

  LearningRate rate_;
  mutable std::string name_;
  mutable std::vector<VariablePtr> variables_;  // empty until somebody asks
  mutable VariablePtr iterations_, rate_variable_;
  std::vector<VariablePtr> trainable_;
  std::vector<std::vector<VariablePtr>> slots_;  // by variable
  std::vector<VariablePtr> averages_, accumulators_;
  std::vector<const Variable*> not_decayed_;
  std::string not_decayed_names_;  // a regular expression; empty: none
  bool built_ = false;
};
using OptimizerPtr = std::shared_ptr<Optimizer>;
using OptimizerArg = Arg<Optimizer>;

// A shared optimizer of class Impl.
template <class Impl>
class OptimizerRef : public std::shared_ptr<Impl> {
 public:
  OptimizerRef() : OptimizerRef(typename Impl::Config{}) {}
  OptimizerRef(typename Impl::Config config, OptimizerOptions options = {})
      : std::shared_ptr<Impl>(std::make_shared<Impl>(std::move(config), std::move(options))) {
    this->get()->name();  // numbers follow the order in which they are made
  }
};

// An optimizer with the configuration C, which has a learning_rate that `visit` leaves out.
template <class C>
class ConfiguredOptimizer : public Configured<Optimizer, C> {
 public:
  explicit ConfiguredOptimizer(C config, OptimizerOptions options = {})
      : Configured<Optimizer, C>(config, config.learning_rate, std::move(options)) {}
};

// Reads and writes what all optimizers have in their configuration.
void visit_optimizer_options(ConfigVisitor& v, LearningRate& rate, OptimizerOptions& options);
template <class Impl>
std::shared_ptr<Object> make_optimizer_of_config(const Json& config) {
  typename Impl::Config read;
  OptimizerOptions options;
  ConfigVisitor visitor(config, Impl::kClassName);
  visit_optimizer_options(visitor, read.learning_rate, options);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read), std::move(options));
}

}  // namespace plimsoll::keras
