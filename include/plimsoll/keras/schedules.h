// Learning rates that depend on the step.
//
//   auto optimizer = keras::optimizers::SGD(
//       {.learning_rate = keras::schedules::CosineDecay({.initial_learning_rate = 0.1,
//                                                        .decay_steps = 1000})});
//
// One's own is a class with operator(), of ops alone: in a function it is computed in every run.
#pragma once

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

}  // namespace plimsoll::keras
