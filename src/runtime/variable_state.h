// What a Variable's handle and the functions that captured it share.
#pragma once

#include <memory>

#include "plimsoll/variable.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

class Device;

struct VariableState {
  VariableOptions options;
  Tensor value;                                   // without a buffer: none yet
  const std::uint64_t number = next_tensor_id();  // in the order in which variables are made

  // Where the value is, or would be made.
  Device& home() const;
  // throws: FailedPreconditionError if there is no value.
  void check_value() const;

  // Whether nobody but the variable sees its memory: then it may be written in place.
  bool is_alone() const noexcept { return !value.impl()->buffer || is_sole_handle(value); }
  // Takes a copy of the value as its own. throws: ResourceExhaustedError.
  void make_alone();
};

}  // namespace plimsoll
