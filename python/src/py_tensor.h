// Tensors as Python objects: plimsoll.Tensor.
//
// The type is made by hand, not by nanobind: a tensor is one allocation, and `a + b` goes from the
// interpreter's slot to the op without anything between.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "plimsoll/tensor.h"

namespace plimsoll::python {

namespace nb = nanobind;

struct PyTensor {
  PyObject_HEAD PyObject* weak_references;
  Tensor tensor;
};

extern PyTypeObject* tensor_type;  // once the module is there

inline bool is_tensor(PyObject* object) noexcept {
  return Py_TYPE(object) == tensor_type;
}
// pre: is_tensor.
inline const Tensor& tensor_of(PyObject* object) noexcept {
  return reinterpret_cast<PyTensor*>(object)->tensor;
}
// A new reference; None for an empty Tensor.
PyObject* make_py_tensor(Tensor tensor);
inline nb::object to_python(Tensor tensor) {
  return nb::steal(make_py_tensor(std::move(tensor)));
}

// Makes the type and adds it to the module.
void bind_tensor(nb::module_& m);

}  // namespace plimsoll::python
