// The memory that images are decoded into.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "plimsoll/interop.h"
#include "plimsoll/tensor.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/output_place.h"

namespace plimsoll::io {

inline constexpr std::int64_t kMaxSide = 1 << 27;
inline constexpr std::int64_t kMaxPixels = std::int64_t{1}
                                           << 29;  // of a frame, as TensorFlow has it

// throws: InvalidArgumentError for sizes that no image has; ResourceExhaustedError.
inline Tensor allocate_pixels(const char* what, std::vector<std::int64_t> dims,
                              DType dtype = uint8) {
  std::int64_t pixels = 1;
  for (const std::int64_t dim : dims) {
    PLIMSOLL_CHECK(dim > 0 && dim <= kMaxSide && pixels <= kMaxPixels * 4 / dim,
                   InvalidArgumentError, "{} image has a size that cannot be: {}", what,
                   Shape(std::span<const std::int64_t>(dims)).to_string());
    pixels *= dim;
  }
  static const memory::Owner owner(memory::Tag::kDataset, "decode_image");
  Device& device = Context::get().cpu();
  const Shape shape{std::span<const std::int64_t>(dims)};
  const Tensor placed = OutputPlace::try_take(device, {dtype, shape});
  return placed.is_valid() ? placed : allocate_tensor(device, dtype, shape, owner);
}
// pre: nobody else has seen the tensor yet.
inline std::uint8_t* pixels_of(const Tensor& image) {
  return static_cast<std::uint8_t*>(const_cast<void*>(interop::host_data(image)));
}

// What pixels are decoded to. throws: InvalidArgumentError.
inline void check_pixels(const char* what, DType dtype) {
  PLIMSOLL_CHECK(dtype == uint8 || dtype == uint16, InvalidArgumentError,
                 "{} gives uint8 or uint16, not {}", what, dtype_name(dtype));
}

inline void check_channels(const char* what, int channels, std::string_view allowed) {
  PLIMSOLL_CHECK(
      channels == 0 || (channels > 0 && channels < 5 &&
                        allowed.find(static_cast<char>('0' + channels)) != std::string_view::npos),
      InvalidArgumentError, "channels of {} must be 0 or one of {}, got {}", what, allowed,
      channels);
}

// An image that is to be written. throws: InvalidArgumentError.
inline void check_image(const char* what, const Tensor& image, std::string_view allowed,
                        bool may_be_wide = false) {
  PLIMSOLL_CHECK(
      (image.dtype() == uint8 || (may_be_wide && image.dtype() == uint16)) && image.rank() == 3 &&
          image.num_elements() > 0 && image.shape()[2] < 5 &&
          allowed.find(static_cast<char>('0' + image.shape()[2])) != std::string_view::npos,
      InvalidArgumentError,
      "{} takes {} of shape [height, width, channels] with {} channels; received {} of shape {}",
      what, may_be_wide ? "uint8 or uint16" : "uint8", allowed, dtype_name(image.dtype()),
      image.shape().to_string());
}

}  // namespace plimsoll::io
