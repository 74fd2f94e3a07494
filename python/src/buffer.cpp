// Elements in and out: Python's buffers, numpy, DLPack.
#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {

std::optional<DType> dtype_of_format(const char* format) {
  if (!format) return uint8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return {};
  switch (format[0]) {
    case 'f':
      return float32;
    case 'd':
      return float64;
    case 'e':
      return float16;
    case 'b':
      return int8;
    case 'B':
      return uint8;
    case 'h':
      return int16;
    case 'H':
      return uint16;
    case 'i':
      return int32;
    case 'l':
    case 'q':
      return int64;
    case '?':
      return bool_;
    default:
      return {};
  }
}

namespace {

const char* format_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "f";
    case DType::kFloat64:
      return "d";
    case DType::kFloat16:
      return "e";
    case DType::kBFloat16:
      return "H";
    case DType::kInt8:
      return "b";
    case DType::kUInt8:
      return "B";
    case DType::kInt16:
      return "h";
    case DType::kUInt16:
      return "H";
    case DType::kInt32:
      return "i";
    case DType::kInt64:
      return "l";  // numpy.int64; "q" is its longlong
    case DType::kBool:
      return "?";
    case DType::kString:
      break;
  }
  return nullptr;
}

// A view that gives itself back.
struct View {
  Py_buffer buffer{};
  bool is_held = false;
  ~View() {
    if (is_held) PyBuffer_Release(&buffer);
  }
};

// Words, or bytes: an array of them as a nested list of the same shape.
std::optional<Tensor> from_text_array(nb::handle array) {
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind != "U" && kind != "S" && kind != "O") return {};
  std::vector<std::string> texts;
  for (const nb::handle item : array.attr("ravel")().attr("tolist")()) {
    if (!PyUnicode_Check(item.ptr()) && !PyBytes_Check(item.ptr())) {
      raise_value_error(
          fmt::format("Failed to convert a NumPy array to a Tensor (Unsupported object "
                      "type {}).",
                      class_repr(item)));
    }
    texts.push_back(to_text(item, "string"));
  }
  return constant(std::span<const std::string>(texts), to_shape(array.attr("shape")));
}

std::string dtype_text(nb::handle array) {
  if (!nb::hasattr(array, "dtype")) return class_repr(array);
  return text_of(array.attr("dtype"));
}

std::optional<Tensor> from_odd_array(nb::handle array) {
  if (!nb::hasattr(array, "dtype")) return {};
  if (dtype_text(array) == "bfloat16") {  // which numpy itself does not know
    const nb::object bits = array.attr("view")("uint16");
    const nb::object rows = nb::module_::import_("numpy").attr("ascontiguousarray")(bits);
    View view;
    if (PyObject_GetBuffer(rows.ptr(), &view.buffer, PyBUF_CONTIG_RO) != 0)
      throw nb::python_error();
    view.is_held = true;
    return interop::copy_from_host(bfloat16, to_shape(array.attr("shape")), view.buffer.buf);
  }
  return from_text_array(array);
}

[[noreturn]] void no_such_type(nb::handle array) {
  throw UnimplementedError(fmt::format(
      "tensors of type {} are not built. There are float32, float64, float16, bfloat16, "
      "int8, uint8, int16, uint16, int32, int64, bool and string: convert the array first",
      dtype_text(array)));
}

nb::object make_numpy(const Tensor& tensor, nb::handle py_tensor) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  if (tensor.dtype() == DType::kString) {
    nb::object array = numpy.attr("empty")(shape_tuple(tensor.shape()), "object");
    nb::object flat = array.attr("reshape")(-1);
    Py_ssize_t i = 0;
    for (const std::string& text : tensor.to_vector<std::string>())
      flat[i++] = nb::bytes(text.data(), text.size());
    return array;
  }
  nb::object array;
  if (interop::host_data(tensor)) {
    array = numpy.attr("asarray")(nb::steal(PyMemoryView_FromObject(py_tensor.ptr())));
  } else {
    const nb::object kind = tensor.dtype() == bfloat16
                                ? nb::str("uint16")
                                : nb::object(dtype_object(tensor.dtype()).attr("as_numpy_dtype"));
    array = numpy.attr("empty")(shape_tuple(tensor.shape()), kind);
    View view;
    if (PyObject_GetBuffer(array.ptr(), &view.buffer, PyBUF_CONTIG) != 0) throw nb::python_error();
    view.is_held = true;
    without_gil(tensor.num_elements(), [&] { interop::copy_to_host(tensor, view.buffer.buf); });
  }
  if (tensor.dtype() == bfloat16)
    array = array.attr("view")(dtype_object(bfloat16).attr("as_numpy_dtype"));
  return array;
}

nb::object check_not_symbolic(const Tensor& tensor, const char* what) {
  if (interop::is_symbolic(tensor)) {
    raise(PyExc_NotImplementedError,
          fmt::format("Cannot convert a symbolic tf.Tensor ({}) to a numpy array: {} has no value "
                      "while its function is traced",
                      interop::symbolic_name(tensor), what));
  }
  return nb::none();
}

}  // namespace

