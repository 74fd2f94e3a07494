#include "numbers.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <vector>

#include "convert.h"
#include "errors.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::python {

std::string bytes_of(nb::handle value) {
  if (PyBytes_Check(value.ptr()))
    return {PyBytes_AS_STRING(value.ptr()),
            static_cast<std::size_t>(PyBytes_GET_SIZE(value.ptr()))};
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
  if (!text) throw nb::python_error();
  return {text, static_cast<std::size_t>(length)};
}

void cannot_convert(nb::handle value, DType dtype) {
  raise_type_error(fmt::format("Cannot convert {} to EagerTensor of dtype {}", repr_of(value),
                               dtype_word(dtype)));
}

bool is_list(PyObject* value) {
  return PyList_Check(value) || PyTuple_Check(value);
}

namespace {

// What a nested list of Python numbers holds, in order.
struct Numbers {
  enum class Kind { kNone, kBool, kInt, kFloat, kText, kOther };
  Kind kind = Kind::kNone;
  std::array<std::int64_t, kMaxRank> dims{};
  std::size_t rank = 0;
  std::vector<std::int64_t> ints;  // kBool, kInt
  std::vector<double> floats;      // kFloat
  std::vector<std::string> texts;  // kText
  nb::handle odd;                  // kOther: what is no number
  bool is_ragged = false;
};

// Adds a number; false if it is none.
bool add_number(Numbers& into, PyObject* value) {
  using Kind = Numbers::Kind;
  Kind kind = Kind::kOther;
  if (PyBool_Check(value)) {
    kind = Kind::kBool;
  } else if (PyFloat_CheckExact(value)) {
    kind = Kind::kFloat;
  } else if (PyLong_CheckExact(value)) {
    kind = Kind::kInt;
  } else if (PyUnicode_Check(value) || PyBytes_Check(value)) {
    kind = Kind::kText;
  }
  if (kind == Kind::kOther) return false;
  if (into.kind == Kind::kNone) into.kind = kind;
  if (into.kind != kind) {
    const bool widens = into.kind == Kind::kInt && kind == Kind::kFloat;
    if (widens) {
      into.floats.assign(into.ints.begin(), into.ints.end());
      into.ints.clear();
      into.kind = Kind::kFloat;
    } else if (!(into.kind == Kind::kFloat && kind == Kind::kInt)) {
      return false;
    }
  }
  if (kind == Kind::kText) {
    into.texts.push_back(bytes_of(value));
  } else if (kind == Kind::kFloat) {
    into.floats.push_back(PyFloat_AS_DOUBLE(value));
  } else {
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
      raise_value_error(
          fmt::format("Can't convert Python sequence with out-of-range integer to "
                      "Tensor: {} does not fit into 64 bits",
                      repr_of(value)));
    }
    if (into.kind == Kind::kFloat) {
      into.floats.push_back(static_cast<double>(number));
    } else {
      into.ints.push_back(number);
    }
  }
  return true;
}

// Goes through a nested list; stops at what is no number and not as long as its neighbours.
void collect(Numbers& into, PyObject* value, std::size_t depth) {
  if (!is_list(value)) {
    if (depth != into.rank) {
      into.is_ragged = true;
    } else if (!add_number(into, value)) {
      into.kind = Numbers::Kind::kOther;
      into.odd = value;
    }
    return;
  }
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
  if (depth == into.rank) {
    if (into.kind != Numbers::Kind::kNone || depth == kMaxRank) {  // beside numbers, or too deep
      into.is_ragged = true;
      return;
    }
    into.dims[into.rank++] = size;
  } else if (into.dims[depth] != size) {
    into.is_ragged = true;
    return;
  }
  PyObject** items = PySequence_Fast_ITEMS(value);
  for (Py_ssize_t i = 0; i < size; ++i) {
    collect(into, items[i], depth + 1);
    if (into.is_ragged || into.kind == Numbers::Kind::kOther) return;
  }
}

template <class T, class From>
Tensor pack(const std::vector<From>& values, const Shape& shape, DType dtype) {
  if constexpr (std::is_same_v<T, From>) {
    return interop::copy_from_host(dtype, shape, values.data());
  } else {
    std::vector<T> packed;
    packed.reserve(values.size());
    for (const From value : values) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        packed.push_back(T(static_cast<float>(value)));
      } else {
        packed.push_back(static_cast<T>(value));
      }
    }
    return interop::copy_from_host(dtype, shape, packed.data());
  }
}

template <class T>
bool all_fit(const std::vector<std::int64_t>& values) {
  for (const std::int64_t value : values) {
    if (value < static_cast<std::int64_t>(std::numeric_limits<T>::min()) ||
        value > static_cast<std::int64_t>(std::numeric_limits<T>::max()))
      return false;
  }
  return true;
}

Tensor pack_floats(const Numbers& numbers, const Shape& shape, DType dtype, nb::handle value) {
  switch (dtype) {
    case DType::kFloat32:
      return pack<float>(numbers.floats, shape, dtype);
    case DType::kFloat64:
      return pack<double>(numbers.floats, shape, dtype);
    case DType::kFloat16:
      return pack<Half>(numbers.floats, shape, dtype);
    case DType::kBFloat16:
      return pack<BFloat16>(numbers.floats, shape, dtype);
    default:
      cannot_convert(value, dtype);
  }
}

