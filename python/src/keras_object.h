// Objects of plimsoll.keras: handles to what C++ has, and the way of Python's classes into C++.
//
// A Python object (a layer, a loss) holds a KerasObject in its `_c`, which shares the C++ object.
// Of a class that is written in Python the C++ object (keras_py_layer.h and others) calls back; it
// knows the Python object weakly, so that Python alone decides how long that lives: it is held by
// the model, the layer or the tensor that it is part of.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "plimsoll/keras.h"

namespace plimsoll::python {

namespace nb = nanobind;

struct KerasObject {
  std::shared_ptr<keras::Object> ptr;
};
struct KerasCallback {
  keras::CallbackPtr ptr;
};

// The object as a T. throws: TypeError if it is something else.
template <class T>
std::shared_ptr<T> as(const KerasObject& object, const char* what) {
  auto found = std::dynamic_pointer_cast<T>(object.ptr);
  if (!found)
    raise_type_error(fmt::format("expected {}, got a {}", what,
                                 object.ptr ? object.ptr->class_name() : "handle of nothing"));
  return found;
}
inline keras::LayerPtr as_layer(const KerasObject& object) {
  return as<keras::Layer>(object, "a layer");
}
// The handle in `_c` of a Python object, or the object itself if it is one; null: neither.
const KerasObject* find_handle(nb::handle object);

// Objects that stand in configurations by their number, while it lives, on this thread.
class ObjectsInConfig {
 public:
  ObjectsInConfig();
  ~ObjectsInConfig();
  ObjectsInConfig(const ObjectsInConfig&) = delete;
  ObjectsInConfig& operator=(const ObjectsInConfig&) = delete;

  std::vector<std::shared_ptr<keras::Object>> objects;

 private:
  ObjectsInConfig* outer_;
  keras::CustomObjectScope scope_;
};

// What Python's json module takes, and handles of objects if `objects` is there.
// throws: TypeError that shows the value.
Json to_json(nb::handle value, ObjectsInConfig* objects = nullptr);
nb::object to_python(const Json& json);

// A Python object that C++ calls back, held weakly.
class PythonSelf {
 public:
  PythonSelf(nb::handle self, std::string what);
  ~PythonSelf();
  PythonSelf(const PythonSelf&) = delete;
  PythonSelf& operator=(const PythonSelf&) = delete;
  // pre: the lock is held. throws: FailedPreconditionError if the object is gone.
  nb::object get() const;

 private:
  PyObject* reference_;
  std::string what_;
};

// What is written about a Python class in files.
struct PythonClass {
  std::string name, module, registered_name;
};
PythonClass read_class(nb::handle description);

// Throws the error as a class of plimsoll.keras._base, which is a Python error as well.
[[noreturn]] void raise_in_keras(const char* class_name, const Error& error);

// f(), with errors that are ValueErrors, too, as Keras raises them.
template <class F>
auto keras_errors(F&& f) {
  try {
    return f();
  } catch (const InvalidArgumentError& error) {
    raise_in_keras("KerasValueError", error);
  } catch (const FailedPreconditionError& error) {
    raise_in_keras("KerasStateError", error);
  } catch (const NotFoundError& error) {
    raise_in_keras("KerasNotFoundError", error);
  }
}
// The same without the lock.
template <class F>
auto keras_call(F&& f) {
  return keras_errors([&] { return without_gil(f); });
}

}  // namespace plimsoll::python
