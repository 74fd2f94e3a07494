// A step with a gradient of its own, as tf.custom_gradient has it.
//
//   tf::Tensor log1pexp(const tf::Tensor& x) {
//     return tf::custom_gradient({{x}}, [&]() -> tf::CustomStep {
//       const tf::Tensor e = tf::exp(x);
//       return {{tf::log(1.0F + e)}, [e](std::span<const tf::Tensor> upstream) {
//                 return std::vector{upstream[0] * (1.0F - 1.0F / (1.0F + e))};
//               }};
//     })[0];
//   }
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

class Variable;

// From the gradients of the results (zeros where none flows) those of the inputs; empty: none.
using StepGradient = std::function<std::vector<Tensor>(std::span<const Tensor> upstream)>;

struct CustomStep {
  std::vector<Tensor> results;
  StepGradient gradient;
  // Variables that were read: their gradients follow those of the inputs.
  std::vector<const Variable*> variables = {};
};

// Calls `forward`, of which the tapes of this thread see nothing but its results and its gradient.
// In functions too, but not inside of a branch or loop that is differentiated.
// throws: what `forward` throws; at the gradient InvalidArgumentError if it does not give one for
// each input.
std::vector<Tensor> custom_gradient(std::span<const Tensor> inputs,
                                    const std::function<CustomStep()>& forward);

}  // namespace plimsoll
