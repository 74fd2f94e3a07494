#include "keras/image_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

Tensor scalar(double value, DType dtype = float32) {
  return fill({}, value, dtype);
}

// [abcd] goes on as [dcba|abcd|dcba].
Tensor reflect(const Tensor& x, double size) {
  if (size <= 1) return zeros_like(x);
  const double period = 2 * size;
  const Tensor below = floor(-x / period) * period + x;
  const Tensor left = where(less(below, scalar(-size)), below + period, -below - 1);
  const Tensor above = x - floor(x / period) * period;
  const Tensor right = where(greater_equal(above, scalar(size)), period - above - 1, above);
  return where(less(x, scalar(0)), left, where(greater(x, scalar(size - 1)), right, x));
}

// [abcd] goes on as [abcd|abcd|abcd].
Tensor wrap(const Tensor& x, double size) {
  if (size <= 1) return zeros_like(x);
  const Tensor left = x + (floor(-x / (size - 1)) + 1) * size;
  const Tensor right = x - floor(x / (size - 1)) * size;
  return where(less(x, scalar(0)), left, where(greater(x, scalar(size - 1)), right, x));
}

// Where a coordinate outside [0, size - 1] comes from inside it.
Tensor map_coordinate(const Tensor& x, std::int64_t size, const std::string& fill_mode) {
  const auto length = static_cast<double>(size);
  if (fill_mode == "constant") return x;
  const Tensor inside = fill_mode == "reflect" ? reflect(x, length)
                        : fill_mode == "wrap"  ? wrap(x, length)
                                               : x;
  return clip_by_value(inside, 0, length - 1);  // 3.5 of 4 would be rounded to the outside
}

// Pixels [batch, places, channels] of images [batch, height * width, channels].
struct Pixels {
  Tensor images;
  std::int64_t height, width;
  bool fills;  // what is outside has fill_value, else its weight is 0
  double fill_value;

  Tensor at(const Tensor& y, const Tensor& x) const {
    const auto last_y = static_cast<double>(height - 1), last_x = static_cast<double>(width - 1);
    const Tensor place = cast(clip_by_value(y, 0, last_y), int32) * static_cast<double>(width) +
                         cast(clip_by_value(x, 0, last_x), int32);
    const Tensor found = gather(images, place, 1, 1);
    if (!fills) return found;
    const Tensor is_inside =
        logical_and(logical_and(greater_equal(y, scalar(0)), less_equal(y, scalar(last_y))),
                    logical_and(greater_equal(x, scalar(0)), less_equal(x, scalar(last_x))));
    return where(expand_dims(is_inside, -1), found, scalar(fill_value, found.dtype()));
  }
};

Tensor round_half_away(const Tensor& x) {
  return sign(x) * floor(abs(x) + 0.5);
}

Tensor bilinear(const Pixels& pixels, const Tensor& y, const Tensor& x) {
  const DType dtype = pixels.images.dtype();
  const Tensor y0 = floor(y), x0 = floor(x);
  const Tensor down = expand_dims(cast(y - y0, dtype), -1);
  const Tensor right = expand_dims(cast(x - x0, dtype), -1);
  const Tensor upper = pixels.at(y0, x0) * (1.0 - right) + pixels.at(y0, x0 + 1) * right;
  const Tensor lower = pixels.at(y0 + 1, x0) * (1.0 - right) + pixels.at(y0 + 1, x0 + 1) * right;
  return upper * (1.0 - down) + lower * down;
}

void check_affine_options(const AffineOptions& options) {
  const std::string& how = options.interpolation;
  const std::string& mode = options.fill_mode;
  PLIMSOLL_CHECK(how == "nearest" || how == "bilinear", InvalidArgumentError,
                 "Invalid value for argument `interpolation`. Expected of one ('nearest', "
                 "'bilinear'). Received: interpolation={}",
                 how);
  PLIMSOLL_CHECK(mode == "constant" || mode == "nearest" || mode == "wrap" || mode == "reflect",
                 InvalidArgumentError,
                 "Invalid value for argument `fill_mode`. Expected of one ('constant', 'nearest', "
                 "'wrap', 'reflect'). Received: fill_mode={}",
                 mode);
}

// A window of images, by its upper left corner and its size.
Tensor window(const Tensor& images, std::int64_t top, std::int64_t left, std::int64_t height,
              std::int64_t width) {
  return slice(images, {0, top, left, 0}, {-1, height, width, -1});
}

}  // namespace

