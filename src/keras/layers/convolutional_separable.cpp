// Convolutions of each channel by itself.
#include "keras/layers/convolutional.h"

namespace plimsoll::keras {
namespace {

// Series go as images of height 1.
template <int rank>
Tensor depthwise(const Tensor& x, const Tensor& kernel, const Windows& w) {
  const bool is_series = rank == 1;
  const Tensor y = nn::depthwise_conv2d(
      is_series ? as_image(x, w.data_format) : x, is_series ? expand_dims(kernel, 0) : kernel,
      image_sizes(w.strides), op_padding(w.padding), op_data_format(2, w.data_format),
      image_sizes(w.dilation_rate));
  return is_series ? as_series(y, w.data_format) : y;
}

}  // namespace

template <int rank>
void DepthwiseConvConfig<rank>::visit(ConfigVisitor& v) {
  v("depth_multiplier", depth_multiplier);
  v("kernel_size", kernel_size);
  v("strides", strides);
  v("padding", padding);
  v("data_format", data_format);
  v("dilation_rate", dilation_rate);
  v("activation", activation);
  v("use_bias", use_bias);
  v("depthwise_initializer", depthwise_initializer);
  v("bias_initializer", bias_initializer);
  v("depthwise_regularizer", depthwise_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("depthwise_constraint", depthwise_constraint);
  v("bias_constraint", bias_constraint);
}

template <int rank>
DepthwiseConvLayer<rank>::DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options)
    : Configured<Layer, DepthwiseConvConfig<rank>>(std::move(config), std::move(options)) {
  standardize_windows(this->config_, rank);
  check_positive(this->config_.depth_multiplier, "depth_multiplier");
  this->input_spec = {{.min_ndim = rank + 2}};
}

template <int rank>
void DepthwiseConvLayer<rank>::build(const Shapes& input_shapes) {
  const auto& c = this->config_;
  const PartialShape& input = input_shapes.leaf();
  const std::int64_t channels = known_channels(input, c.data_format, this->name());
  const Shape kernel = kernel_shape(c.kernel_size, channels, c.depth_multiplier);
  check_conv_output(input, kernel, windows_of(c));
  kernel_ = this->add_weight({.name = "kernel",
                              .shape = kernel,
                              .initializer = c.depthwise_initializer,
                              .regularizer = c.depthwise_regularizer,
                              .constraint = c.depthwise_constraint});
  if (c.use_bias)
    bias_ = this->add_weight({.name = "bias",
                              .shape = {c.depth_multiplier * channels},
                              .initializer = c.bias_initializer,
                              .regularizer = c.bias_regularizer,
                              .constraint = c.bias_constraint});
  this->input_spec = {conv_input_spec(rank, c.data_format, channels)};
}

template <int rank>
Nested DepthwiseConvLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  check_conv_output(x.shape(), kernel_->shape(), windows_of(c));
  return finish_conv(depthwise<rank>(x, *kernel_, windows_of(c)), bias_, c.activation,
                     c.data_format);
}

template <int rank>
void SeparableConvConfig<rank>::visit(ConfigVisitor& v) {
  v("depth_multiplier", depth_multiplier);
  v("filters", filters);
  v("kernel_size", kernel_size);
  v("strides", strides);
  v("padding", padding);
  v("data_format", data_format);
  v("dilation_rate", dilation_rate);
  v("activation", activation);
  v("use_bias", use_bias);
  v("depthwise_initializer", depthwise_initializer);
  v("pointwise_initializer", pointwise_initializer);
  v("bias_initializer", bias_initializer);
  v("depthwise_regularizer", depthwise_regularizer);
  v("pointwise_regularizer", pointwise_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("depthwise_constraint", depthwise_constraint);
  v("pointwise_constraint", pointwise_constraint);
  v("bias_constraint", bias_constraint);
}

template <int rank>
SeparableConvLayer<rank>::SeparableConvLayer(SeparableConvConfig<rank> config, LayerOptions options)
    : Configured<Layer, SeparableConvConfig<rank>>(std::move(config), std::move(options)) {
  standardize_windows(this->config_, rank);
  check_positive(this->config_.depth_multiplier, "depth_multiplier");
  check_positive(this->config_.filters, "filters");
  this->input_spec = {{.min_ndim = rank + 2}};
}

template <int rank>
void SeparableConvLayer<rank>::build(const Shapes& input_shapes) {
  const auto& c = this->config_;
  const PartialShape& input = input_shapes.leaf();
  const std::int64_t channels = known_channels(input, c.data_format, this->name());
  const Shape kernel = kernel_shape(c.kernel_size, channels, c.depth_multiplier);
  check_conv_output(input, kernel, windows_of(c));
  depthwise_kernel_ = this->add_weight({.name = "depthwise_kernel",
                                        .shape = kernel,
                                        .initializer = c.depthwise_initializer,
                                        .regularizer = c.depthwise_regularizer,
                                        .constraint = c.depthwise_constraint});
  const Sizes single(std::vector<std::int64_t>(rank, 1));
  pointwise_kernel_ =
      this->add_weight({.name = "pointwise_kernel",
                        .shape = kernel_shape(single, c.depth_multiplier * channels, c.filters),
                        .initializer = c.pointwise_initializer,
                        .regularizer = c.pointwise_regularizer,
                        .constraint = c.pointwise_constraint});
  if (c.use_bias)
    bias_ = this->add_weight({.name = "bias",
                              .shape = {c.filters},
                              .initializer = c.bias_initializer,
                              .regularizer = c.bias_regularizer,
                              .constraint = c.bias_constraint});
  this->input_spec = {conv_input_spec(rank, c.data_format, channels)};
}

template <int rank>
Nested SeparableConvLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  check_conv_output(x.shape(), depthwise_kernel_->shape(), windows_of(c));
  const Tensor mixed = depthwise<rank>(x, *depthwise_kernel_, windows_of(c));
  const std::string_view format = op_data_format(rank, c.data_format);
  Tensor y;
  if constexpr (rank == 1) {
    y = nn::conv1d(mixed, *pointwise_kernel_, 1, "VALID", format);
  } else {
    y = nn::conv2d(mixed, *pointwise_kernel_, 1, "VALID", format);
  }
  return finish_conv(std::move(y), bias_, c.activation, c.data_format);
}

template struct DepthwiseConvConfig<1>;
template struct DepthwiseConvConfig<2>;
template class DepthwiseConvLayer<1>;
template class DepthwiseConvLayer<2>;
template struct SeparableConvConfig<1>;
template struct SeparableConvConfig<2>;
template class SeparableConvLayer<1>;
template class SeparableConvLayer<2>;

}  // namespace plimsoll::keras
