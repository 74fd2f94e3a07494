// BMP without packing; and which kind of file an image is in.
#include <cstring>

#include "data/pixels.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Grey is repeated, alpha dropped, or 255 where there is none.
void copy_row(const std::uint8_t* from, int found, std::uint8_t* to, int wanted,
              std::int32_t width) {
  for (std::int32_t x = 0; x < width; ++x, from += found, to += wanted) {
    to[0] = from[found == 1 ? 0 : 2];
    if (wanted == 1) continue;
    to[1] = from[found == 1 ? 0 : 1];
    to[2] = from[0];
    if (wanted == 4) to[3] = found == 4 ? from[3] : 255;
  }
}

}  // namespace

Tensor decode_bmp(std::string_view bytes, int channels) {
  check_channels("decode_bmp", channels, "134");
  PLIMSOLL_CHECK(channels != 1, InvalidArgumentError,
                 "`channels` must be 0, 3 or 4 for BMP, but got {}", channels);
  PLIMSOLL_CHECK(bytes.size() >= 32 && bytes.starts_with("BM"), InvalidArgumentError,
                 "Incomplete bmp content, or none: {} bytes", bytes.size());
  const auto offset = value_at<std::uint32_t>(bytes, 10);
  const auto width = value_at<std::int32_t>(bytes, 18);
  const auto stored_height = value_at<std::int32_t>(bytes, 22);
  const auto bits = value_at<std::uint16_t>(bytes, 28);
  PLIMSOLL_CHECK(bits == 8 || bits == 24 || bits == 32, InvalidArgumentError,
                 "BMP images of 8, 24 and 32 bits a pixel are read, not of {}", bits);
  const int found = bits / 8;
  const std::int64_t height = std::abs(std::int64_t{stored_height});
  PLIMSOLL_CHECK(width > 0 && height > 0 && width <= kMaxSide && height <= kMaxSide,
                 InvalidArgumentError, "BMP image has a size that cannot be: {} x {}", width,
                 stored_height);
  const std::uint64_t row = (static_cast<std::uint64_t>(width) * bits + 31) / 32 * 4;
  const std::uint64_t last = row * static_cast<std::uint64_t>(height - 1) +
                             static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(found);
  PLIMSOLL_CHECK(offset <= bytes.size() && bytes.size() - offset >= last, InvalidArgumentError,
                 "Incomplete bmp content: its header says {} bytes of pixels from byte {} on, and "
                 "the file has {}",
                 last, offset, bytes.size());
  const int wanted = channels ? channels : found;
  const Tensor image = allocate_pixels("BMP", {height, width, wanted});
  std::uint8_t* to = pixels_of(image);
  for (std::int64_t y = 0; y < height; ++y, to += std::int64_t{width} * wanted) {
    // From below, unless the height is negative.
    const auto stored = static_cast<std::uint64_t>(stored_height > 0 ? height - 1 - y : y);
    const auto* from = reinterpret_cast<const std::uint8_t*>(bytes.data()) + offset + stored * row;
    copy_row(from, found, to, wanted, width);
  }
  return image;
}

namespace {

Tensor decode_bytes(std::string_view bytes, int channels, bool expand_animations) {
  if (bytes.starts_with("\xff\xd8\xff")) return decode_jpeg(bytes, {.channels = channels});
  if (bytes.starts_with("BM")) return decode_bmp(bytes, channels);
  PLIMSOLL_CHECK(bytes.starts_with("GIF8"), InvalidArgumentError,
                 "Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  PLIMSOLL_CHECK(channels == 0 || channels == 3, InvalidArgumentError,
                 "channels must be 0 or 3 for a GIF, got {}", channels);
  const Tensor frames = decode_gif(bytes);
  if (expand_animations) return frames;
  return squeeze(
      slice(frames, {0, 0, 0, 0}, {1, frames.shape()[1], frames.shape()[2], frames.shape()[3]}),
      {0});
}

}  // namespace

Tensor decode_image(std::string_view bytes, int channels, bool expand_animations, DType dtype) {
  check_channels("decode_image", channels, "134");
  check_pixels("decode_image", dtype);
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes, channels, dtype);
  const Tensor image = decode_bytes(bytes, channels, expand_animations);
  return dtype == uint8 ? image : cast(cast(image, int32) * constant(256), uint16);
}

}  // namespace plimsoll::io
