// Structures of tensors between Python and C++, KerasTensors and Keras's variables.
#pragma once

#include "keras_object.h"

namespace plimsoll::python {

// Lists, tuples and dictionaries of tensors, arrays, variables and KerasTensors. A list of nothing
// but numbers is a tensor. as_float32: arrays of double precision become single, as Keras takes
// data. throws: as to_tensor.
keras::Nested to_nested(nb::handle value, bool as_float32 = false);
// The same, with arrays that are read where they stand (borrow): for data of which rows are taken.
keras::Nested borrow_nested(nb::handle value);
// The way back. Where `like` has a tuple, there is one instead of a list.
nb::object from_nested(const keras::Nested& values, nb::handle like = nb::none());
// The same with numpy arrays.
nb::object numpy_from_nested(const keras::Nested& values);

keras::PartialShape to_partial_shape(nb::handle shape);
nb::tuple from_partial_shape(const keras::PartialShape& shape);
// A tuple of numbers and None is a shape, a list or dictionary of such a structure.
keras::Shapes to_shapes(nb::handle value);
nb::object from_shapes(const keras::Shapes& shapes);

// plimsoll.keras.Variable; the same object as long as somebody has it.
nb::object wrap_variable(const keras::VariablePtr& variable);
nb::list wrap_variables(const std::vector<keras::VariablePtr>& variables);
// throws: TypeError.
keras::VariablePtr to_keras_variable(nb::handle value);

}  // namespace plimsoll::python
