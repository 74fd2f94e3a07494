// What layers share whose windows move over series, images and volumes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plimsoll/keras/config.h"
#include "plimsoll/keras/keras_tensor.h"

namespace plimsoll::keras {

// In small letters. throws: InvalidArgumentError for anything but Keras's names.
std::string standardize_data_format(std::string_view data_format);
std::string standardize_padding(std::string_view padding, bool allow_causal = false);

inline bool is_channels_first(std::string_view data_format) noexcept {
  return data_format == "channels_first";
}
// The axis of the channels, and the first of the others behind the batch.
inline int channel_axis(std::string_view data_format) noexcept {
  return is_channels_first(data_format) ? 1 : -1;
}
inline int first_spatial_axis(std::string_view data_format) noexcept {
  return is_channels_first(data_format) ? 2 : 1;
}
// As ops name it: NWC, NHWC, NDHWC; NCW, NCHW, NCDHW.
std::string_view op_data_format(int num_spatial, std::string_view data_format) noexcept;
const char* op_padding(std::string_view padding) noexcept;  // in capitals

// (1, 2)
std::string tuple_text(const Sizes& sizes);

// How windows move; as many numbers as there are directions.
struct Windows {
  Sizes size, strides, dilation_rate;
  std::string_view padding, data_format;
};
// throws: InvalidArgumentError if the input has another rank than the kernel, or nothing would come
// out of a convolution, or of pooling.
void check_conv_output(const PartialShape& input, const PartialShape& kernel,
                       const Windows& windows);
void check_pool_output(const PartialShape& input, const Windows& windows);
// throws: InvalidArgumentError if the channels are not known yet. Returns how many there are.
std::int64_t known_channels(const PartialShape& input, std::string_view data_format,
                            const std::string& layer);

}  // namespace plimsoll::keras
