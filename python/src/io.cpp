// tf.io: bytes in and out.
#include "plimsoll/data/io.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "dataset_function.h"
#include "errors.h"
#include "gil.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

// Bytes, text, or a tensor of one string.
std::string to_bytes(nb::handle value, const char* what) {
  if (is_tensor(value.ptr()) && tensor_of(value.ptr()).dtype() == DType::kString)
    return tensor_of(value.ptr()).item<std::string>();
  if (nb::hasattr(value, "__fspath__")) return to_text(value.attr("__fspath__")(), what);
  return to_text(value, what);
}
nb::bytes from_bytes(const std::string& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

// {name: (kind, [values])}; kinds as Example numbers them.
io::Features to_features(nb::dict given) {
  io::Features features;
  for (const auto& [name, member] : given) {
    io::Feature feature;
    const auto kind = nb::cast<int>(member[0]);
    if (kind == 1) {
      auto& to = feature.emplace<io::BytesList>();
      for (const nb::handle item : member[1]) to.push_back(to_text(item, "bytes_list"));
    } else if (kind == 2) {
      auto& to = feature.emplace<io::FloatList>();
      for (const nb::handle item : member[1])
        to.push_back(static_cast<float>(to_double(item, "float_list")));
    } else if (kind == 3) {
      auto& to = feature.emplace<io::Int64List>();
      for (const nb::handle item : member[1]) to.push_back(to_int(item, "int64_list"));
    }
    features.emplace_back(nb::cast<std::string>(name), std::move(feature));
  }
  return features;
}

nb::dict from_features(const io::Features& features) {
  nb::dict made;
  for (const auto& [name, feature] : features) {
    nb::list values;
    if (const auto* texts = std::get_if<io::BytesList>(&feature)) {
      for (const std::string& text : *texts) values.append(from_bytes(text));
    } else if (const auto* floats = std::get_if<io::FloatList>(&feature)) {
      for (const float value : *floats) values.append(value);
    } else if (const auto* ints = std::get_if<io::Int64List>(&feature)) {
      for (const std::int64_t value : *ints) values.append(value);
    }
    made[nb::str(name.c_str(), name.size())] = nb::make_tuple(feature.index(), values);
  }
  return made;
}

// ("fixed", dtype, shape, default), ("sequence", dtype, shape, default, allow_missing),
// ("var_len", dtype) or ("ragged", dtype, value_key, row_splits_dtype)
io::FeatureSpec to_spec(nb::handle given) {
  const auto kind = nb::cast<std::string>(given[0]);
  const DType dtype = to_dtype(given[1]);
  if (kind == "var_len") return io::VarLenFeature{.dtype = dtype};
  if (kind == "ragged")
    return io::RaggedFeature{.dtype = dtype,
                             .value_key = nb::cast<std::string>(given[2]),
                             .row_splits_dtype = to_dtype(given[3])};
  const std::vector<std::int64_t> shape = to_ints(given[2], "shape");
  const nb::object fallback = given[3];
  const Tensor value = fallback.is_none() ? Tensor() : to_tensor(fallback, dtype);
  if (kind == "fixed")
    return io::FixedLenFeature{.shape = shape, .dtype = dtype, .default_value = value};
  return io::FixedLenSequenceFeature{.shape = shape,
                                     .dtype = dtype,
                                     .allow_missing = nb::cast<bool>(given[4]),
                                     .default_value = value};
}
io::FeatureSpecs to_specs(nb::dict given) {
  io::FeatureSpecs specs;
  for (const auto& [name, member] : given)
    specs.emplace_back(nb::cast<std::string>(name), to_spec(member));
  return specs;
}

// Kept by FixedLenFeatures of a call, so that they are converted once.
struct ParsedSpecs {
  io::FeatureSpecs specs;
};

std::vector<nb::object> decode_csv(nb::handle records, nb::list defaults, const std::string& delim,
                                   bool quotes, const std::string& na,
                                   const std::vector<std::int64_t>& columns) {
  if (delim.size() != 1)
    raise_value_error(fmt::format("field_delim should be only 1 char, got '{}'", delim));
  const Tensor lines = to_tensor(records);
  std::vector<Tensor> values;
  for (const nb::handle item : defaults) values.push_back(to_tensor(item));
  const std::vector<Tensor> made = without_gil([&] {
    return io::decode_csv(lines, values,
                          {.field_delim = delim[0],
                           .use_quote_delim = quotes,
                           .na_value = na,
                           .select_cols = columns});
  });
  std::vector<nb::object> found;
  for (const Tensor& t : made) found.push_back(to_python(t));
  return found;
}

// A function of bytes that gives up Python's lock. Those of a tensor or a bytes object are not
// copied: the caller's reference keeps them.
template <class F>
auto of_bytes(nb::handle contents, const F& f) {
  if (is_tensor(contents.ptr()) && tensor_of(contents.ptr()).dtype() == DType::kString) {
    const Tensor kept = tensor_of(contents.ptr());
    const std::string_view bytes = interop::string_data(kept);
    return to_python(without_gil([&] { return f(bytes); }));
  }
  if (PyBytes_Check(contents.ptr())) {
    const nb::object kept = nb::borrow(contents);
    const std::string_view bytes(PyBytes_AS_STRING(contents.ptr()),
                                 static_cast<std::size_t>(PyBytes_GET_SIZE(contents.ptr())));
    return to_python(without_gil([&] { return f(bytes); }));
  }
  const std::string bytes = to_bytes(contents, "contents");
  return to_python(without_gil([&] { return f(std::string_view(bytes)); }));
}

bool is_format_of(std::string_view bytes, std::string_view name) {
  return bytes.starts_with(name == "PNG" ? "\x89PNG" : name == "JPEG" ? "\xff\xd8\xff" : "GIF8");
}

// decode_png and decode_jpeg also read each other's files, and GIF files of one frame.
Tensor decode_other(std::string_view bytes, int channels, DType dtype) {
  const Tensor image = io::decode_image(bytes, channels, true, dtype);
  if (image.rank() == 3) return image;
  if (image.shape()[0] != 1)
    throw InvalidArgumentError(
        fmt::format("Got {} frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                    "tf.io.decode_image",
                    image.shape()[0]));
  return squeeze(image, {0});
}

void bind_images(nb::module_& m) {
  m.def("decode_png", [](nb::handle contents, int channels, nb::handle dtype) {
    const DType type = to_dtype(dtype);
    if (channels == 2)
      throw InvalidArgumentError("`channels` must be 0, 1, 3 or 4 but got 2 [Op:DecodePng]");
    return of_bytes(contents, [&](std::string_view b) {
      const bool is_other = is_format_of(b, "JPEG") || is_format_of(b, "GIF");
      return is_other ? decode_other(b, channels, type) : io::decode_png(b, channels, type);
    });
  });
  m.def("decode_bmp", [](nb::handle contents, int channels) {
    return of_bytes(contents, [&](std::string_view b) { return io::decode_bmp(b, channels); });
  });
  m.def("decode_gif", [](nb::handle contents) {
    return of_bytes(contents, [&](std::string_view b) { return io::decode_gif(b); });
  });
  m.def("decode_image", [](nb::handle contents, int channels, bool expands, nb::handle dtype) {
    const DType type = to_dtype(dtype);
    return of_bytes(
        contents, [&](std::string_view b) { return io::decode_image(b, channels, expands, type); });
  });
  m.def("decode_jpeg", [](nb::handle contents, int channels, int ratio, bool fancy, bool recovers,
                          const std::string& dct, float fraction) {
    return of_bytes(contents, [&](std::string_view b) {
      if (is_format_of(b, "PNG") || is_format_of(b, "GIF")) return decode_other(b, channels, uint8);
      return io::decode_jpeg(b, {.channels = channels,
                                 .ratio = ratio,
                                 .fancy_upscaling = fancy,
                                 .try_recover_truncated = recovers,
                                 .acceptable_fraction = fraction,
                                 .dct_method = dct});
    });
  });
  m.def("jpeg_shape", [](nb::handle contents) {
    return of_bytes(contents, [&](std::string_view b) { return io::jpeg_shape(b); });
  });
  m.def("encode_png", [](nb::handle image, int compression) {
    const Tensor pixels = to_tensor(image);
    return to_python(without_gil([&] { return io::encode_png(pixels, compression); }));
  });
  m.def("encode_jpeg",
        [](nb::handle image, int quality, bool progressive, bool optimize, bool down,
           const std::string& format, const std::string& unit, int x, int y, nb::handle xmp) {
          const Tensor pixels = to_tensor(image);
          const io::EncodeJpegOptions options{.quality = quality,
                                              .progressive = progressive,
                                              .optimize_size = optimize,
                                              .chroma_downsampling = down,
                                              .format = format,
                                              .density_unit = unit,
                                              .x_density = x,
                                              .y_density = y,
                                              .xmp_metadata = to_bytes(xmp, "xmp_metadata")};
          return to_python(without_gil([&] { return io::encode_jpeg(pixels, options); }));
        });
}

}  // namespace

