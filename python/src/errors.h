// Errors between C++ and Python.
//
// What Plimsoll throws becomes the class of the same name in plimsoll.errors. Calls for which
// TensorFlow raises Python's own errors say so: see config_errors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "plimsoll/error.h"

namespace plimsoll::python {

namespace nb = nanobind;

// Throws a Python exception of `type`, which may be a builtin one.
[[noreturn]] void raise(nb::handle type, const std::string& message);
[[noreturn]] void raise_type_error(const std::string& message);
[[noreturn]] void raise_value_error(const std::string& message);
// A class of plimsoll.errors.
nb::object error_class(const char* name);

// Sets Python's error to the exception that is being handled. pre: inside a catch block.
void set_error() noexcept;

// f(), a new reference; if it throws, null and Python's error.
template <class F>
PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_error();
    return nullptr;
  }
}

// f(), with TensorFlow's classes for calls of tf.config and the like: ValueError for
// InvalidArgumentError, RuntimeError for FailedPreconditionError.
template <class F>
auto config_errors(F&& f) {
  try {
    return f();
  } catch (const InvalidArgumentError& error) {
    raise(PyExc_ValueError, error.what());
  } catch (const FailedPreconditionError& error) {
    raise(PyExc_RuntimeError, error.what());
  }
}

// str(object) and repr(object).
std::string text_of(nb::handle object);
std::string repr_of(nb::handle object);
inline std::string class_repr(nb::handle object) {
  return repr_of(object.type());
}

void bind_errors(nb::module_& m);

}  // namespace plimsoll::python
