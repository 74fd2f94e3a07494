// What a window that slides over an image does to its shape: for convolutions and pooling.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/op_def.h"

namespace plimsoll {

enum class Padding : std::int64_t { kValid, kSame, kExplicit };
enum class DataFormat : std::int64_t { kNhwc, kNchw };

// One direction of a sliding window.
struct WindowAxis {
  std::int64_t in, out;
  std::int64_t size;  // of the window
  std::int64_t stride, dilation;
  std::int64_t pad_before, pad_after;
};

// An image of a batch, whatever the order of its dimensions.
struct ImageShape {
  std::int64_t n, h, w, c;
  std::int64_t d = 1;  // depth of a volume
  bool is_3d = false;  // a volume; else d is 1 and no dimension of the tensor

  std::int64_t pixels() const noexcept { return d * h * w; }
  Shape shape(DataFormat format) const;
};
// pre: rank 4, or 5 for a volume.
ImageShape image_shape(const Shape& shape, DataFormat format) noexcept;

enum class ConvKind { kPlain, kDepthwise, k3d };

struct ConvShape {
  std::int64_t n;
  WindowAxis d, h, w;  // d is of one pixel unless the images are volumes
  std::int64_t in_c, out_c;
  std::int64_t groups;  // of channels; as many as input channels if depthwise
  DataFormat format;
  ConvKind kind;

  std::int64_t group_in() const noexcept { return in_c / groups; }
  std::int64_t group_out() const noexcept { return out_c / groups; }
  bool is_3d() const noexcept { return kind == ConvKind::k3d; }
  std::int64_t taps() const noexcept { return d.size * h.size * w.size; }  // of the filter
  ImageShape in_image() const noexcept { return image(d.in, h.in, w.in, in_c); }
  ImageShape out_image() const noexcept { return image(d.out, h.out, w.out, out_c); }

 private:
  ImageShape image(std::int64_t depth, std::int64_t height, std::int64_t width,
                   std::int64_t channels) const noexcept {
    return {n, height, width, channels, depth, is_3d()};
  }
};

// `attrs` are those of any op of conv.def. throws: InvalidArgumentError.
ConvShape conv_shape(const Shape& input, const Shape& filter, const Attrs& attrs, ConvKind kind);
ConvKind conv_kind(OpId op) noexcept;
// The same for a call of any op of conv.def.
ConvShape conv_shape(OpId op, std::span<const TensorSpec> in, const Attrs& attrs);

struct PoolShape {
  std::int64_t n, c;
  WindowAxis h, w;
  DataFormat format;

  ImageShape in_image() const noexcept { return {n, h.in, w.in, c}; }
  ImageShape out_image() const noexcept { return {n, h.out, w.out, c}; }
};

// `attrs` are those of any op of pool.def. throws: InvalidArgumentError.
PoolShape pool_shape(const Shape& input, const Attrs& attrs, std::string_view name);

}  // namespace plimsoll