void bind_io(nb::module_& m) {
  bind_images(m);
  m.def("read_file", [](nb::handle path) {
    const std::string name = to_bytes(path, "filename");
    return to_python(without_gil([&] { return io::read_file(name); }));
  });
  m.def("write_file", [](nb::handle path, nb::handle contents) {
    const std::string name = to_bytes(path, "filename"), bytes = to_bytes(contents, "contents");
    without_gil([&] { io::write_file(name, bytes); });
  });
  m.def("serialize_tensor",
        [](nb::handle tensor) { return from_bytes(io::serialize_tensor(to_tensor(tensor))); });
  m.def("parse_tensor", [](nb::handle serialized, nb::handle dtype) {
    const std::string bytes = to_bytes(serialized, "serialized");
    return to_python(io::parse_tensor(bytes, to_dtype(dtype)));
  });
  m.def("decode_raw", [](nb::handle bytes, nb::handle dtype, bool little, std::int64_t length) {
    return to_python(io::decode_raw(to_tensor(bytes), to_dtype(dtype), little, length));
  });
  m.def("decode_csv", &decode_csv);
  m.def("serialize_example",
        [](nb::dict features) { return from_bytes(io::serialize_example(to_features(features))); });
  m.def("parse_features", [](nb::handle bytes) {
    return from_features(io::parse_features(to_bytes(bytes, "serialized")));
  });
  nb::class_<ParsedSpecs>(m, "FeatureSpecs").def("__init__", [](ParsedSpecs* self, nb::dict given) {
    new (self) ParsedSpecs{to_specs(given)};
  });
  m.def("parse_example", [](nb::handle serialized, const ParsedSpecs& specs) {
    const Tensor given = to_tensor(serialized);
    return from_dataset_element(without_gil(given.num_elements() * 64,
                                            [&] { return io::parse_example(given, specs.specs); }));
  });
}

}  // namespace plimsoll::python
