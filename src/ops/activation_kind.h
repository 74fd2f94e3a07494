// Activations that an op may apply to its result on the way out.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/op_id.h"

namespace plimsoll {

enum class Activation : std::int64_t { kNone, kRelu, kRelu6 };  // the values are attributes

inline constexpr int kNumActivations = 3;

inline std::optional<Activation> activation_of(OpId op) noexcept {
  if (op == OpId::Relu) return Activation::kRelu;
  if (op == OpId::Relu6) return Activation::kRelu6;
  return std::nullopt;
}
// The op that is its gradient, from the result; none for kNone.
inline std::optional<OpId> gradient_of(Activation activation) noexcept {
  if (activation == Activation::kRelu) return OpId::ReluGrad;
  if (activation == Activation::kRelu6) return OpId::Relu6Grad;
  return std::nullopt;
}

}  // namespace plimsoll
