#include "ops/resize_method.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll::image {
namespace {

constexpr std::pair<std::string_view, ResizeMethod> kMethods[] = {
    {"bilinear", ResizeMethod::kBilinear}, {"nearest", ResizeMethod::kNearest},
    {"bicubic", ResizeMethod::kBicubic},   {"area", ResizeMethod::kArea},
    {"lanczos3", ResizeMethod::kLanczos3}, {"lanczos5", ResizeMethod::kLanczos5},
    {"gaussian", ResizeMethod::kGaussian}, {"mitchellcubic", ResizeMethod::kMitchellCubic},
};

ResizeMethod method_of(std::string_view name) {
  const auto* found =
      std::ranges::find(kMethods, name, &std::pair<std::string_view, ResizeMethod>::first);
  PLIMSOLL_CHECK(found != std::end(kMethods), InvalidArgumentError,
                 "Resize method is not implemented: '{}'; known are bilinear, nearest, bicubic, "
                 "area, lanczos3, lanczos5, gaussian and mitchellcubic",
                 name);
  return found->second;
}

// The largest size within `size` that has the ratio of the image's sides.
std::array<std::int64_t, 2> with_ratio(std::array<std::int64_t, 2> size, std::int64_t height,
                                       std::int64_t width) {
  const double scale = std::min(static_cast<double>(size[0]) / static_cast<double>(height),
                                static_cast<double>(size[1]) / static_cast<double>(width));
  return {std::llrint(scale * static_cast<double>(height)),
          std::llrint(scale * static_cast<double>(width))};
}

}  // namespace

Tensor resize(const Tensor& images, std::array<std::int64_t, 2> size, std::string_view method,
              bool preserve_aspect_ratio, bool antialias) {
  PLIMSOLL_CHECK(images.is_valid(), InvalidArgumentError, "resize of an empty Tensor");
  PLIMSOLL_CHECK(images.rank() == 3 || images.rank() == 4, InvalidArgumentError,
                 "'images' must have either 3 or 4 dimensions, got shape {}",
                 images.shape().to_string());
  if (images.rank() == 3) {
    const Tensor batch =
        resize(expand_dims(images, 0), size, method, preserve_aspect_ratio, antialias);
    return squeeze(batch, {0});
  }
  const ResizeMethod by = method_of(method);
  const std::int64_t height = images.shape().dim(1), width = images.shape().dim(2);
  if (preserve_aspect_ratio && height > 0 && width > 0) size = with_ratio(size, height, width);
  if (by == ResizeMethod::kNearest || by == ResizeMethod::kArea) antialias = false;
  const Tensor made = call(
      OpId::Resize, {images},
      {AttrValue(std::span<const std::int64_t>(size)), static_cast<std::int64_t>(by), antialias});
  return by != ResizeMethod::kNearest && made.dtype() == float64 ? cast(made, float32) : made;
}

}  // namespace plimsoll::image
