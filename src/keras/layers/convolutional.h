// What the layers of convolutional*.cpp share.
#pragma once

#include <algorithm>

#include "base/check.h"
#include "keras/layers/windows.h"
#include "plimsoll/keras/layers/convolutional.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

// Makes sizes as many as there are directions, and names as Keras writes them.
template <class Config>
void standardize_windows(Config& config, std::size_t rank, bool allow_causal = false) {
  config.kernel_size = config.kernel_size.repeated(rank, "kernel_size");
  config.strides = config.strides.repeated(rank, "strides");
  config.dilation_rate = config.dilation_rate.repeated(rank, "dilation_rate");
  config.padding = standardize_padding(config.padding, allow_causal);
  config.data_format = standardize_data_format(config.data_format);
}

// throws: InvalidArgumentError unless `value` is positive.
void check_positive(std::int64_t value, const char* name);
// throws: InvalidArgumentError for strides together with dilation, which Keras does not have.
void check_strides_or_dilation(const Sizes& strides, const Sizes& dilation_rate);

template <class Config>
Windows windows_of(const Config& config) {
  return {config.kernel_size, config.strides, config.dilation_rate, config.padding,
          config.data_format};
}

// The shape of a kernel: its size, then these two.
inline Shape kernel_shape(const Sizes& size, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> dims = size.values();
  dims.push_back(a);
  dims.push_back(b);
  return Shape(dims);
}

// What is asked of the input once the channels are known.
inline InputSpec conv_input_spec(int rank, std::string_view data_format, std::int64_t channels) {
  return {.min_ndim = rank + 2, .axes = {{channel_axis(data_format), channels}}};
}

// activation(y + bias); without a bias, it is null.
Tensor finish_conv(Tensor y, const VariablePtr& bias, const Activation& activation,
                   std::string_view data_format);

// Series as images of height 1, so that what is there for images serves them: an axis in front of
// the first direction.
inline Tensor as_image(const Tensor& x, std::string_view data_format) {
  return expand_dims(x, first_spatial_axis(data_format));
}
inline Tensor as_series(const Tensor& x, std::string_view data_format) {
  return squeeze(x, {first_spatial_axis(data_format)});
}
inline std::vector<std::int64_t> image_sizes(const Sizes& sizes) {
  std::vector<std::int64_t> values = sizes.values();
  if (values.size() == 1) values.insert(values.begin(), 1);
  return values;
}

}  // namespace plimsoll::keras