std::optional<Tensor> from_buffer(nb::handle value) {
  View view;
  if (PyObject_GetBuffer(value.ptr(), &view.buffer, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    if (auto made = from_odd_array(value)) return made;
    no_such_type(value);
  }
  view.is_held = true;
  const Py_buffer& b = view.buffer;
  const std::optional<DType> dtype = dtype_of_format(b.format);
  if (!dtype) {
    if (auto made = from_odd_array(value)) return made;
    no_such_type(value);
  }
  const std::vector<std::int64_t> dims(b.shape, b.shape + b.ndim);
  const Shape shape{std::span<const std::int64_t>(dims)};
  if (PyBuffer_IsContiguous(&b, 'C') || b.len == 0)
    return without_gil(shape.num_elements(),
                       [&] { return interop::copy_from_host(*dtype, shape, b.buf); });
  std::vector<char> rows(static_cast<std::size_t>(b.len));
  if (PyBuffer_ToContiguous(rows.data(), &b, b.len, 'C') != 0) throw nb::python_error();
  return interop::copy_from_host(*dtype, shape, rows.data());
}

nb::object to_numpy(const Tensor& tensor, nb::handle py_tensor, bool scalars) {
  check_not_symbolic(tensor, "it");
  nb::object array = make_numpy(tensor, py_tensor);
  if (scalars && tensor.rank() == 0) return array[nb::make_tuple()];
  return array;
}

int tensor_get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  const Tensor& tensor = tensor_of(self);
  const void* data = interop::host_data(tensor);
  const bool is_empty = tensor.num_elements() == 0 && !interop::is_symbolic(tensor);
  if ((!data && !is_empty) || (flags & PyBUF_WRITABLE) || tensor.dtype() == DType::kString) {
    PyErr_SetString(PyExc_BufferError,
                    flags & PyBUF_WRITABLE
                        ? "tensors do not change: their memory can only be read"
                        : "only tensors with a value on the CPU have memory that can be viewed");
    view->obj = nullptr;
    return -1;
  }
  struct Dims {
    Py_ssize_t shape[kMaxRank], strides[kMaxRank];
  };
  auto* dims = static_cast<Dims*>(PyMem_Malloc(sizeof(Dims)));
  if (!dims) {
    PyErr_NoMemory();
    return -1;
  }
  Py_ssize_t stride = dtype_size(tensor.dtype());
  for (int i = tensor.rank() - 1; i >= 0; --i) {
    dims->shape[i] = tensor.shape().dim(i);
    dims->strides[i] = stride;
    stride *= dims->shape[i];
  }
  view->obj = Py_NewRef(self);
  view->buf = const_cast<void*>(data ? data : static_cast<const void*>(dims));
  view->len = tensor.nbytes();
  view->readonly = 1;
  view->itemsize = dtype_size(tensor.dtype());
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format_of(tensor.dtype())) : nullptr;
  view->ndim = tensor.rank();
  view->shape = flags & PyBUF_ND ? dims->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = dims;
  return 0;
}

void tensor_release_buffer(PyObject*, Py_buffer* view) noexcept {
  PyMem_Free(view->internal);
}

namespace {

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(dtype_size(dtype) * 8);
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Int;
  if (dtype == bfloat16) {
    code = Code::Bfloat;
  } else if (is_floating(dtype)) {
    code = Code::Float;
  } else if (dtype == bool_) {
    code = Code::Bool;
  } else if (dtype == uint8 || dtype == uint16) {
    code = Code::UInt;
  }
  return {static_cast<std::uint8_t>(code), bits, 1};
}

std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype wanted) {
  for (int i = 0; i < kNumDTypes - 1; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (dlpack_dtype(dtype) == wanted) return dtype;
  }
  return {};
}

// The tensor's own memory; the capsule keeps it.
nb::object to_dlpack(nb::handle value) {
  if (!is_tensor(value.ptr()))
    raise_type_error(fmt::format("to_dlpack: expected a tensor, got {}", repr_of(value)));
  const Tensor& tensor = tensor_of(value.ptr());
  check_not_symbolic(tensor, "it");
  const void* data = interop::host_data(tensor);
  if (!data) {
    throw UnimplementedError(
        fmt::format("DLPack shows tensors of numbers on the CPU; this one is of {} on '{}'",
                    dtype_name(tensor.dtype()), tensor.device()));
  }
  std::vector<std::size_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  const nb::ndarray<> shown(const_cast<void*>(data), dims.size(), dims.data(), nb::borrow(value),
                            nullptr, dlpack_dtype(tensor.dtype()), nb::device::cpu::value, 0);
  return nb::cast(shown, nb::rv_policy::reference);
}

nb::object from_dlpack(nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array) {
  const std::optional<DType> dtype = dtype_of_dlpack(array.dtype());
  if (!dtype) {
    throw UnimplementedError(
        fmt::format("from_dlpack: no tensor has elements of DLPack's type code {} with {} bits",
                    array.dtype().code, array.dtype().bits));
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < array.ndim(); ++i)
    dims.push_back(static_cast<std::int64_t>(array.shape(i)));
  return to_python(
      interop::copy_from_host(*dtype, Shape(std::span<const std::int64_t>(dims)), array.data()));
}

}  // namespace

void bind_buffer(nb::module_& m) {
  m.def("to_dlpack", &to_dlpack, nb::arg("tf_tensor"));
  m.def("from_dlpack", &from_dlpack, nb::arg("dlcapsule"));
}

}  // namespace plimsoll::python
