// Convolutions in one and three dimensions, and those that are made of others.
#include "base/check.h"
#include "plimsoll/ops/conv.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"
#include "runtime/window_args.h"

namespace plimsoll::nn {
namespace {

void check_filters(const Tensor& filters, int rank, std::string_view what) {
  PLIMSOLL_CHECK(filters.is_valid(), InvalidArgumentError, "{} got an empty Tensor", what);
  PLIMSOLL_CHECK(filters.rank() == rank, InvalidArgumentError,
                 "{} needs filters of rank {}, got {}", what, rank, filters.shape().to_string());
}

Attrs with_sizes(const Attrs& a, const Shape& sizes) {
  return {a[0], a[1], a[2], a[3], a[4], AttrValue(sizes)};
}

// "CAUSAL" as explicit padding: no output looks at what comes after it.
PaddingArg resolved(const PaddingArg& padding, const Tensor& filters, std::string_view data_format,
                    const WindowSizes& dilations) {
  if (padding.name() != "CAUSAL" && padding.name() != "causal") return padding;
  const Attrs a = window_attrs(1, "VALID", data_format, dilations, "dilations", Directions::k1);
  const std::int64_t before = (filters.shape()[0] - 1) * a[3].as_ints()[1];
  const bool is_last = parse_data_format(data_format, Directions::k1) == DataFormat::kNhwc;
  const std::pair<std::int64_t, std::int64_t> none{0, 0}, causal{before, 0};
  return {none, is_last ? causal : none, is_last ? none : causal};
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& filters, const WindowSizes& stride,
              const PaddingArg& padding, std::string_view data_format,
              const WindowSizes& dilations) {
  const Tensor image = as_image(input, data_format, "conv1d");
  check_filters(filters, 3, "conv1d");
  const Attrs a = window_attrs(stride, resolved(padding, filters, data_format, dilations),
                               data_format, dilations, "dilations", Directions::k1);
  return from_image(call(OpId::Conv2D, {image, expand_dims(filters, 0)}, a), data_format);
}

Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding,
                        std::string_view data_format, const WindowSizes& dilations) {
  const Tensor image = as_image(input, data_format, "conv1d_transpose");
  check_filters(filters, 3, "conv1d_transpose");
  PLIMSOLL_CHECK(output_shape.rank() == 3, InvalidArgumentError,
                 "conv1d_transpose needs an output_shape of 3 dimensions, got {}",
                 output_shape.to_string());
  const Attrs a =
      window_attrs(strides, padding, data_format, dilations, "dilations", Directions::k1);
  std::vector<std::int64_t> sizes(output_shape.dims().begin(), output_shape.dims().end());
  sizes.insert(sizes.begin() + (data_format == "NWC" ? 1 : 2), 1);
  return from_image(call(OpId::Conv2DBackpropInput, {expand_dims(filters, 0), image},
                         with_sizes(a, Shape(sizes))),
                    data_format);
}

Tensor conv3d(const Tensor& input, const Tensor& filters, const WindowSizes& strides,
              const PaddingArg& padding, std::string_view data_format,
              const WindowSizes& dilations) {
  return call(OpId::Conv3D, {input, filters},
              window_attrs(strides, padding, data_format, dilations, "dilations", Directions::k3));
}

Tensor conv3d_transpose(const Tensor& input, const Tensor& filters, const Shape& output_shape,
                        const WindowSizes& strides, const PaddingArg& padding,
                        std::string_view data_format, const WindowSizes& dilations) {
  const Attrs a =
      window_attrs(strides, padding, data_format, dilations, "dilations", Directions::k3);
  return call(OpId::Conv3DBackpropInput, {filters, input}, with_sizes(a, output_shape));
}

Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, std::int64_t rate,
                     const PaddingArg& padding) {
  return conv2d(value, filters, 1, padding, "NHWC", rate);
}

Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter,
                        const Tensor& pointwise_filter, const WindowSizes& strides,
                        const PaddingArg& padding, std::string_view data_format,
                        const WindowSizes& dilations) {
  check_filters(pointwise_filter, 4, "separable_conv2d");
  PLIMSOLL_CHECK(pointwise_filter.shape()[0] == 1 && pointwise_filter.shape()[1] == 1,
                 InvalidArgumentError,
                 "separable_conv2d needs a pointwise_filter of height and width 1, got {}",
                 pointwise_filter.shape().to_string());
  const Tensor depthwise =
      depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations);
  const std::int64_t channels = depthwise.shape()[data_format == "NHWC" ? 3 : 1];
  PLIMSOLL_CHECK(pointwise_filter.shape()[2] == channels, InvalidArgumentError,
                 "separable_conv2d: the depthwise filter gives {} channels, the pointwise filter "
                 "takes {}",
                 channels, pointwise_filter.shape()[2]);
  return conv2d(depthwise, pointwise_filter, 1, "VALID", data_format);
}

}  // namespace plimsoll::nn
