#include "base/check.h"
#include "plimsoll/ops/conv.h"
#include "plimsoll/ops/elementwise.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"
#include "runtime/window_args.h"

namespace plimsoll {
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
