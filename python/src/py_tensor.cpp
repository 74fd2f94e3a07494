#include "py_tensor.h"

#include <fmt/format.h>
#include <structmember.h>

#include <array>
#include <vector>

#include "convert.h"
#include "errors.h"
#include "operators.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::python {

PyTypeObject* tensor_type = nullptr;

// Of buffer.cpp.
int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept;
void tensor_release_buffer(PyObject* self, Py_buffer* view) noexcept;

PyObject* make_py_tensor(Tensor tensor) {
  if (!tensor.is_valid()) Py_RETURN_NONE;
  PyTensor* made = PyObject_New(PyTensor, tensor_type);
  if (!made) throw nb::python_error();
  made->weak_references = nullptr;
  new (&made->tensor) Tensor(std::move(tensor));
  return reinterpret_cast<PyObject*>(made);
}

namespace {

void destroy(PyObject* self) noexcept {
  auto* object = reinterpret_cast<PyTensor*>(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  object->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// What is written in Python: plimsoll/_tensor.py.
nb::object helper(const char* name) {
  static PyObject* module = nb::module_::import_("plimsoll._tensor").release().ptr();
  return nb::borrow(module).attr(name);
}

template <const char* Name>
PyObject* by_helper(PyObject* self) noexcept {
  return guarded([&] { return helper(Name)(nb::handle(self)).release().ptr(); });
}
constexpr char kRepr[] = "repr_of";
constexpr char kStr[] = "str_of";
constexpr char kIterate[] = "iterate";

[[noreturn]] void no_value(const Tensor& tensor, const char* type) {
  raise(error_class("OperatorNotAllowedInGraphError"),
        fmt::format(
            "Using a symbolic `tf.Tensor` as a Python `{}` is not allowed: {} has no value "
            "while its function is traced. To branch on it use tf.cond or tf.where, to repeat "
            "use tf.while_loop, tf.scan or tf.map_fn.",
            type, interop::symbolic_name(tensor)));
}

// The one element, as numpy's scalar; an array where there are more.
nb::object element(PyObject* self, const char* type) {
  const Tensor& tensor = tensor_of(self);
  if (interop::is_symbolic(tensor)) no_value(tensor, type);
  return to_numpy(tensor, self, true);
}

int is_true(PyObject* self) noexcept {
  try {
    const Tensor& tensor = tensor_of(self);
    if (tensor.dtype() == bool_ && tensor.num_elements() == 1 && !interop::is_symbolic(tensor))
      return tensor.item<bool>() ? 1 : 0;
    return PyObject_IsTrue(element(self, "bool").ptr());
  } catch (...) {
    set_error();
    return -1;
  }
}
PyObject* as_int(PyObject* self) noexcept {
  return guarded([&] { return PyNumber_Long(element(self, "int").ptr()); });
}
PyObject* as_float(PyObject* self) noexcept {
  return guarded([&] { return PyNumber_Float(element(self, "float").ptr()); });
}
PyObject* as_index(PyObject* self) noexcept {
  return guarded([&] { return PyNumber_Index(element(self, "int").ptr()); });
}

Py_ssize_t length(PyObject* self) noexcept {
  const Tensor& tensor = tensor_of(self);
  if (tensor.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
    return -1;
  }
  return tensor.shape().dim(0);
}

Py_hash_t hash(PyObject* self) noexcept {
  const auto id = static_cast<Py_hash_t>(interop::tensor_id(tensor_of(self)) >> 1);
  return id == -1 ? -2 : id;
}

PyObject* get_shape(PyObject* self, void*) noexcept {
  return guarded([&] { return shape_object(tensor_of(self).shape()).release().ptr(); });
}
PyObject* get_dtype(PyObject* self, void*) noexcept {
  return Py_NewRef(dtype_object(tensor_of(self).dtype()).ptr());
}
PyObject* get_device(PyObject* self, void*) noexcept {
  return guarded([&] { return nb::str(tensor_of(self).device().c_str()).release().ptr(); });
}
PyObject* get_ndim(PyObject* self, void*) noexcept {
  return PyLong_FromLong(tensor_of(self).rank());
}
PyObject* get_id(PyObject* self, void*) noexcept {
  return PyLong_FromUnsignedLongLong(interop::tensor_id(tensor_of(self)));
}
PyObject* get_name(PyObject* self, void*) noexcept {
  return guarded([&]() -> PyObject* {
    if (!interop::is_symbolic(tensor_of(self))) {
      raise(PyExc_AttributeError,
            "Tensor.name is undefined when eager execution is enabled: only tensors of a function "
            "that is traced have names");
    }
    return nb::str(interop::symbolic_name(tensor_of(self)).c_str()).release().ptr();
  });
}
PyObject* get_is_symbolic(PyObject* self, void*) noexcept {
  return Py_NewRef(interop::is_symbolic(tensor_of(self)) ? Py_True : Py_False);
}

PyObject* numpy(PyObject* self, PyObject*) noexcept {
  return guarded([&] { return to_numpy(tensor_of(self), self, true).release().ptr(); });
}

// numpy's protocol: __array__(dtype=None, copy=None).
PyObject* array(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    PyObject *dtype = Py_None, *copy = Py_None;
    static const char* names[] = {"dtype", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", const_cast<char**>(names), &dtype,
                                     &copy))
      throw nb::python_error();
    nb::object made = to_numpy(tensor_of(self), self, false);
    if (dtype != Py_None) made = made.attr("astype")(nb::handle(dtype), nb::arg("copy") = false);
    if (copy == Py_True) made = made.attr("copy")();
    return made.release().ptr();
  });
}

