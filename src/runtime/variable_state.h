// What a Variable's handle and the functions that captured it share.
#pragma once

#include <memory>

#include "plimsoll/variable.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

struct VariableState {
  VariableOptions options;
  Tensor value;

  // Whether nobody but the variable sees its memory: then it may be written in place.
  bool is_alone() const noexcept { return is_sole_handle(value); }
  // Takes a copy of the value as its own. throws: ResourceExhaustedError.
  void make_alone();
};

}  // namespace plimsoll
