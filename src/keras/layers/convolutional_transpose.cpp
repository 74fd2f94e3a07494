#include "keras/layers/convolutional.h"

namespace plimsoll::keras {
namespace {

// How long the output is in direction i.
template <int rank>
std::int64_t output_size(std::int64_t in, const ConvTransposeConfig<rank>& c, std::size_t i) {
  const std::int64_t stride = c.strides[i];
  const std::int64_t size = (c.kernel_size[i] - 1) * c.dilation_rate[i] + 1;
  const bool is_valid = c.padding == "valid";
  if (c.output_padding.is_none())
    return is_valid ? (in - 1) * stride + std::max(size, stride) : in * stride;
  return (in - 1) * stride + (is_valid ? size : size % 2) + c.output_padding[i];
}

template <int rank>
Shape output_shape(const Shape& input, const ConvTransposeConfig<rank>& c) {
  std::vector<std::int64_t> dims(input.dims().begin(), input.dims().end());
  const auto first = static_cast<std::size_t>(first_spatial_axis(c.data_format));
  for (std::size_t i = 0; i < rank; ++i) dims[first + i] = output_size(dims[first + i], c, i);
  dims[is_channels_first(c.data_format) ? 1 : rank + 1] = c.filters;
  return Shape(dims);
}

}  // namespace

template <int rank>
void ConvTransposeConfig<rank>::visit(ConfigVisitor& v) {
  v("filters", filters);
  v("kernel_size", kernel_size);
  v("strides", strides);
  v("padding", padding);
  v("output_padding", output_padding);
  v("data_format", data_format);
  v("dilation_rate", dilation_rate);
  v("activation", activation);
  v("use_bias", use_bias);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
}

template <int rank>
ConvTransposeLayer<rank>::ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options)
    : Configured<Layer, ConvTransposeConfig<rank>>(std::move(config), std::move(options)) {
  auto& c = this->config_;
  standardize_windows(c, rank);
  check_positive(c.filters, "filters");
  if (!c.output_padding.is_none()) {
    c.output_padding = c.output_padding.repeated(rank, "output_padding", 0);
    for (std::size_t i = 0; i < rank; ++i)
      PLIMSOLL_CHECK(c.output_padding[i] < c.strides[i], InvalidArgumentError,
                     "`output_padding` must be strictly less than `strides` for all dimensions. At "
                     "dimension {}, `output_padding` is {} but `strides` is {}. Received: "
                     "output_padding={}, strides={}",
                     i, c.output_padding[i], c.strides[i], tuple_text(c.output_padding),
                     tuple_text(c.strides));
  }
  check_strides_or_dilation(c.strides, c.dilation_rate);
  this->input_spec = {{.min_ndim = rank + 2}};
}

template <int rank>
void ConvTransposeLayer<rank>::build(const Shapes& input_shapes) {
  const auto& c = this->config_;
  const PartialShape& input = input_shapes.leaf();
  const std::int64_t channels = known_channels(input, c.data_format, this->name());
  kernel_ = this->add_weight({.name = "kernel",
                              .shape = kernel_shape(c.kernel_size, c.filters, channels),
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
Nested ConvTransposeLayer<rank>::call(const Nested& inputs, const CallArgs&) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  PLIMSOLL_CHECK(x.rank() == rank + 2, InvalidArgumentError,
                 "Kernel shape must have the same length as input, but received kernel of shape {} "
                 "and input of shape {}.",
                 PartialShape(kernel_->shape()).to_string(), PartialShape(x.shape()).to_string());
  const Shape shape = output_shape(x.shape(), c);
  const char* padding = op_padding(c.padding);
  const std::string_view format = op_data_format(rank, c.data_format);
  const auto& strides = c.strides.values();
  const auto& dilations = c.dilation_rate.values();
  Tensor y;
  if constexpr (rank == 1) {
    y = nn::conv1d_transpose(x, *kernel_, shape, strides, padding, format, dilations);
  } else if constexpr (rank == 2) {
    y = nn::conv2d_transpose(x, *kernel_, shape, strides, padding, format, dilations);
  } else {
    y = nn::conv3d_transpose(x, *kernel_, shape, strides, padding, format, dilations);
  }
  return finish_conv(std::move(y), bias_, c.activation, c.data_format);
}

template struct ConvTransposeConfig<1>;
template struct ConvTransposeConfig<2>;
template struct ConvTransposeConfig<3>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;
template class ConvTransposeLayer<3>;

}  // namespace plimsoll::keras
