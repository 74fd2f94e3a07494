#include "keras/layers/convolutional.h"

#include "keras/layers/tables.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Conv1D", make_layer_of_config<ConvLayer<1>>, "Convolution1D"},
    {"Conv2D", make_layer_of_config<ConvLayer<2>>, "Convolution2D"},
    {"Conv3D", make_layer_of_config<ConvLayer<3>>, "Convolution3D"},
    {"Conv1DTranspose", make_layer_of_config<ConvTransposeLayer<1>>, "Convolution1DTranspose"},
    {"Conv2DTranspose", make_layer_of_config<ConvTransposeLayer<2>>, "Convolution2DTranspose"},
    {"Conv3DTranspose", make_layer_of_config<ConvTransposeLayer<3>>, "Convolution3DTranspose"},
    {"DepthwiseConv1D", make_layer_of_config<DepthwiseConvLayer<1>>},
    {"DepthwiseConv2D", make_layer_of_config<DepthwiseConvLayer<2>>},
    {"SeparableConv1D", make_layer_of_config<SeparableConvLayer<1>>, "SeparableConvolution1D"},
    {"SeparableConv2D", make_layer_of_config<SeparableConvLayer<2>>, "SeparableConvolution2D"},
};

Tensor conv(int rank, const Tensor& x, const Tensor& kernel, const Windows& w) {
  const char* padding = op_padding(w.padding);
  const std::string_view format = op_data_format(rank, w.data_format);
  const auto& strides = w.strides.values();
  const auto& dilations = w.dilation_rate.values();
  if (rank == 1) return nn::conv1d(x, kernel, strides, padding, format, dilations);
  if (rank == 2) return nn::conv2d(x, kernel, strides, padding, format, dilations);
  return nn::conv3d(x, kernel, strides, padding, format, dilations);
}

}  // namespace

std::span<const ClassRow> convolutional_layers() {
  return kLayers;
}

void check_positive(std::int64_t value, const char* name) {
  PLIMSOLL_CHECK(value > 0, InvalidArgumentError,
                 "Invalid value for argument `{}`. Expected a strictly positive value. Received "
                 "{}={}.",
                 name, name, value);
}

void check_strides_or_dilation(const Sizes& strides, const Sizes& dilation_rate) {
  PLIMSOLL_CHECK(
      std::ranges::max(strides.values()) == 1 || std::ranges::max(dilation_rate.values()) == 1,
      InvalidArgumentError,
      "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides={} "
      "and dilation_rate={}",
      tuple_text(strides), tuple_text(dilation_rate));
}

Tensor finish_conv(Tensor y, const VariablePtr& bias, const Activation& activation,
                   std::string_view data_format) {
  if (bias) y = nn::bias_add(y, *bias, is_channels_first(data_format) ? "NCHW" : "NHWC");
  return activation(y);
}

template <int rank>
void ConvConfig<rank>::visit(ConfigVisitor& v) {
  v("filters", filters);
  v("kernel_size", kernel_size);
  v("strides", strides);
  v("padding", padding);
  v("data_format", data_format);
  v("dilation_rate", dilation_rate);
  v("groups", groups);
  v("activation", activation);
  v("use_bias", use_bias);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
  if (v.is_reading()) v.constant("lora_rank", nullptr);
  if (v.is_reading()) v.constant("lora_alpha", nullptr);
}

template <int rank>
ConvLayer<rank>::ConvLayer(ConvConfig<rank> config, LayerOptions options)
    : Configured<Layer, ConvConfig<rank>>(std::move(config), std::move(options)) {
  auto& c = this->config_;
  standardize_windows(c, rank, rank == 1);
  check_positive(c.filters, "filters");
  PLIMSOLL_CHECK(c.groups > 0, InvalidArgumentError,
                 "The number of groups must be a positive integer. Received: groups={}.", c.groups);
  PLIMSOLL_CHECK(
      c.filters % c.groups == 0, InvalidArgumentError,
      "The number of filters must be evenly divisible by the number of groups. Received: "
      "groups={}, filters={}.",
      c.groups, c.filters);
  check_strides_or_dilation(c.strides, c.dilation_rate);
  this->input_spec = {{.min_ndim = rank + 2}};
}

template <int rank>
void ConvLayer<rank>::build(const Shapes& input_shapes) {
  const auto& c = this->config_;
  const PartialShape& input = input_shapes.leaf();
  const std::int64_t channels = known_channels(input, c.data_format, this->name());
  PLIMSOLL_CHECK(channels % c.groups == 0, InvalidArgumentError,
                 "The number of input channels must be evenly divisible by the number of groups. "
                 "Received groups={}, but the input has {} channels (full input shape is {}).",
                 c.groups, channels, input.to_string());
  const Shape kernel = kernel_shape(c.kernel_size, channels / c.groups, c.filters);
  check_conv_output(input, kernel, windows_of(c));
  kernel_ = this->add_weight({.name = "kernel",
                              .shape = kernel,
                              .initializer = c.kernel_initializer,
                              .regularizer = c.kernel_regularizer,
                              .constraint = c.kernel_constraint});
  if (c.use_bias)
    bias_ = this->add_weight({.name = "bias",
                              .shape = {c.filters},
                              .initializer = c.bias_initializer,
                              .regularizer = c.bias_regularizer,
                              .constraint = c.bias_constraint});
  this->input_spec = {conv_input_spec(rank, c.data_format, channels)};
}

template <int rank>
Nested ConvLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  check_conv_output(x.shape(), kernel_->shape(), windows_of(c));
  return finish_conv(conv(rank, x, *kernel_, windows_of(c)), bias_, c.activation, c.data_format);
}

template struct ConvConfig<1>;
template struct ConvConfig<2>;
template struct ConvConfig<3>;
template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvLayer<3>;

}  // namespace plimsoll::keras
