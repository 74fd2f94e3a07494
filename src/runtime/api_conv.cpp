#include "base/check.h"
#include "plimsoll/ops/conv.h"
#include "plimsoll/ops/elementwise.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"
#include "runtime/window_args.h"

namespace plimsoll {
namespace {

std::string list(std::span<const std::int64_t> values) {
  return AttrValue(values.first(std::min<std::size_t>(values.size(), 16))).to_string();
}

}  // namespace

DataFormat parse_data_format(std::string_view data_format) {
  PLIMSOLL_CHECK(data_format == "NHWC" || data_format == "NCHW", InvalidArgumentError,
                 "Value for attr 'data_format' of \"{}\" is not in the list of allowed values: "
                 "\"NHWC\", \"NCHW\"",
                 data_format);
  return data_format == "NHWC" ? DataFormat::kNhwc : DataFormat::kNchw;
}

AttrValue window_pair(const nn::WindowSizes& sizes, DataFormat format, std::string_view what) {
  const auto& v = sizes.values();
  PLIMSOLL_CHECK(v.size() == 1 || v.size() == 2 || v.size() == 4, InvalidArgumentError,
                 "{0} should be of length 1, 2 or 4. Received: {0}={1} of length {2}", what,
                 list(v), v.size());
  std::int64_t pair[2] = {v[0], v.back()};
  if (v.size() == 4) {
    const bool is_nhwc = format == DataFormat::kNhwc;
    PLIMSOLL_CHECK(v[0] == 1 && v[is_nhwc ? 3 : 1] == 1, UnimplementedError,
                   "Current implementation does not yet support {} in the batch and depth "
                   "dimensions, got {}",
                   what, list(v));
    pair[0] = v[is_nhwc ? 1 : 2];
    pair[1] = v[is_nhwc ? 2 : 3];
  }
  return AttrValue(std::span<const std::int64_t>(pair));
}

Attrs window_attrs(const nn::WindowSizes& strides, const nn::PaddingArg& padding,
                   std::string_view data_format, const nn::WindowSizes& last,
                   std::string_view last_name) {
  const DataFormat format = parse_data_format(data_format);
  Padding kind = Padding::kExplicit;
  std::vector<std::int64_t> pads;
  if (padding.name() == "SAME" || padding.name() == "same") {
    kind = Padding::kSame;
  } else if (padding.name() == "VALID" || padding.name() == "valid") {
    kind = Padding::kValid;
  } else {
    PLIMSOLL_CHECK(padding.name().empty(), InvalidArgumentError,
                   "Value for attr 'padding' of \"{}\" is not in the list of allowed values: "
                   "\"SAME\", \"VALID\", \"EXPLICIT\"",
                   padding.name());
    const auto& pairs = padding.pairs();
    PLIMSOLL_CHECK(pairs.size() == 4, InvalidArgumentError,
                   "explicit padding must have a pair for each of the 4 dimensions, got {}",
                   pairs.size());
    const std::size_t h = format == DataFormat::kNhwc ? 1 : 2;
    const std::size_t c = format == DataFormat::kNhwc ? 3 : 1;
    const std::pair<std::int64_t, std::int64_t> none{0, 0};
    PLIMSOLL_CHECK(pairs[0] == none && pairs[c] == none, InvalidArgumentError,
                   "Nonzero explicit padding in the batch or depth dimensions is not supported: "
                   "({}, {}) and ({}, {})",
                   pairs[0].first, pairs[0].second, pairs[c].first, pairs[c].second);
    pads = {pairs[h].first, pairs[h].second, pairs[h + 1].first, pairs[h + 1].second};
  }
  return {window_pair(strides, format, "strides"), static_cast<std::int64_t>(kind),
          AttrValue(std::span<const std::int64_t>(pads)), window_pair(last, format, last_name),
          static_cast<std::int64_t>(format)};
}

namespace nn {

Tensor conv2d(const Tensor& input, const Tensor& filters, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format,
              const WindowSizes& dilations) {
  return call(OpId::Conv2D, {input, filters},
              window_attrs(strides, padding, data_format, dilations, "dilations"));
}

Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter, const WindowSizes& strides,
                        const PaddingArg& padding, std::string_view data_format,
                        const WindowSizes& dilations) {
  return call(OpId::DepthwiseConv2D, {input, filter},
              window_attrs(strides, padding, data_format, dilations, "dilations"));
}

Tensor conv2d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding,
                        std::string_view data_format, const WindowSizes& dilations) {
  const Attrs a = window_attrs(strides, padding, data_format, dilations, "dilations");
  return call(OpId::Conv2DBackpropInput, {filters, input},
              {a[0], a[1], a[2], a[3], a[4], AttrValue(output_shape)});
}

Tensor bias_add(const Tensor& value, const Tensor& bias, std::string_view data_format) {
  PLIMSOLL_CHECK(data_format.substr(0, 2) == "NC" ||
                     (data_format.substr(0, 1) == "N" && data_format.ends_with("C")),
                 InvalidArgumentError,
                 "`data_format` must be of the form `N...C` or `NC...`. Received: data_format={}",
                 data_format);
  PLIMSOLL_CHECK(value.is_valid() && bias.is_valid(), InvalidArgumentError,
                 "bias_add got an empty Tensor");
  PLIMSOLL_CHECK(value.rank() >= 2, InvalidArgumentError,
                 "Input tensor must be at least 2D: {} [Op:BiasAdd]", value.shape().to_string());
  PLIMSOLL_CHECK(bias.rank() == 1, InvalidArgumentError, "Biases must be 1D: {} [Op:BiasAdd]",
                 bias.shape().to_string());
  const bool channels_first = data_format.substr(0, 2) == "NC";
  const std::int64_t channels = value.shape()[channels_first ? 1 : value.rank() - 1];
  PLIMSOLL_CHECK(bias.shape()[0] == channels, InvalidArgumentError,
                 "Must provide as many biases as the last dimension of the input tensor: {} vs. {} "
                 "[Op:BiasAdd]",
                 bias.shape().to_string(), value.shape().to_string());
  if (!channels_first) return add(value, bias);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(value.rank() - 1), 1);
  shape[0] = channels;
  return add(value, reshape(bias, shape));
}

}  // namespace nn
}  // namespace plimsoll
