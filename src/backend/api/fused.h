// Several elementwise ops as one: a small program that runs over each element (OpId::Fused).
#pragma once

#include <vector>

#include "ops/op_id.h"
#include "plimsoll/shape.h"

namespace plimsoll {

struct FusedProgram {
  static constexpr int kMaxSteps = 32;
  static constexpr int kMaxSlots = 12;  // results that are alive at the same time

  // Operands: i >= 0 is input i, ~k is the result of step k; y is kNone for ops of one operand.
  static constexpr int kNone = 1 << 20;
  struct Step {
    OpId op;
    double a = 0;  // the op's first attribute
    int x = kNone, y = kNone;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps;
  std::vector<int> outputs;  // by output: the step whose result it is

  friend bool operator==(const FusedProgram&, const FusedProgram&) = default;
};

// How a program reads an input: element by element, one for all, or a row that repeats (its shape
// is the end of the output's, but for leading ones). kNot: not at all.
enum class FusedReach : std::uint8_t { kAll, kOne, kRow, kNot };
inline FusedReach fused_reach(const Shape& in, const Shape& out) noexcept {
  if (in.num_elements() == out.num_elements()) return FusedReach::kAll;
  if (in.num_elements() == 1) return FusedReach::kOne;
  int lead = 0;
  while (lead < in.rank() && in.dim(lead) == 1) ++lead;
  for (int i = 1; i <= in.rank() - lead; ++i) {
    if (i > out.rank() || in.dim(in.rank() - i) != out.dim(out.rank() - i)) return FusedReach::kNot;
  }
  return FusedReach::kRow;
}

}  // namespace plimsoll
