// tf.strings.
#include "plimsoll/strings.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/data/io.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

// Strings, and lists and arrays of them; of tensors any, for which C++ has an error.
Tensor to_strings(nb::handle value) {
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept)) return *tensor;
  return to_tensor(value, DType::kString);
}

// A function of strings that gives up Python's lock if there are many.
template <class F>
nb::object of_strings(nb::handle input, const F& f) {
  constexpr std::int64_t kWork = 64;  // of a string, in elements of numbers
  const Tensor texts = to_strings(input);
  return to_python(without_gil(texts.num_elements() * kWork, [&] { return f(texts); }));
}

// One string: text, bytes, or a tensor without dimensions.
std::string to_scalar(nb::handle value, const char* what) {
  const Tensor text = to_strings(value);
  if (text.rank() != 0)
    throw InvalidArgumentError(
        fmt::format("{} must be scalar, but received {}", what, text.shape().to_string()));
  return text.item<std::string>();
}

// (flat_values, [splits], lengths of rows that are strings); those of one string have no splits.
template <class F>
nb::object parts_of(nb::handle input, const F& f) {
  const Tensor texts = to_strings(input);
  const RaggedTensor parts = without_gil([&] { return f(texts); });
  nb::list splits, lengths;
  for (int d = 1; d < texts.rank(); ++d) lengths.append(texts.shape().dim(d));
  if (texts.rank() > 0) {
    for (const Tensor& t : parts.nested_row_splits()) splits.append(to_python(t));
  }
  return nb::make_tuple(to_python(parts.flat_values()), splits, lengths);
}

void bind_parts(nb::module_& m) {
  m.def(
      "split",
      [](nb::handle input, nb::handle sep, std::int64_t maxsplit) {
        const std::string between = sep.is_none() ? "" : to_scalar(sep, "sep");
        return parts_of(input,
                        [&](const Tensor& t) { return strings::split(t, between, maxsplit); });
      },
      nb::arg("input"), nb::arg("sep").none(), nb::arg("maxsplit"));
  m.def("bytes_split", [](nb::handle input) { return parts_of(input, strings::bytes_split); });
  m.def("substr", [](nb::handle input, nb::handle pos, nb::handle len, const std::string& unit) {
    const Tensor first = to_tensor(pos), size = to_tensor(len);
    return of_strings(input,
                      [&](const Tensor& t) { return strings::substr(t, first, size, unit); });
  });
  m.def("join", [](nb::list inputs, nb::handle separator) {
    std::vector<Tensor> parts;
    for (const nb::handle item : inputs) parts.push_back(to_strings(item));
    return to_python(strings::join(parts, to_scalar(separator, "separator")));
  });
  m.def(
      "reduce_join",
      [](nb::handle inputs, nb::handle axis, bool keepdims, nb::handle separator) {
        std::optional<std::vector<std::int64_t>> axes;
        if (!axis.is_none()) axes = to_ints(axis, "axis");
        const std::string between = to_scalar(separator, "separator");
        return of_strings(inputs, [&](const Tensor& t) {
          return strings::reduce_join(t, axes, keepdims, between);
        });
      },
      nb::arg("inputs"), nb::arg("axis").none(), nb::arg("keepdims"), nb::arg("separator"));
}

void bind_numbers(nb::module_& m) {
  m.def("to_number", [](nb::handle input, nb::handle out_type) {
    const DType dtype = to_dtype(out_type);
    return of_strings(input, [&](const Tensor& t) { return strings::to_number(t, dtype); });
  });
  m.def("as_string", [](nb::handle input, std::int64_t precision, bool scientific, bool shortest,
                        std::int64_t width, const std::string& fill) {
    const Tensor values = to_tensor(input);
    const strings::AsStringOptions options{.precision = precision,
                                           .scientific = scientific,
                                           .shortest = shortest,
                                           .width = width,
                                           .fill = fill};
    return to_python(without_gil(values.num_elements() * 64,
                                 [&] { return strings::as_string(values, options); }));
  });
  m.def("format", [](nb::handle text, nb::list inputs, const std::string& placeholder,
                     std::int64_t summarize) {
    std::vector<Tensor> tensors;
    for (const nb::handle item : inputs) tensors.push_back(to_tensor(item));
    const std::string words = to_text(text, "template");
    return config_errors(
        [&] { return to_python(strings::format(words, tensors, placeholder, summarize)); });
  });
  m.def("to_hash_bucket", [](nb::handle input, std::int64_t num) {
    return of_strings(input, [&](const Tensor& t) { return strings::to_hash_bucket(t, num); });
  });
  m.def("to_hash_bucket_fast", [](nb::handle input, std::int64_t num) {
    return of_strings(input, [&](const Tensor& t) { return strings::to_hash_bucket_fast(t, num); });
  });
  m.def("to_hash_bucket_strong", [](nb::handle input, std::int64_t num,
                                    const std::vector<std::uint64_t>& key) {
    if (key.size() != 2)
      throw InvalidArgumentError(fmt::format("Key must have 2 elements, received {}", key.size()));
    return of_strings(input, [&](const Tensor& t) {
      return strings::to_hash_bucket_strong(t, num, {key[0], key[1]});
    });
  });
}

}  // namespace

void bind_strings(nb::module_& core) {
  nb::module_ m = core.def_submodule("strings");
  m.def("length", [](nb::handle input, const std::string& unit) {
    return of_strings(input, [&](const Tensor& t) { return strings::length(t, unit); });
  });
  m.def("lower", [](nb::handle input, const std::string& encoding) {
    return of_strings(input, [&](const Tensor& t) { return strings::lower(t, encoding); });
  });
  m.def("upper", [](nb::handle input, const std::string& encoding) {
    return of_strings(input, [&](const Tensor& t) { return strings::upper(t, encoding); });
  });
  m.def("strip", [](nb::handle input) { return of_strings(input, strings::strip); });
  m.def("regex_replace",
        [](nb::handle input, nb::handle pattern, nb::handle rewrite, bool is_global) {
          const std::string expression = to_scalar(pattern, "Pattern");
          const std::string by = to_scalar(rewrite, "Rewrite");
          return of_strings(input, [&](const Tensor& t) {
            return strings::regex_replace(t, expression, by, is_global);
          });
        });
  m.def("regex_full_match", [](nb::handle input, nb::handle pattern) {
    const std::string expression = to_scalar(pattern, "Pattern");
    return of_strings(input,
                      [&](const Tensor& t) { return strings::regex_full_match(t, expression); });
  });
  m.def("encode_base64", [](nb::handle input, bool pad) {
    return of_strings(input, [&](const Tensor& t) { return io::encode_base64(t, pad); });
  });
  m.def("decode_base64", [](nb::handle input) { return of_strings(input, io::decode_base64); });
  bind_parts(m);
  bind_numbers(m);
}

}  // namespace plimsoll::python
