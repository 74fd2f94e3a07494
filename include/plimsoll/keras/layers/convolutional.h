// Convolutions over series (1), images (2) and volumes (3), by the number of directions.
//
//   auto conv = keras::layers::Conv2D({.filters = 32, .kernel_size = 3, .activation = "relu"});
#pragma once

#include "plimsoll/keras/activations.h"
#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

template <int rank>
struct ConvConfig {
  static constexpr const char* kClassName = rank == 1 ? "Conv1D" : rank == 2 ? "Conv2D" : "Conv3D";
  std::int64_t filters = 0;
  Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";  // same, and of series causal
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  std::int64_t groups = 1;
  Activation activation = {};
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// activation(conv(x, kernel) + bias)
template <int rank>
class ConvLayer : public Configured<Layer, ConvConfig<rank>> {
 public:
  explicit ConvLayer(ConvConfig<rank> config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr kernel_, bias_;
};

template <int rank>
struct ConvTransposeConfig {
  static constexpr const char* kClassName = rank == 1   ? "Conv1DTranspose"
                                            : rank == 2 ? "Conv2DTranspose"
                                                        : "Conv3DTranspose";
  std::int64_t filters = 0;
  Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";  // or same
  Sizes output_padding = {};      // none: as it makes the largest output
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// What a convolution would have made its input of.
template <int rank>
class ConvTransposeLayer : public Configured<Layer, ConvTransposeConfig<rank>> {
 public:
  explicit ConvTransposeLayer(ConvTransposeConfig<rank> config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr kernel_, bias_;
};

template <int rank>
struct DepthwiseConvConfig {
  static constexpr const char* kClassName = rank == 1 ? "DepthwiseConv1D" : "DepthwiseConv2D";
  Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";      // or same
  std::int64_t depth_multiplier = 1;  // filters for each channel
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  Activation activation = {};
  bool use_bias = true;
  InitializerArg depthwise_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg depthwise_regularizer = {}, bias_regularizer = {};
  ConstraintArg depthwise_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// A convolution of each channel by itself.
template <int rank>
class DepthwiseConvLayer : public Configured<Layer, DepthwiseConvConfig<rank>> {
 public:
  explicit DepthwiseConvLayer(DepthwiseConvConfig<rank> config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr kernel_, bias_;
};

template <int rank>
struct SeparableConvConfig {
  static constexpr const char* kClassName = rank == 1 ? "SeparableConv1D" : "SeparableConv2D";
  std::int64_t filters = 0;
  Sizes kernel_size = {}, strides = 1;
  std::string padding = "valid";  // or same
  std::string data_format = "channels_last";
  Sizes dilation_rate = 1;
  std::int64_t depth_multiplier = 1;
  Activation activation = {};
  bool use_bias = true;
  InitializerArg depthwise_initializer = "glorot_uniform";
  InitializerArg pointwise_initializer = "glorot_uniform";
  InitializerArg bias_initializer = "zeros";
  RegularizerArg depthwise_regularizer = {}, pointwise_regularizer = {}, bias_regularizer = {};
  ConstraintArg depthwise_constraint = {}, pointwise_constraint = {}, bias_constraint = {};
  void visit(ConfigVisitor& v);
};
// A convolution of each channel by itself, then one of single pixels over the channels.
template <int rank>
class SeparableConvLayer : public Configured<Layer, SeparableConvConfig<rank>> {
 public:
  explicit SeparableConvLayer(SeparableConvConfig<rank> config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  VariablePtr depthwise_kernel_, pointwise_kernel_, bias_;
};

extern template class ConvLayer<1>;
extern template class ConvLayer<2>;
extern template class ConvLayer<3>;
extern template class ConvTransposeLayer<1>;
extern template class ConvTransposeLayer<2>;
extern template class ConvTransposeLayer<3>;
extern template class DepthwiseConvLayer<1>;
extern template class DepthwiseConvLayer<2>;
extern template class SeparableConvLayer<1>;
extern template class SeparableConvLayer<2>;

namespace layers {
using Conv1D = LayerRef<ConvLayer<1>>;
using Conv2D = LayerRef<ConvLayer<2>>;
using Conv3D = LayerRef<ConvLayer<3>>;
using Conv1DTranspose = LayerRef<ConvTransposeLayer<1>>;
using Conv2DTranspose = LayerRef<ConvTransposeLayer<2>>;
using Conv3DTranspose = LayerRef<ConvTransposeLayer<3>>;
using DepthwiseConv1D = LayerRef<DepthwiseConvLayer<1>>;
using DepthwiseConv2D = LayerRef<DepthwiseConvLayer<2>>;
using SeparableConv1D = LayerRef<SeparableConvLayer<1>>;
using SeparableConv2D = LayerRef<SeparableConvLayer<2>>;
// The other names that Keras has for them.
using Convolution1D = Conv1D;
using Convolution2D = Conv2D;
using Convolution3D = Conv3D;
using Convolution1DTranspose = Conv1DTranspose;
using Convolution2DTranspose = Conv2DTranspose;
using Convolution3DTranspose = Conv3DTranspose;
using SeparableConvolution1D = SeparableConv1D;
using SeparableConvolution2D = SeparableConv2D;
}  // namespace layers

}  // namespace plimsoll::keras
