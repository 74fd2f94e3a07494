// Python's numbers and strings, and nested lists of them, as tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "plimsoll/dtype.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {

namespace nb = nanobind;

// The tensor of a bool, an integer, a float, a string or bytes; false: it is none of these.
// throws: TypeError if it does not fit the type that is wanted.
bool try_number(PyObject* value, std::optional<DType> dtype, Tensor& made);

bool is_list(PyObject* value);
// Of a list or tuple, nested or not. Tensors and arrays in it are stacked.
// throws: ValueError if it is no rectangle; TypeError.
Tensor from_list(nb::handle value, std::optional<DType> dtype);

// The bytes of a str or bytes object. pre: it is one.
std::string bytes_of(nb::handle value);
[[noreturn]] void cannot_convert(nb::handle value, DType dtype);

}  // namespace plimsoll::python
