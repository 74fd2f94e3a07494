#include "base/check.h"
#include "plimsoll/ops/pool.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"
#include "runtime/window_args.h"

namespace plimsoll::nn {
namespace {

Tensor pool2d(OpId op, const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format) {
  return call(op, {input}, window_attrs(strides, padding, data_format, ksize, "ksize"));
}

Tensor pool1d(OpId op, const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format) {
  const Tensor image =
      as_image(input, data_format, op == OpId::MaxPool2D ? "max_pool1d" : "avg_pool1d");
  const Attrs a = window_attrs(strides, padding, data_format, ksize, "ksize", Directions::k1);
  return from_image(call(op, {image}, a), data_format);
}

// Some of the directions of a window, and where it has less than two, a second one that does
// nothing.
Attrs directions_of(const Attrs& a, std::size_t first, std::size_t count, DataFormat format) {
  const auto part = [&](const AttrValue& value, std::size_t each, std::int64_t idle) {
    std::vector<std::int64_t> made;
    const auto all = value.as_ints();
    if (!all.empty()) {
      made.assign(all.begin() + static_cast<std::ptrdiff_t>(first * each),
                  all.begin() + static_cast<std::ptrdiff_t>((first + count) * each));
      made.resize(2 * each, idle);
    }
    return AttrValue(std::span<const std::int64_t>(made));
  };
  return {part(a[0], 1, 1), a[1], part(a[2], 2, 0), part(a[3], 1, 1),
          static_cast<std::int64_t>(format)};
}

// A window of three directions is one of height and width, then one of depth: maxima of maxima and
// means of means, as all windows of a row hold as many elements of it. Of equal maxima the first
// still gets the gradient.
Tensor pool3d(OpId op, const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format) {
  const char* const name = op == OpId::MaxPool2D ? "max_pool3d" : "avg_pool3d";
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "{} got an empty Tensor", name);
  PLIMSOLL_CHECK(input.rank() == 5, InvalidArgumentError, "{} needs an input of rank 5, got {}",
                 name, input.shape().to_string());
  const Attrs a = window_attrs(strides, padding, data_format, ksize, "ksize", Directions::k3);
  const ImageShape in = image_shape(input.shape(), parse_data_format(data_format, Directions::k3));
  const bool is_last = data_format == "NDHWC";
  // Planes: depth goes into the batch, and so do channels that come first.
  const std::int64_t num = is_last ? in.n : in.n * in.c, channels = is_last ? in.c : 1;
  const Tensor flat = call(op, {reshape(input, {num * in.d, in.h, in.w, channels})},
                           directions_of(a, 1, 2, DataFormat::kNhwc));
  const std::int64_t height = flat.shape()[1], width = flat.shape()[2];
  const Tensor made = call(op, {reshape(flat, {num, in.d, 1, height * width * channels})},
                           directions_of(a, 0, 1, DataFormat::kNhwc));
  const ImageShape out{in.n, height, width, in.c, made.shape()[1], true};
  return reshape(made, out.shape(is_last ? DataFormat::kNhwc : DataFormat::kNchw).dims());
}

Tensor pool_by_rank(OpId op, const Tensor& input, const WindowSizes& ksize,
                    const WindowSizes& strides, const PaddingArg& padding,
                    std::string_view data_format) {
  PLIMSOLL_CHECK(input.is_valid() && input.rank() >= 3 && input.rank() <= 5, InvalidArgumentError,
                 "`input` must have 3, 4 or 5 dimensions: batch, channels and 1 to 3 of space. "
                 "Received: {}",
                 input.is_valid() ? input.shape().to_string() : "an empty Tensor");
  const auto or_last = [&](std::string_view last) {
    return data_format.empty() ? last : data_format;
  };
  switch (input.rank()) {
    case 3:
      return pool1d(op, input, ksize, strides, padding, or_last("NWC"));
    case 4:
      return pool2d(op, input, ksize, strides, padding, or_last("NHWC"));
    default:
      return pool3d(op, input, ksize, strides, padding, or_last("NDHWC"));
  }
}

}  // namespace

Tensor max_pool1d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool1d(OpId::MaxPool2D, input, ksize, strides, padding, data_format);
}
Tensor max_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool2d(OpId::MaxPool2D, input, ksize, strides, padding, data_format);
}
Tensor max_pool3d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool3d(OpId::MaxPool2D, input, ksize, strides, padding, data_format);
}
Tensor max_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format) {
  return pool_by_rank(OpId::MaxPool2D, input, ksize, strides, padding, data_format);
}

Tensor avg_pool1d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool1d(OpId::AvgPool2D, input, ksize, strides, padding, data_format);
}
Tensor avg_pool2d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool2d(OpId::AvgPool2D, input, ksize, strides, padding, data_format);
}
Tensor avg_pool3d(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                  const PaddingArg& padding, std::string_view data_format) {
  return pool3d(OpId::AvgPool2D, input, ksize, strides, padding, data_format);
}
Tensor avg_pool(const Tensor& input, const WindowSizes& ksize, const WindowSizes& strides,
                const PaddingArg& padding, std::string_view data_format) {
  return pool_by_rank(OpId::AvgPool2D, input, ksize, strides, padding, data_format);
}

}  // namespace plimsoll::nn
