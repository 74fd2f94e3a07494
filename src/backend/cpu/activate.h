// Activations inside of other kernels' loops, with the expressions of scalar_ops.def.
#pragma once

#include <utility>

#include "backend/cpu/elementwise_loops.h"
#include "ops/activation_kind.h"

namespace plimsoll::cpu {

struct NoActivation {
  template <class T>
  static HWY_INLINE T activate(T x) noexcept {
    return x;
  }
  template <class T>
  static HWY_INLINE T gate(T dy, T) noexcept {
    return dy;
  }
};
template <class Fn, class GradFn>
struct ScalarActivation {
  template <class T>
  static HWY_INLINE T activate(T x) noexcept {
    return Fn::apply(x, T(), T());
  }
  // A gradient on its way back; x is what was activated, or its result.
  template <class T>
  static HWY_INLINE T gate(T dy, T x) noexcept {
    return GradFn::apply(dy, x, T());
  }
};
using ReluActivation = ScalarActivation<scalar::ReluFn, scalar::ReluGradFn>;
using Relu6Activation = ScalarActivation<scalar::Relu6Fn, scalar::Relu6GradFn>;

// Calls f with one of the types above.
template <class F>
void visit_activation(Activation activation, F&& f) {
  switch (activation) {
    case Activation::kNone:
      return f(NoActivation());
    case Activation::kRelu:
      return f(ReluActivation());
    case Activation::kRelu6:
      return f(Relu6Activation());
  }
}

}  // namespace plimsoll::cpu