Tensor pack_ints(const Numbers& numbers, const Shape& shape, DType dtype, nb::handle value) {
  const auto narrow = [&]<class T>(T) {
    if (!all_fit<T>(numbers.ints)) cannot_convert(value, dtype);
    return pack<T>(numbers.ints, shape, dtype);
  };
  switch (dtype) {
    case DType::kInt8:
      return narrow(std::int8_t{});
    case DType::kUInt8:
      return narrow(std::uint8_t{});
    case DType::kInt16:
      return narrow(std::int16_t{});
    case DType::kUInt16:
      return narrow(std::uint16_t{});
    case DType::kInt32:
      return narrow(std::int32_t{});
    case DType::kInt64:
      return pack<std::int64_t>(numbers.ints, shape, dtype);
    case DType::kFloat32:
      return pack<float>(numbers.ints, shape, dtype);
    case DType::kFloat64:
      return pack<double>(numbers.ints, shape, dtype);
    case DType::kFloat16:
      return pack<Half>(numbers.ints, shape, dtype);
    case DType::kBFloat16:
      return pack<BFloat16>(numbers.ints, shape, dtype);
    default:
      cannot_convert(value, dtype);
  }
}

Tensor pack_numbers(const Numbers& numbers, std::optional<DType> dtype, nb::handle value) {
  const Shape shape{std::span<const std::int64_t>(numbers.dims.data(), numbers.rank)};
  switch (numbers.kind) {
    case Numbers::Kind::kFloat:
      return pack_floats(numbers, shape, dtype.value_or(float32), value);
    case Numbers::Kind::kInt:
      return pack_ints(numbers, shape,
                       dtype.value_or(all_fit<std::int32_t>(numbers.ints) ? int32 : int64), value);
    case Numbers::Kind::kBool:
      if (dtype.value_or(bool_) != bool_) return pack_ints(numbers, shape, *dtype, value);
      return pack<std::uint8_t>(numbers.ints, shape, bool_);
    case Numbers::Kind::kText:
      if (dtype.value_or(DType::kString) != DType::kString) cannot_convert(value, *dtype);
      return constant(std::span<const std::string>(numbers.texts), shape);
    default:  // no elements
      if (dtype == DType::kString) return constant(std::span<const std::string>(), shape);
      return interop::copy_from_host(dtype.value_or(float32), shape, nullptr);
  }
}

template <class T>
Tensor one(T value, DType dtype) {
  return interop::copy_from_host(dtype, Shape(), &value);
}

// The tensor of a Python number, where it is of a type that is met often.
bool try_usual(PyObject* value, std::optional<DType> dtype, Tensor& made) {
  if (PyFloat_CheckExact(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    if (dtype.value_or(float32) == float32) {
      made = one(static_cast<float>(number), float32);
      return true;
    }
    if (dtype == float64) {
      made = one(number, float64);
      return true;
    }
    return false;
  }
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow) return false;
  if (dtype == float32) {
    made = one(static_cast<float>(number), float32);
  } else if (dtype == int64) {
    made = one(static_cast<std::int64_t>(number), int64);
  } else if (dtype.value_or(int32) == int32 && number >= INT32_MIN && number <= INT32_MAX) {
    made = one(static_cast<std::int32_t>(number), int32);
  } else {
    return false;
  }
  return true;
}

// A list of tensors, arrays and the like: stacked.
Tensor stack_list(PyObject* list, std::optional<DType> dtype) {
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(list);
  std::vector<Tensor> rows;
  for (Py_ssize_t i = 0; i < size && !dtype; ++i) {  // a tensor among them says the type
    Tensor kept;
    if (const Tensor* t = tensor_behind(PySequence_Fast_GET_ITEM(list, i), kept))
      dtype = t->dtype();
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    rows.push_back(to_tensor(PySequence_Fast_GET_ITEM(list, i), dtype));
    if (!dtype) dtype = rows.back().dtype();
    if (!(rows.back().shape() == rows[0].shape())) {
      raise_value_error(
          fmt::format("Can't convert non-rectangular Python sequence to Tensor: element 0 has "
                      "shape {}, element "
                      "{} has {}",
                      rows[0].shape().to_string(), i, rows.back().shape().to_string()));
    }
  }
  return stack(rows);
}

}  // namespace

bool try_number(PyObject* value, std::optional<DType> dtype, Tensor& made) {
  if (try_usual(value, dtype, made)) return true;
  Numbers numbers;
  if (!add_number(numbers, value)) return false;
  made = pack_numbers(numbers, dtype, value);
  return true;
}

Tensor from_list(nb::handle value, std::optional<DType> dtype) {
  Numbers numbers;
  collect(numbers, value.ptr(), 0);
  if (numbers.kind == Numbers::Kind::kOther) return stack_list(value.ptr(), dtype);
  if (numbers.is_ragged)
    raise_value_error("Can't convert non-rectangular Python sequence to Tensor.");
  return pack_numbers(numbers, dtype, value);
}

}  // namespace plimsoll::python
