// Convolutions.
#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll::nn {

// One number for all directions, one for each, or one for each dimension in the order of the data
// format, as TensorFlow takes strides, dilations and window sizes.
class WindowSizes {
 public:
  WindowSizes(int both) : values_{both} {}
  WindowSizes(std::int64_t both) : values_{both} {}
  WindowSizes(std::initializer_list<std::int64_t> values) : values_(values) {}
  WindowSizes(std::vector<std::int64_t> values) : values_(std::move(values)) {}
  const std::vector<std::int64_t>& values() const noexcept { return values_; }

 private:
  std::vector<std::int64_t> values_;
};

// "SAME", "VALID", or explicit: a pair (before, after) for each dimension of the data format.
class PaddingArg {
 public:
  PaddingArg(const char* name) : name_(name) {}
  PaddingArg(std::string_view name) : name_(name) {}
  PaddingArg(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  PaddingArg(std::vector<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(std::move(pairs)) {}
  const std::string& name() const noexcept { return name_; }  // empty: explicit
  const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs() const noexcept {
    return pairs_;
  }

 private:
  std::string name_;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

// Images [batch, height, width, channels] ("NHWC") or [batch, channels, height, width] ("NCHW");
// filters [height, width, in channels / groups, out channels]. Groups follow from the channels.
// memory: the filter in the kernel's own layout, and for NCHW and 16-bit types a few images, as
// scratch of the call (tag workspace).
Tensor conv2d(const Tensor& input, const Tensor& filters, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format = "NHWC",
              const WindowSizes& dilations = 1);

// A filter [height, width, channels, multiplier] of its own for each channel.
Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter, const WindowSizes& strides,
                        const PaddingArg& padding, std::string_view data_format = "NHWC",
                        const WindowSizes& dilations = 1);

// The gradient of conv2d with respect to its input, also called deconvolution: filters
// [height, width, out channels, in channels], `output_shape` that of the result.
Tensor conv2d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding = "SAME",
                        std::string_view data_format = "NHWC", const WindowSizes& dilations = 1);

// The same for series [batch, width, channels] ("NWC") or [batch, channels, width] ("NCW") with
// filters [width, in channels / groups, out channels]. The padding may be "CAUSAL" too: in front
// only, so that an output depends on nothing after it.
Tensor conv1d(const Tensor& input, const Tensor& filters, const WindowSizes& stride,
              const PaddingArg& padding, std::string_view data_format = "NWC",
              const WindowSizes& dilations = 1);
Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding = "SAME",
                        std::string_view data_format = "NWC", const WindowSizes& dilations = 1);
// And for volumes: "NDHWC" or "NCDHW", filters [depth, height, width, in channels / groups, out
// channels].
Tensor conv3d(const Tensor& input, const Tensor& filters, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format = "NDHWC",
              const WindowSizes& dilations = 1);
Tensor conv3d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding = "SAME",
                        std::string_view data_format = "NDHWC", const WindowSizes& dilations = 1);

// conv2d with `rate` as its dilations.
Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, std::int64_t rate,
                     const PaddingArg& padding);
// depthwise_conv2d, then a conv2d of single pixels: filters [height, width, channels, multiplier]
// and [1, 1, channels * multiplier, out channels].
Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter,
                        const Tensor& pointwise_filter, const WindowSizes& strides,
                        const PaddingArg& padding, std::string_view data_format = "NHWC",
                        const WindowSizes& dilations = 1);

// Adds a vector to the channels: the last dimension, or the second of "NC...".
Tensor bias_add(const Tensor& value, const Tensor& bias, std::string_view data_format = "NHWC");

}  // namespace plimsoll::nn