template <const char* Name>
PyObject* method(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  return guarded([&] {
    const nb::object f = helper(Name);
    const nb::object all = nb::make_tuple(nb::handle(self)) + nb::borrow<nb::tuple>(args);
    PyObject* made = PyObject_Call(f.ptr(), all.ptr(), keywords);
    if (!made) throw nb::python_error();
    return made;
  });
}
constexpr char kSetShape[] = "set_shape";
constexpr char kRef[] = "ref";
constexpr char kReduce[] = "reduce";
constexpr char kDlpack[] = "dlpack";
constexpr char kDlpackDevice[] = "dlpack_device";
constexpr char kDeepCopy[] = "deep_copy";
constexpr char kGetShape[] = "get_shape";
constexpr char kFormat[] = "format_of";

template <const char* Name>
PyMethodDef python_method(const char* name) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&method<Name>)),
          METH_VARARGS | METH_KEYWORDS, nullptr};
}

PyGetSetDef properties[] = {
    {"shape", get_shape, nullptr, "The dimensions, as a TensorShape.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where it stands.", nullptr},
    {"ndim", get_ndim, nullptr, "How many dimensions there are.", nullptr},
    {"name", get_name, nullptr, "In a function that is traced, the op that makes it.", nullptr},
    {"_id", get_id, nullptr, nullptr, nullptr},
    {"_is_symbolic", get_is_symbolic, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef* methods() {
  static PyMethodDef list[] = {
      {"numpy", numpy, METH_NOARGS,
       "The elements as a numpy array: of a tensor on the CPU a view that cannot be written to."},
      {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&array)),
       METH_VARARGS | METH_KEYWORDS, nullptr},
      python_method<kGetShape>("get_shape"),
      python_method<kFormat>("__format__"),
      python_method<kSetShape>("set_shape"),
      python_method<kRef>("ref"),
      python_method<kRef>("experimental_ref"),
      python_method<kReduce>("__reduce__"),
      python_method<kDeepCopy>("__copy__"),
      python_method<kDeepCopy>("__deepcopy__"),
      python_method<kDlpack>("__dlpack__"),
      python_method<kDlpackDevice>("__dlpack_device__"),
      {nullptr, nullptr, 0, nullptr}};
  return list;
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

void bind_tensor(nb::module_& m) {
  static std::vector<PyType_Slot> slots;
  slots = {
      {Py_tp_dealloc, slot(destroy)},
      {Py_tp_repr, slot(by_helper<kRepr>)},
      {Py_tp_str, slot(by_helper<kStr>)},
      {Py_tp_iter, slot(by_helper<kIterate>)},
      {Py_tp_hash, slot(hash)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods()},
      {Py_tp_members, members},
      {Py_nb_bool, slot(is_true)},
      {Py_nb_int, slot(as_int)},
      {Py_nb_float, slot(as_float)},
      {Py_nb_index, slot(as_index)},
      {Py_mp_length, slot(length)},
      {Py_bf_getbuffer, slot(tensor_get_buffer)},
      {Py_bf_releasebuffer, slot(tensor_release_buffer)},
      {Py_tp_doc, const_cast<char*>("A tensor: elements of one type in a rectangle of any rank. "
                                    "Tensors do not change; tf.constant makes one.")}};
  for (const PyType_Slot& s : operator_slots()) slots.push_back(s);
  slots.push_back({0, nullptr});
  static PyType_Spec spec{"plimsoll.Tensor", sizeof(PyTensor), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  const nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid()) throw nb::python_error();
  tensor_type = reinterpret_cast<PyTypeObject*>(nb::object(type).release().ptr());
  type.attr("__array_priority__") = 100;  // numpy leaves operators to us
  m.attr("Tensor") = type;
}

}  // namespace plimsoll::python
