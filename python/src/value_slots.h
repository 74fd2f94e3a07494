// Slots of types that have a tensor as their value (variables): operators, and what int(), bool(),
// len() and iteration do with that tensor.
#pragma once

#include <vector>

#include "convert.h"
#include "errors.h"
#include "operators.h"
#include "py_tensor.h"

namespace plimsoll::python {

// What the types differ in.
//   struct Access {
//     static Tensor value(PyObject* self);
//     static const Shape& shape(PyObject* self);     // without reading it
//     static const void* identity(PyObject* self);   // that equal handles share
//   };
template <class Access>
struct ValueSlots {
  static Py_hash_t hash(PyObject* self) noexcept {
    return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(Access::identity(self)) >> 4);
  }
  static Py_ssize_t length(PyObject* self) noexcept {
    const Shape& shape = Access::shape(self);
    if (shape.rank() == 0) {
      PyErr_SetString(PyExc_TypeError, "len() of a variable without dimensions");
      return -1;
    }
    return shape.dim(0);
  }
  template <PyObject* (*F)(PyObject*)>
  static PyObject* by_value(PyObject* self) noexcept {
    return guarded([&] { return F(to_python(Access::value(self)).ptr()); });
  }
  static int is_true(PyObject* self) noexcept {
    try {
      return PyObject_IsTrue(to_python(Access::value(self)).ptr());
    } catch (...) {
      set_error();
      return -1;
    }
  }

  static const PyType_Slot* all() {
    static std::vector<PyType_Slot>& slots = *new std::vector<PyType_Slot>;
    for (const PyType_Slot& s : operator_slots()) slots.push_back(s);
    const auto slot = [](auto* f) { return reinterpret_cast<void*>(f); };
    slots.push_back({Py_tp_hash, slot(hash)});
    slots.push_back({Py_mp_length, slot(length)});
    slots.push_back({Py_nb_bool, slot(is_true)});
    slots.push_back({Py_nb_int, slot(by_value<PyNumber_Long>)});
    slots.push_back({Py_nb_float, slot(by_value<PyNumber_Float>)});
    slots.push_back({Py_nb_index, slot(by_value<PyNumber_Index>)});
    slots.push_back({Py_tp_iter, slot(by_value<PyObject_GetIter>)});
    slots.push_back({0, nullptr});
    return slots.data();
  }
};

}  // namespace plimsoll::python
