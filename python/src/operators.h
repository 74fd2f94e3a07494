// Operators of tensors and variables, as slots of their types.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "plimsoll/tensor.h"

namespace plimsoll::python {

// Number slots, comparison and subscript. Of any two operands one is a tensor or a variable.
std::span<const PyType_Slot> operator_slots();

// x[key] as TensorFlow reads it.
Tensor get_item(const Tensor& tensor, nanobind::handle key);

// Whether this thread traces and the value of a tensor is known all the same, and small: sizes,
// axes, indices. Ops on such are executed at once, so that shapes can depend on them.
bool is_known_int(const Tensor& tensor) noexcept;

}  // namespace plimsoll::python
