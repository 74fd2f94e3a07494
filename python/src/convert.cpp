#include "convert.h"

#include <fmt/format.h>

#include <array>

#include "errors.h"
#include "gil.h"
#include "numbers.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

std::array<PyObject*, kNumDTypes> dtype_objects{};
PyObject* as_dtype = nullptr;     // plimsoll.dtypes.as_dtype
PyObject* shape_class = nullptr;  // plimsoll.TensorShape

// Whether an array of `from` may become a tensor of `to`: as TensorFlow has it.
bool is_compatible(DType from, DType to) {
  if (from == to) return true;
  const bool is_number = is_integer(from) || is_floating(from) || from == bool_;
  return is_number && (is_integer(to) || is_floating(to) || to == bool_);
}

Tensor with_dtype(const Tensor& made, std::optional<DType> dtype, nb::handle value) {
  if (!dtype || made.dtype() == *dtype) return made;
  if (!is_compatible(made.dtype(), *dtype)) cannot_convert(value, *dtype);
  if (interop::is_symbolic(made)) return cast(made, *dtype);
  const interop::InitScope now;  // numbers stay known
  return without_gil(made.num_elements(), [&] { return cast(made, *dtype); });
}

// What has its own way to become a tensor or an array.
Tensor from_protocol(nb::handle value, std::optional<DType> dtype) {
  if (nb::hasattr(value, "__tf_tensor__")) {
    const nb::object made = value.attr("__tf_tensor__")(
        dtype ? nb::borrow(dtype_object(*dtype)) : nb::none(), nb::none());
    return to_tensor(made, dtype);
  }
  if (nb::hasattr(value, "__array__")) {
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(value);
    if (array.ptr() != value.ptr()) return to_tensor(array, dtype);
  }
  if (Py_TYPE(value.ptr()) == reinterpret_cast<PyTypeObject*>(shape_class))
    return from_list(value.attr("as_list")(), dtype);
  if (PyRange_Check(value.ptr())) return from_list(nb::list(value), dtype);
  raise_value_error(
      fmt::format("Attempt to convert a value ({}) with an unsupported type ({}) to a "
                  "Tensor.",
                  repr_of(value), class_repr(value)));
}

}  // namespace

nb::handle dtype_object(DType dtype) {
  return dtype_objects[static_cast<std::size_t>(dtype)];
}

DType to_dtype(nb::handle value) {
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < dtype_objects.size(); ++i) {
      if (dtype_objects[i] == value.ptr()) return static_cast<DType>(i);
    }
    if (round == 0) value = nb::borrow(as_dtype)(value).release();  // one of the immortal eleven
  }
  raise_type_error(fmt::format("Cannot convert {} to a type that tensors have", repr_of(value)));
}

const Tensor* tensor_behind(nb::handle value, Tensor& kept) {
  if (is_tensor(value.ptr())) return &tensor_of(value.ptr());
  if (const Variable* variable = as_variable(value)) {
    kept = is_keras_variable(value) ? keras_variable_value(value.ptr()) : variable->value();
    return &kept;
  }
  return nullptr;
}

Tensor to_tensor(nb::handle value, std::optional<DType> dtype) {
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept)) {
    if (dtype && tensor->dtype() != *dtype) {
      raise_value_error(
          fmt::format("Tensor conversion requested dtype {} for Tensor with dtype {}: {}",
                      dtype_name(*dtype), dtype_name(tensor->dtype()), repr_of(value)));
    }
    return *tensor;
  }
  if (try_number(value.ptr(), dtype, kept)) return kept;
  if (is_list(value.ptr())) return from_list(value, dtype);
  if (PyObject_CheckBuffer(value.ptr()) || nb::hasattr(value, "__array_interface__")) {
    if (std::optional<Tensor> made = from_buffer(value)) return with_dtype(*made, dtype, value);
  }
  return from_protocol(value, dtype);
}

std::int64_t to_int(nb::handle value, const char* what) {
  if (PyLong_Check(value.ptr())) {
    const std::int64_t number = PyLong_AsLongLong(value.ptr());
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    return number;
  }
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept)) {
    if (tensor->num_elements() == 1 && is_integer(tensor->dtype())) {
      if (interop::is_symbolic(*tensor)) {
        raise(error_class("OperatorNotAllowedInGraphError"),
              fmt::format("{}: the value of a symbolic tensor is not known while its function is "
                          "traced, and a shape or an axis cannot depend on it",
                          what));
      }
      const interop::InitScope now;
      return cast(*tensor, int64).item<std::int64_t>();
    }
  } else if (PyIndex_Check(value.ptr())) {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    return to_int(index, what);
  }
  raise_type_error(fmt::format("{}: expected an integer, got {}", what, repr_of(value)));
}

double to_double(nb::handle value, const char* what) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    raise_type_error(fmt::format("{}: expected a number, got {}", what, repr_of(value)));
  }
  return number;
}

bool to_bool(nb::handle value, const char*) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::string to_text(nb::handle value, const char* what) {
  if (!PyUnicode_Check(value.ptr()) && !PyBytes_Check(value.ptr()))
    raise_type_error(fmt::format("{}: expected a string, got {}", what, repr_of(value)));
  return bytes_of(value);
}

std::vector<std::int64_t> to_ints(nb::handle value, const char* what) {
  std::vector<std::int64_t> ints;
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept); tensor && tensor->rank() == 1) {
    if (interop::is_symbolic(*tensor)) {
      raise(error_class("OperatorNotAllowedInGraphError"),
            fmt::format("{}: the values of a symbolic tensor are not known while its function is "
                        "traced, and a shape cannot depend on them",
                        what));
    }
    const interop::InitScope now;
    return cast(*tensor, int64).to_vector<std::int64_t>();
  }
  if (PyLong_Check(value.ptr()) || tensor_behind(value, kept))
    return std::vector<std::int64_t>(1, to_int(value, what));
  if (nb::hasattr(value, "__iter__") && !PyUnicode_Check(value.ptr())) {
    if (nb::hasattr(value, "ndim") && nb::cast<int>(value.attr("ndim")) == 0)
      return std::vector<std::int64_t>(1, to_int(value, what));
    for (const nb::handle item : value) {
      if (item.is_none())
        raise_value_error(fmt::format("{}: None is no size here: {}", what, repr_of(value)));
      ints.push_back(to_int(item, what));
    }
    return ints;
  }
  return std::vector<std::int64_t>(1, to_int(value, what));
}

Shape to_shape(nb::handle value) {
  const std::vector<std::int64_t> dims = to_ints(value, "shape");
  return Shape(std::span<const std::int64_t>(dims));
}

nb::tuple shape_tuple(const Shape& shape) {
  PyObject* made = PyTuple_New(shape.rank());
  if (!made) throw nb::python_error();
  for (int i = 0; i < shape.rank(); ++i)
    PyTuple_SET_ITEM(made, i, PyLong_FromLongLong(shape.dim(i)));
  return nb::steal<nb::tuple>(made);
}

nb::object shape_object(const Shape& shape) {
  return nb::borrow(shape_class)(shape_tuple(shape));
}

void bind_convert(nb::module_& m) {
  // Called once by plimsoll.dtypes and plimsoll.tensor_shape.
  m.def("set_dtypes", [](nb::list objects, nb::object function) {
    for (std::size_t i = 0; i < dtype_objects.size(); ++i)
      dtype_objects[i] = nb::object(objects[i]).release().ptr();
    as_dtype = function.release().ptr();
  });
  m.def("set_shape_class", [](nb::object type) { shape_class = type.release().ptr(); });
}

}  // namespace plimsoll::python
