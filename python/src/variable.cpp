#include "variable.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <unordered_map>
#include <vector>

#include "convert.h"
#include "errors.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "value_slots.h"

namespace plimsoll::python {

PyTypeObject* variable_type = nullptr;

namespace {

struct OtherClass {
  PyTypeObject* type;
  VariableOf variable_of;
};
std::vector<OtherClass>& other_classes() {
  static auto& all = *new std::vector<OtherClass>;
  return all;
}

}  // namespace

void add_variable_class(PyTypeObject* type, VariableOf variable_of) {
  other_classes().push_back({type, variable_of});
}

const Variable* as_other_variable(PyObject* object) noexcept {
  for (const OtherClass& other : other_classes()) {
    if (PyType_IsSubtype(Py_TYPE(object), other.type)) return other.variable_of(object);
  }
  return nullptr;
}

namespace {

std::string next_name(const std::string& asked) {
  return (asked.empty() ? "Variable" : asked) + ":0";
}

// By variable: a weak reference to the object that was made for it. Guarded by Python's lock.
std::unordered_map<const VariableState*, nb::object>& objects() {
  static auto& all = *new std::unordered_map<const VariableState*, nb::object>;
  return all;
}

void remember(nb::handle object) {
  const VariableState* state = nb::inst_ptr<Variable>(object)->state().get();
  const nb::object forget = nb::cpp_function([state](nb::handle reference) {
    const auto found = objects().find(state);
    if (found != objects().end() && found->second.ptr() == reference.ptr()) objects().erase(found);
  });
  objects()[state] = nb::weakref(object, forget);
}

// initial_value may be a callable, as TensorFlow takes it.
void make(Variable* self, nb::handle initial_value, nb::handle trainable, nb::handle name,
          nb::handle dtype, nb::handle shape) {
  const interop::InitScope now;  // made once, not recorded
  nb::object value = nb::borrow(initial_value);
  if (value.is_none()) raise_value_error("The `initial_value` arg to `tf.Variable` is required.");
  if (PyCallable_Check(value.ptr()) && !is_tensor(value.ptr())) value = value();
  const std::string title = name.is_none() ? "" : to_text(name, "name");
  VariableOptions options{.name = next_name(title),
                          .trainable = trainable.is_none() || to_bool(trainable, "trainable")};
  const std::optional<DType> type = dtype.is_none() ? std::nullopt : std::optional(to_dtype(dtype));
  Tensor kept;
  const Tensor* tensor = tensor_behind(value, kept);
  if (!shape.is_none()) {
    const Shape wanted = to_shape(shape);
    const Shape found = tensor ? tensor->shape() : to_tensor(value, type).shape();
    if (!(wanted == found)) {
      raise_value_error(
          fmt::format("In this `tf.Variable` creation, the initial value's shape ({}) is "
                      "not compatible with the explicitly supplied `shape` argument "
                      "({}).",
                      text_of(shape_tuple(found)), text_of(shape_tuple(wanted))));
    }
  }
  if (tensor && type && tensor->dtype() != *type) {
    new (self) Variable(cast(*tensor, *type), std::move(options));
  } else if (tensor) {
    new (self) Variable(*tensor, std::move(options));
  } else {
    new (self) Variable(to_tensor(value, type), std::move(options));
  }
}

// What is assigned: of the variable's type, numbers of its shape as well.
Tensor operand(const Variable& variable, nb::handle value, const char* what) {
  Tensor given = to_tensor(value, variable.dtype());
  if (given.shape() == variable.shape()) return given;
  raise_value_error(
      fmt::format("Cannot {} value to variable '{}': Shape mismatch.The variable shape "
                  "{}, and the assigned value shape {} are incompatible.",
                  what, variable.name(), text_of(shape_tuple(variable.shape())),
                  text_of(shape_tuple(given.shape()))));
}

template <void (Variable::*F)(const Tensor&)>
nb::object change(nb::handle self, nb::handle value, nb::handle, nb::handle, nb::handle) {
  auto& variable = *nb::inst_ptr<Variable>(self);
  (variable.*F)(operand(variable, value, "assign"));
  return nb::borrow(self);
}

template <void (Variable::*F)(const Tensor&)>
void bind_change(nb::class_<Variable>& c, const char* name, const char* argument) {
  c.def(name, &change<F>, nb::arg(argument).none(), nb::arg("use_locking") = nb::none(),
        nb::arg("name") = nb::none(), nb::arg("read_value") = true);
}

nb::object numpy_of(const Variable& variable) {
  const nb::object value = to_python(variable.value());
  return to_numpy(tensor_of(value.ptr()), value, true);
}

// Rows that change: sparse updates as TensorFlow names them.
nb::object scatter(nb::handle self, nb::handle slices, const char* how) {
  auto& variable = *nb::inst_ptr<Variable>(self);
  const Tensor indices = expand_dims(to_tensor(slices.attr("indices")), -1);
  const Tensor updates = to_tensor(slices.attr("values"), variable.dtype());
  const Tensor& old = variable.value();
  const std::string_view kind = how;
  variable.assign(kind == "add"   ? tensor_scatter_nd_add(old, indices, updates)
                  : kind == "sub" ? tensor_scatter_nd_sub(old, indices, updates)
                                  : tensor_scatter_nd_update(old, indices, updates));
  return nb::borrow(self);
}

struct Access {
  static Tensor value(PyObject* self) { return nb::inst_ptr<Variable>(self)->value(); }
  static const Shape& shape(PyObject* self) { return nb::inst_ptr<Variable>(self)->shape(); }
  static const void* identity(PyObject* self) { return self; }
};

}  // namespace

nb::object variable_object(Variable shared) {
  const VariableState* state = shared.state().get();
  if (const auto found = objects().find(state); found != objects().end()) {
    nb::object object = nb::borrow(PyWeakref_GetObject(found->second.ptr()));
    if (!object.is_none() && nb::inst_ptr<Variable>(object)->state().get() == state) return object;
  }
  const nb::object made = nb::cast(std::move(shared));
  remember(made);
  return made;
}

void bind_variable(nb::module_& m) {
  nb::class_<Variable> c(m, "Variable", nb::type_slots(ValueSlots<Access>::all()),
                         nb::dynamic_attr(), nb::is_weak_referenceable());
  c.def(
       "__init__",
       [](nb::pointer_and_handle<Variable> self, nb::handle initial_value, nb::handle trainable,
          nb::handle, nb::handle, nb::handle name, nb::handle, nb::handle dtype, nb::handle,
          nb::handle, nb::handle, nb::handle, nb::handle shape) {
         make(self.p, initial_value, trainable, name, dtype, shape);
         remember(self.h);
       },
       nb::arg("initial_value").none() = nb::none(), nb::arg("trainable").none() = nb::none(),
       nb::arg("validate_shape") = true, nb::arg("caching_device").none() = nb::none(),
       nb::arg("name").none() = nb::none(), nb::arg("variable_def").none() = nb::none(),
       nb::arg("dtype").none() = nb::none(), nb::arg("import_scope").none() = nb::none(),
       nb::arg("constraint").none() = nb::none(), nb::arg("synchronization").none() = nb::none(),
       nb::arg("aggregation").none() = nb::none(), nb::arg("shape").none() = nb::none(),
       "A tensor that can change.")
      .def("value", [](const Variable& v) { return to_python(v.value()); })
      .def("read_value", [](const Variable& v) { return to_python(identity(v.value())); })
      .def("numpy", &numpy_of)
      .def(
          "__array__",
          [](const Variable& v, nb::handle dtype, nb::handle copy) {
            const nb::object value = to_python(v.value());
            return value.attr("__array__")(dtype, copy);
          },
          nb::arg("dtype").none() = nb::none(), nb::arg("copy").none() = nb::none())
      .def_prop_ro("shape", [](const Variable& v) { return shape_object(v.shape()); })
      .def("get_shape", [](const Variable& v) { return shape_object(v.shape()); })
      .def_prop_ro("dtype", [](const Variable& v) { return nb::borrow(dtype_object(v.dtype())); })
      .def_prop_ro("ndim", [](const Variable& v) { return v.shape().rank(); })
      .def_prop_ro("name", [](const Variable& v) { return v.name(); })
      .def_prop_ro("trainable", [](const Variable& v) { return v.trainable(); })
      .def_prop_ro("device",
                   [](const Variable& v) {
                     const interop::InitScope now;
                     return v.value().device();
                   })
      .def("ref",
           [](nb::handle self) {
             return nb::module_::import_("plimsoll._tensor").attr("Reference")(self);
           })
      .def("scatter_add", [](nb::handle self, nb::handle s) { return scatter(self, s, "add"); })
      .def("scatter_sub", [](nb::handle self, nb::handle s) { return scatter(self, s, "sub"); })
      .def("scatter_update",
           [](nb::handle self, nb::handle s) { return scatter(self, s, "update"); })
      .def("__repr__", [](nb::handle self) {
        return nb::module_::import_("plimsoll._tensor").attr("repr_of_variable")(self);
      });
  bind_change<&Variable::assign>(c, "assign", "value");
  bind_change<&Variable::assign_add>(c, "assign_add", "delta");
  bind_change<&Variable::assign_sub>(c, "assign_sub", "delta");
  c.attr("__array_priority__") = 100;
  variable_type = reinterpret_cast<PyTypeObject*>(c.ptr());
}

}  // namespace plimsoll::python
