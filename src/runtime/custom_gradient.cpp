#include "plimsoll/custom_gradient.h"

#include "base/check.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

// The same elements under an identity of their own: a result that is an input, too, is another
// tensor for tapes.
Tensor as_result(const Tensor& t) {
  PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError,
                 "custom_gradient: a result is an empty Tensor");
  if (!t.impl()->buffer) return identity(t);
  return make_tensor(t.dtype(), t.shape(), t.impl()->buffer, t.impl()->offset);
}

}  // namespace

std::vector<Tensor> custom_gradient(std::span<const Tensor> inputs,
                                    const std::function<CustomStep()>& forward) {
  std::vector<Tensor> results;
  std::vector<Tensor> in(inputs.begin(), inputs.end());
  CustomStep step;
  {
    const HideTapes hide;
    step = forward();
    for (const Tensor& t : step.results) results.push_back(as_result(t));
  }
  PLIMSOLL_CHECK(step.gradient, InvalidArgumentError, "custom_gradient needs a gradient");
  for (const Variable* variable : step.variables) in.push_back(variable->value());
  if (current_trace && current_trace->is_body()) current_trace->graph.has_own_gradients = true;
  record_call(std::make_shared<const StepGradient>(std::move(step.gradient)), in, results);
  return results;
}

}  // namespace plimsoll
