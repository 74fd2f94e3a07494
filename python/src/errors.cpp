#include "errors.h"

#include <new>

namespace plimsoll::python {
namespace {

void set_plimsoll_error(const Error& error) noexcept {
  try {
    const nb::object type = error_class(error.name());
    const nb::object made = type(nb::none(), nb::none(), nb::str(error.what()));
    PyErr_SetObject(type.ptr(), made.ptr());
  } catch (nb::python_error& failed) {  // the module cannot be imported: say at least what it was
    failed.restore();
    PyErr_Clear();
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void raise(nb::handle type, const std::string& message) {
  PyErr_SetString(type.ptr(), message.c_str());
  throw nb::python_error();
}
void raise_type_error(const std::string& message) {
  raise(PyExc_TypeError, message);
}
void raise_value_error(const std::string& message) {
  raise(PyExc_ValueError, message);
}

namespace {

std::string utf8(PyObject* made) {
  const nb::object text = nb::steal(made);
  const char* letters = made ? PyUnicode_AsUTF8(made) : nullptr;
  if (!letters) throw nb::python_error();
  return letters;
}

}  // namespace

std::string text_of(nb::handle object) {
  return utf8(PyObject_Str(object.ptr()));
}
std::string repr_of(nb::handle object) {
  return utf8(PyObject_Repr(object.ptr()));
}

nb::object error_class(const char* name) {
  return nb::module_::import_("plimsoll.errors").attr(name);
}

void set_error() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const Error& error) {
    set_plimsoll_error(error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error    ? PyExc_TypeError
                    : error.type() == nb::exception_type::index_error ? PyExc_IndexError
                                                                      : PyExc_ValueError,
                    error.what());
  } catch (const nb::cast_error&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a value is of the wrong type");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_plimsoll_error(error);
    }
  });
}

}  // namespace plimsoll::python