Tensor affine_transform(const Tensor& images, const Affine& transform,
                        const AffineOptions& options) {
  check_affine_options(options);
  const Shape& shape = images.shape();
  const std::int64_t height = shape[1], width = shape[2];
  const Tensor row = range(0.0, static_cast<double>(width));
  const Tensor column = range(0.0, static_cast<double>(height));
  const Tensor xs = tile(reshape(row, {1, width}), {1, height});
  const Tensor ys = reshape(tile(reshape(column, {height, 1}), {1, width}), {1, height * width});
  const Tensor x = map_coordinate(transform.a0 * xs + transform.a1 * ys + transform.a2, width,
                                  options.fill_mode);
  const Tensor y = map_coordinate(transform.b0 * xs + transform.b1 * ys + transform.b2, height,
                                  options.fill_mode);
  const Pixels pixels{reshape(images, {shape[0], height * width, shape[3]}), height, width,
                      options.fill_mode == "constant", options.fill_value};
  const Tensor moved = options.interpolation == "nearest"
                           ? pixels.at(round_half_away(y), round_half_away(x))
                           : bilinear(pixels, y, x);
  return reshape(moved, shape.dims());
}

Tensor resize_images(const Tensor& images, std::array<std::int64_t, 2> size,
                     const ResizeOptions& options) {
  PLIMSOLL_CHECK(!options.crop_to_aspect_ratio || !options.pad_to_aspect_ratio,
                 InvalidArgumentError,
                 "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`.");
  const std::int64_t height = images.shape()[1], width = images.shape()[2];
  // In float32, as Keras divides.
  const auto scaled = [](std::int64_t n, std::int64_t by, std::int64_t over) {
    return static_cast<std::int64_t>(static_cast<float>(n * by) / static_cast<float>(over));
  };
  const std::int64_t fit_height = scaled(width, size[0], size[1]);
  const std::int64_t fit_width = scaled(height, size[1], size[0]);
  Tensor x = images;
  if (options.crop_to_aspect_ratio) {
    const std::int64_t h = std::max<std::int64_t>(std::min(height, fit_height), 1);
    const std::int64_t w = std::max<std::int64_t>(std::min(width, fit_width), 1);
    x = window(x, (height - h) / 2, (width - w) / 2, h, w);
  } else if (options.pad_to_aspect_ratio) {
    const std::int64_t h = (std::max(height, fit_height) - height) / 2;
    const std::int64_t w = (std::max(width, fit_width) - width) / 2;
    if (h > 0 || w > 0)
      x = pad(x, {{0, 0}, {h, h}, {w, w}, {0, 0}}, "CONSTANT", options.fill_value);
  }
  return image::resize(x, size, options.interpolation, false, options.antialias);
}

Tensor smart_resize(const Tensor& images, std::array<std::int64_t, 2> size) {
  const std::int64_t height = images.shape()[1], width = images.shape()[2];
  const auto scaled = [](std::int64_t n, std::int64_t by, std::int64_t over) {
    return static_cast<std::int64_t>(static_cast<double>(n * by) / static_cast<double>(over));
  };
  const std::int64_t h =
      std::max<std::int64_t>(std::min(height, scaled(width, size[0], size[1])), 1);
  const std::int64_t w =
      std::max<std::int64_t>(std::min(width, scaled(height, size[1], size[0])), 1);
  return image::resize(window(images, (height - h) / 2, (width - w) / 2, h, w), size);
}

namespace {

template <class T>
std::array<double, 2> limits() {
  auto low = static_cast<float>(std::numeric_limits<T>::min());
  auto high = static_cast<float>(std::numeric_limits<T>::max());
  // The largest float that the type can hold: 2147483647 is none.
  if (static_cast<double>(high) >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    high = std::nextafter(high, 0.0F);
  return {low, high};
}

}  // namespace

Tensor saturate_cast(const Tensor& x, DType dtype) {
  if (!is_integer(dtype)) return cast(x, dtype);
  const auto [low, high] = dtype == DType::kInt8     ? limits<std::int8_t>()
                           : dtype == DType::kUInt8  ? limits<std::uint8_t>()
                           : dtype == DType::kInt16  ? limits<std::int16_t>()
                           : dtype == DType::kUInt16 ? limits<std::uint16_t>()
                           : dtype == DType::kInt32  ? limits<std::int32_t>()
                                                     : limits<std::int64_t>();
  return cast(clip_by_value(x, low, high), dtype);
}

}  // namespace plimsoll::keras
