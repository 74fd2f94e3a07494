// Which input of Attention and of its gradients is which: some are there only by attribute.
#pragma once

#include "ops/op_id.h"

namespace plimsoll {

struct AttentionInputs {
  static constexpr int kGradFirst = 3;  // behind gradient, output and log-sum-exp

  int q, k, v;
  int bias = -1, mask = -1, state = -1, dlse = -1;  // -1: none
  int end;

  AttentionInputs(const Attrs& attrs, int first) noexcept : q(first), k(first + 1), v(first + 2) {
    end = first + 3;
    if (attrs[attr::Attention::has_bias].as_bool()) bias = end++;
    if (attrs[attr::Attention::has_mask].as_bool()) mask = end++;
    if (attrs[attr::Attention::rate].as_float() > 0) state = end++;
    if (first == kGradFirst && attrs[attr::AttentionGrad::has_dlse].as_bool()) dlse = end++;
  }
};

}  // namespace plimsoll
