// plimsoll.keras.Variable: a variable of a layer, an optimizer or a metric.

#include <unordered_map>

#include "convert.h"
#include "keras_nested.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "value_slots.h"
#include "variable.h"

namespace plimsoll::python {

PyTypeObject* keras_variable_type = nullptr;

namespace {

// The Python objects that are there, so that each variable has one. Guarded by Python's lock.
std::unordered_map<const keras::Variable*, PyObject*>& wrapped() {
  static auto& all = *new std::unordered_map<const keras::Variable*, PyObject*>;
  return all;
}

struct KerasVariable {
  explicit KerasVariable(keras::VariablePtr given) : ptr(std::move(given)) {}
  KerasVariable(KerasVariable&&) noexcept = default;
  KerasVariable& operator=(KerasVariable&&) = delete;
  ~KerasVariable() {
    if (ptr) wrapped().erase(ptr.get());
  }
  keras::VariablePtr ptr;
};

KerasVariable& self_of(PyObject* object) {
  return *nb::inst_ptr<KerasVariable>(object);
}

// In the variable's type; numbers are brought to its shape.
Tensor operand(const keras::Variable& variable, nb::handle value) {
  Tensor kept;
  const Tensor* tensor = tensor_behind(value, kept);
  Tensor given = tensor ? *tensor : to_tensor(value);
  if (given.dtype() != variable.dtype()) given = cast(given, variable.dtype());
  if (given.shape() == variable.shape()) return given;
  raise_value_error(fmt::format(
      "The shape of the target variable and the shape of the target value in "
      "`variable.assign(value)` must match. variable.shape={}, Received: value.shape={}. Target "
      "variable: {}",
      nb::str(shape_tuple(variable.shape())).c_str(), nb::str(shape_tuple(given.shape())).c_str(),
      variable.path()));
}

template <void (keras::Variable::*F)(const Tensor&)>
nb::object change(nb::handle self, nb::handle value) {
  keras::Variable& variable = *self_of(self.ptr()).ptr;
  (variable.*F)(operand(variable, value));
  return nb::borrow(self);
}

void make(KerasVariable* self, nb::handle initializer, nb::handle shape, nb::handle dtype,
          bool trainable, bool autocast, const std::string& name) {
  const interop::InitScope now;
  keras::VariableInfo info{.name = name.empty() ? "variable" : name,
                           .path = name.empty() ? "variable" : name,
                           .trainable = trainable,
                           .autocast = autocast};
  std::optional<DType> type;
  if (!dtype.is_none()) type = to_dtype(dtype);
  keras::VariablePtr made;
  if (const KerasObject* handle = find_handle(initializer)) {
    const TensorSpec spec{type.value_or(float32), to_shape(shape)};
    made = std::make_shared<keras::Variable>(
        spec, as<keras::Initializer>(*handle, "an initializer"), std::move(info));
  } else {
    Tensor value = to_tensor(initializer);
    if (value.dtype() == float64 && !type && !is_tensor(initializer.ptr())) type = float32;
    if (type && value.dtype() != *type) value = cast(value, *type);
    made = std::make_shared<keras::Variable>(std::move(value), std::move(info));
  }
  new (self) KerasVariable(std::move(made));
}

struct Access {
  static Tensor value(PyObject* self) { return self_of(self).ptr->value(); }
  static const Shape& shape(PyObject* self) { return self_of(self).ptr->shape(); }
  static const void* identity(PyObject* self) { return self_of(self).ptr.get(); }
};

void bind_values(nb::class_<KerasVariable>& c) {
  c.def_prop_ro("value", [](const KerasVariable& v) { return to_python(v.ptr->value()); })
      .def("read_value", [](const KerasVariable& v) { return to_python(v.ptr->value()); })
      .def("numpy",
           [](const KerasVariable& v) {
             const nb::object value = to_python(v.ptr->raw().value());
             return to_numpy(tensor_of(value.ptr()), value, true);
           })
      .def(
          "__array__",
          [](const KerasVariable& v, nb::handle dtype, nb::handle copy) {
            return to_python(v.ptr->raw().value()).attr("__array__")(dtype, copy);
          },
          nb::arg("dtype").none() = nb::none(), nb::arg("copy").none() = nb::none())
      .def("assign", &change<&keras::Variable::assign>)
      .def("assign_add", &change<&keras::Variable::assign_add>)
      .def("assign_sub", &change<&keras::Variable::assign_sub>);
}

}  // namespace

const Variable* keras_variable_behind(PyObject* object) noexcept {
  return &self_of(object).ptr->raw();
}
Tensor keras_variable_value(PyObject* object) {
  return self_of(object).ptr->value();
}

nb::object wrap_variable(const keras::VariablePtr& variable) {
  if (!variable) return nb::none();
  if (const auto found = wrapped().find(variable.get()); found != wrapped().end())
    return nb::borrow(found->second);
  nb::object made = nb::cast(KerasVariable(variable));
  wrapped()[variable.get()] = made.ptr();
  return made;
}
nb::list wrap_variables(const std::vector<keras::VariablePtr>& variables) {
  nb::list all;
  for (const keras::VariablePtr& v : variables) all.append(wrap_variable(v));
  return all;
}
keras::VariablePtr to_keras_variable(nb::handle value) {
  if (!nb::isinstance<KerasVariable>(value))
    raise_type_error(fmt::format("expected a variable of Keras, got {}", repr_of(value)));
  return nb::inst_ptr<KerasVariable>(value)->ptr;
}

void bind_keras_variable(nb::module_& m) {
  nb::class_<KerasVariable> c(m, "KerasVariable", nb::type_slots(ValueSlots<Access>::all()),
                              nb::dynamic_attr(), nb::is_weak_referenceable(),
                              "A variable of a layer, an optimizer or a metric.");
  c.def(
      "__init__",
      [](KerasVariable* self, nb::handle initializer, nb::handle shape, nb::handle dtype,
         bool trainable, bool autocast, const std::string& name) {
        make(self, initializer, shape, dtype, trainable, autocast, name);
        wrapped()[self->ptr.get()] = nb::find(self).ptr();
      },
      nb::arg("initializer"), nb::arg("shape").none(), nb::arg("dtype").none(),
      nb::arg("trainable"), nb::arg("autocast"), nb::arg("name"));
  bind_values(c);
  c.def_prop_ro("shape", [](const KerasVariable& v) { return shape_object(v.ptr->shape()); })
      .def_prop_ro("dtype",
                   [](const KerasVariable& v) { return std::string(dtype_name(v.ptr->dtype())); })
      .def_prop_ro("ndim", [](const KerasVariable& v) { return v.ptr->shape().rank(); })
      .def_prop_ro("name", [](const KerasVariable& v) { return v.ptr->name(); })
      .def_prop_ro("path", [](const KerasVariable& v) { return v.ptr->path(); })
      .def_prop_ro("device", [](const KerasVariable& v) { return v.ptr->device(); })
      .def_prop_rw(
          "trainable", [](const KerasVariable& v) { return v.ptr->trainable; },
          [](KerasVariable& v, bool value) { v.ptr->trainable = value; })
      .def_prop_ro("handle", [](nb::handle self) { return nb::borrow(self); })
      .def("ref",
           [](nb::handle self) {
             return nb::module_::import_("plimsoll._tensor").attr("Reference")(self);
           })
      .def("__repr__", [](nb::handle self) {
        return nb::module_::import_("plimsoll.keras._base").attr("repr_of_variable")(self);
      });
  c.attr("__array_priority__") = 100;
  keras_variable_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  add_variable_class(keras_variable_type, keras_variable_behind);
}

}  // namespace plimsoll::python
