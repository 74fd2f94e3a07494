#include "keras/layers/windows.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"

namespace plimsoll::keras {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

// How many windows fit, none of them past the end; 0 or less: none.
std::int64_t num_valid(std::int64_t in, std::int64_t size, std::int64_t stride) {
  return in < size ? 0 : (in - size) / stride + 1;
}

}  // namespace

std::string standardize_data_format(std::string_view data_format) {
  std::string name = in_small_letters(data_format);
  PLIMSOLL_CHECK(name == "channels_first" || name == "channels_last", InvalidArgumentError,
                 "The `data_format` argument must be one of {{'channels_first', 'channels_last'}}. "
                 "Received: data_format={}",
                 name);
  return name;
}

std::string standardize_padding(std::string_view padding, bool allow_causal) {
  std::string name = in_small_letters(padding);
  PLIMSOLL_CHECK(name == "valid" || name == "same" || (allow_causal && name == "causal"),
                 InvalidArgumentError, "The `padding` argument must be one of {}. Received: {}",
                 allow_causal ? "{'valid', 'same', 'causal'}" : "{'valid', 'same'}", name);
  return name;
}

std::string_view op_data_format(int num_spatial, std::string_view data_format) noexcept {
  constexpr std::string_view kLast[] = {"NWC", "NHWC", "NDHWC"};
  constexpr std::string_view kFirst[] = {"NCW", "NCHW", "NCDHW"};
  return (is_channels_first(data_format) ? kFirst : kLast)[num_spatial - 1];
}

const char* op_padding(std::string_view padding) noexcept {
  return padding == "valid" ? "VALID" : padding == "same" ? "SAME" : "CAUSAL";
}

std::string tuple_text(const Sizes& sizes) {
  return PartialShape(sizes.values()).to_string();
}

void check_conv_output(const PartialShape& input, const PartialShape& kernel,
                       const Windows& windows) {
  PLIMSOLL_CHECK(input.rank() == kernel.rank(), InvalidArgumentError,
                 "Kernel shape must have the same length as input, but received kernel of shape {} "
                 "and input of shape {}.",
                 kernel.to_string(), input.to_string());
  if (windows.padding != "valid") return;
  for (int i = 0; i < input.rank() - 2; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t in = input[first_spatial_axis(windows.data_format) + i];
    const std::int64_t size = (kernel[i] - 1) * windows.dilation_rate[k] + 1;
    PLIMSOLL_CHECK(in == kNone || num_valid(in, size, windows.strides[k]) > 0, InvalidArgumentError,
                   "Computed output size would be zero or negative. Received `inputs shape={}`, "
                   "`kernel shape={}`, `dilation_rate={}`, `strides={}`, `padding={}`.",
                   input.to_string(), kernel.to_string(), tuple_text(windows.dilation_rate),
                   tuple_text(windows.strides), windows.padding);
  }
}

void check_pool_output(const PartialShape& input, const Windows& windows) {
  if (windows.padding != "valid") return;
  for (int i = 0; i < input.rank() - 2; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::int64_t in = input[first_spatial_axis(windows.data_format) + i];
    PLIMSOLL_CHECK(
        in == kNone || num_valid(in, windows.size[k], windows.strides[k]) > 0, InvalidArgumentError,
        "Computed output size would be zero or negative. Received: `inputs.shape={}`, "
        "`pool_size={}`, `strides={}`, `padding={}`.",
        input.to_string(), tuple_text(windows.size), tuple_text(windows.strides), windows.padding);
  }
}

std::int64_t known_channels(const PartialShape& input, std::string_view data_format,
                            const std::string& layer) {
  const std::int64_t channels = input[channel_axis(data_format)];
  PLIMSOLL_CHECK(channels != kNone, InvalidArgumentError,
                 "The channel dimension of the inputs of layer '{}' should be defined. Found "
                 "`None`. Received: input_shape={}",
                 layer, input.to_string());
  return channels;
}

}  // namespace plimsoll::keras
