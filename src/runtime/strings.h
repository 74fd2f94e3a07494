// Tensors of one string whose bytes are yet to come.
#pragma once

#include <cstdint>
#include <string>

#include "plimsoll/tensor.h"

namespace plimsoll {

struct NewString {
  Tensor tensor;                 // a scalar
  std::string* bytes = nullptr;  // its value: to be written until somebody else sees the tensor
};

// With nbytes zeros. memory: reserved (tag activations, or that of the scope) before it exists.
// throws: ResourceExhaustedError.
NewString allocate_string(std::size_t nbytes);
// Another size; what is new is zero. throws: ResourceExhaustedError, and nothing has changed.
void resize_string(NewString& made, std::size_t nbytes);

}  // namespace plimsoll
