// Python values as what the C++ functions take.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {

namespace nb = nanobind;

// The objects of plimsoll.dtypes, by DType.
nb::handle dtype_object(DType dtype);
// A dtype, its name, a numpy dtype, or float, int, bool. throws: TypeError in TensorFlow's words.
DType to_dtype(nb::handle value);

// Numbers, strings, nested lists, numpy arrays, tensors, variables. Python's numbers have no type
// of their own: floats are float32, integers int32 or, if they do not fit, int64. dtype: what is
// wanted. Numbers and arrays are converted if nothing but precision can be lost; a tensor must have
// it. memory: one copy; none of a tensor. throws: ValueError, TypeError in TensorFlow's words;
// ResourceExhaustedError.
Tensor to_tensor(nb::handle value, std::optional<DType> dtype = {});

// The tensor behind an object, without converting anything: of a tensor, or of a variable. Null if
// it is neither. What is read of a variable stays in `kept`.
const Tensor* tensor_behind(nb::handle value, Tensor& kept);

// Integers, also of numpy and of tensors of one element. throws: TypeError.
std::int64_t to_int(nb::handle value, const char* what);
double to_double(nb::handle value, const char* what);
bool to_bool(nb::handle value, const char* what);
std::string to_text(nb::handle value, const char* what);
// One integer, or a list, a TensorShape, a tensor of them.
std::vector<std::int64_t> to_ints(nb::handle value, const char* what);
// throws: ValueError if a dimension is None.
Shape to_shape(nb::handle value);
// plimsoll.TensorShape.
nb::object shape_object(const Shape& shape);
nb::tuple shape_tuple(const Shape& shape);

// numpy: a view of a tensor on the CPU, a copy of others; of strings an array of bytes objects. A
// tensor without dimensions gives a scalar.
nb::object to_numpy(const Tensor& tensor, nb::handle py_tensor, bool scalars);
// Arrays and numpy's scalars. None: it has no buffer of elements that a tensor can have.
std::optional<Tensor> from_buffer(nb::handle value);
// A letter of Python's struct module and numpy, as sizes on this machine have it.
std::optional<DType> dtype_of_format(const char* format);
// A tensor on the host that reads an array where it stands, and holds it; a copy, as to_tensor
// makes it, of what does not stand in one piece, is of another type, or is no array. It is for data
// that is read: who changes the array changes the tensor.
Tensor borrow(nb::handle value);

void bind_convert(nb::module_& m);

}  // namespace plimsoll::python
