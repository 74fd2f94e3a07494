// Several elementwise ops as one: a small program that runs over each element (OpId::Fused).
#pragma once

#include <vector>

#include "ops/op_id.h"

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

}  // namespace plimsoll
