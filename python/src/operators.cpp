#include "operators.h"

#include <fmt/format.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using Unary = Tensor (*)(const Tensor&);

Tensor run(Binary f, const Tensor& x, const Tensor& y) {
  if (interop::is_tracing()) {
    if (!is_known_int(x) || !is_known_int(y)) return f(x, y);
    const interop::InitScope now;
    return f(x, y);
  }
  return without_gil(x.num_elements() + y.num_elements(), [&] { return f(x, y); });
}

// Whether an operand is something that only we know how to convert. Others have their own
// operators, and so has what takes calls over.
bool is_ours(PyObject* value) {
  if (nb::hasattr(reinterpret_cast<PyObject*>(Py_TYPE(value)), "__plimsoll_call__")) return false;
  return is_tensor(value) || as_variable(value) || PyFloat_Check(value) || PyLong_Check(value) ||
         PyList_Check(value) || PyTuple_Check(value) || PyUnicode_Check(value) ||
         PyBytes_Check(value) || PyObject_CheckBuffer(value) ||
         nb::hasattr(value, "__tf_tensor__") || nb::hasattr(value, "__array__");
}

// Of the other operand's type if it can be; else the op says what does not go together.
Tensor to_operand(PyObject* value, DType other) {
  try {
    return to_tensor(value, other);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return to_tensor(value);
  }
}

PyObject* apply_converted(Binary f, PyObject* a, PyObject* b) {
  Tensor kept_a, kept_b;
  const Tensor* x = tensor_behind(a, kept_a);
  const Tensor* y = tensor_behind(b, kept_b);
  if (!x && !is_ours(a)) Py_RETURN_NOTIMPLEMENTED;
  if (!y && !is_ours(b)) Py_RETURN_NOTIMPLEMENTED;
  if (!x) {
    kept_a = to_operand(a, y->dtype());
    x = &kept_a;
  }
  if (!y) {
    kept_b = to_operand(b, x->dtype());
    y = &kept_b;
  }
  return make_py_tensor(run(f, *x, *y));
}

PyObject* apply(Binary f, PyObject* a, PyObject* b) noexcept {
  return guarded([&] {
    if (is_tensor(a) && is_tensor(b)) [[likely]]
      return make_py_tensor(run(f, tensor_of(a), tensor_of(b)));
    return apply_converted(f, a, b);
  });
}

template <Binary F>
PyObject* binary(PyObject* a, PyObject* b) noexcept {
  return apply(F, a, b);
}

PyObject* apply(Unary f, PyObject* a) noexcept {
  return guarded([&] {
    Tensor kept;
    const Tensor& x = *tensor_behind(a, kept);
    return make_py_tensor(without_gil(x.num_elements(), [&] { return f(x); }));
  });
}

template <Unary F>
PyObject* unary(PyObject* a) noexcept {
  return apply(F, a);
}

// By type: of bool logical, of integers bit by bit.
template <Binary Logical, Binary Bitwise>
Tensor by_type(const Tensor& x, const Tensor& y) {
  return x.dtype() == bool_ ? Logical(x, y) : Bitwise(x, y);
}
Tensor invert(const Tensor& x) {
  return x.dtype() == bool_ ? logical_not(x) : bitwise::invert(x);
}
Tensor product(const Tensor& x, const Tensor& y) {
  return matmul(x, y);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) noexcept {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow() of a tensor takes no modulus");
    return nullptr;
  }
  return apply(pow, a, b);
}

bool shapes_match(const Tensor& x, const Tensor& y) {
  try {
    broadcast_shapes(x.shape(), y.shape(), "equal");
    return true;
  } catch (const InvalidArgumentError&) {
    return false;
  }
}

// What does not even have a common shape is not equal.
Tensor equal_or_false(const Tensor& x, const Tensor& y) {
  return shapes_match(x, y) ? equal(x, y) : constant(false);
}
Tensor not_equal_or_true(const Tensor& x, const Tensor& y) {
  return shapes_match(x, y) ? not_equal(x, y) : constant(true);
}

PyObject* compare(PyObject* a, PyObject* b, int op) noexcept {
  switch (op) {
    case Py_EQ:
      if (b == Py_None) Py_RETURN_FALSE;
      return apply(equal_or_false, a, b);
    case Py_NE:
      if (b == Py_None) Py_RETURN_TRUE;
      return apply(not_equal_or_true, a, b);
    case Py_LT:
      return apply(less, a, b);
    case Py_LE:
      return apply(less_equal, a, b);
    case Py_GT:
      return apply(greater, a, b);
    default:
      return apply(greater_equal, a, b);
  }
}

PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  return guarded([&] {
    Tensor kept;
    return make_py_tensor(get_item(*tensor_behind(self, kept), key));
  });
}

template <class F>
void* slot(F* f) {
  return reinterpret_cast<void*>(f);
}

}  // namespace

bool is_known_int(const Tensor& tensor) noexcept {
  constexpr std::int64_t kFew = 64;
  return is_integer(tensor.dtype()) && tensor.num_elements() <= kFew &&
         !interop::is_symbolic(tensor);
}

std::span<const PyType_Slot> operator_slots() {
  static const PyType_Slot slots[] = {
      {Py_nb_add, slot(binary<add>)},
      {Py_nb_subtract, slot(binary<subtract>)},
      {Py_nb_multiply, slot(binary<multiply>)},
      {Py_nb_true_divide, slot(binary<divide>)},
      {Py_nb_floor_divide, slot(binary<floordiv>)},
      {Py_nb_remainder, slot(binary<floormod>)},
      {Py_nb_power, slot(power)},
      {Py_nb_matrix_multiply, slot(binary<product>)},
      {Py_nb_and, slot(binary<by_type<logical_and, bitwise::bitwise_and>>)},
      {Py_nb_or, slot(binary<by_type<logical_or, bitwise::bitwise_or>>)},
      {Py_nb_xor, slot(binary<by_type<math::logical_xor, bitwise::bitwise_xor>>)},
      {Py_nb_negative, slot(unary<negative>)},
      {Py_nb_absolute, slot(unary<abs>)},
      {Py_nb_invert, slot(unary<invert>)},
      {Py_tp_richcompare, slot(compare)},
      {Py_mp_subscript, slot(subscript)},
  };
  return slots;
}

}  // namespace plimsoll::python
