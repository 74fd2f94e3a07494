// plimsoll.Variable.
#pragma once

#include <nanobind/nanobind.h>

#include "plimsoll/variable.h"

namespace plimsoll::python {

namespace nb = nanobind;

extern PyTypeObject* variable_type;        // once the module is there
extern PyTypeObject* keras_variable_type;  // of keras_variable.cpp

// pre: of this type.
const Variable* keras_variable_behind(PyObject* object) noexcept;
Tensor keras_variable_value(PyObject* object);  // as the layer that reads it computes

inline bool is_keras_variable(nb::handle object) noexcept {
  return keras_variable_type && PyType_IsSubtype(Py_TYPE(object.ptr()), keras_variable_type);
}

// Other classes whose objects are variables: Keras's.
using VariableOf = const Variable* (*)(PyObject* object);
void add_variable_class(PyTypeObject* type, VariableOf variable_of);
const Variable* as_other_variable(PyObject* object) noexcept;

// The variable that a Python object is; null if it is none.
inline const Variable* as_variable(nb::handle object) noexcept {
  PyTypeObject* type = Py_TYPE(object.ptr());
  if (type == variable_type || PyType_IsSubtype(type, variable_type))
    return nb::inst_ptr<Variable>(object);
  return as_other_variable(object.ptr());
}

// The Python object of a variable: the one that was made with it if it is still there, or a new one
// that shares it.
nb::object variable_object(Variable shared);

void bind_variable(nb::module_& m);

}  // namespace plimsoll::python
