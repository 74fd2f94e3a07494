// What layers refuse, in Keras's words.
#include "ops/error_text.h"
#include "plimsoll/keras/layers/activation.h"
#include "plimsoll/keras/layers/convolutional.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/keras/layers/merging.h"
#include "plimsoll/keras/layers/normalization.h"
#include "plimsoll/keras/layers/pooling.h"
#include "plimsoll/keras/layers/regularization.h"
#include "plimsoll/keras/layers/reshaping.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using namespace layers;

TEST(LayerErrorsTest, ConvolutionsCheckTheirArguments) {
  EXPECT_INVALID(Conv2D({.filters = 0, .kernel_size = 3}),
                 "Invalid value for argument `filters`. Expected a strictly positive value. "
                 "Received filters=0.");
  EXPECT_INVALID(Conv2D({.filters = 3}),
                 "The `kernel_size` argument must be a tuple of 2 integers greater than 0. "
                 "Received: kernel_size=null");
  EXPECT_INVALID(Conv2D({.filters = 3, .kernel_size = {1, 2, 3}}),
                 "The `kernel_size` argument must be a tuple of 2 integers greater than 0. "
                 "Received: kernel_size=[1, 2, 3]");
  EXPECT_INVALID(Conv1D({.filters = 3, .kernel_size = 3, .strides = 0}),
                 "The `strides` argument must be a tuple of 1 integers greater than 0. Received: "
                 "strides=0");
  EXPECT_INVALID(Conv3D({.filters = 3, .kernel_size = 3, .strides = 2, .dilation_rate = 2}),
                 "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                 "strides=(2, 2, 2) and dilation_rate=(2, 2, 2)");
  EXPECT_INVALID(Conv2D({.filters = 3, .kernel_size = 3, .padding = "causal"}),
                 "The `padding` argument must be one of {'valid', 'same'}. Received: causal");
  EXPECT_INVALID(
      Conv1D({.filters = 3, .kernel_size = 3, .padding = "full"}),
      "The `padding` argument must be one of {'valid', 'same', 'causal'}. Received: full");
  EXPECT_INVALID(Conv2D({.filters = 3, .kernel_size = 3, .data_format = "NHWC"}),
                 "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
                 "Received: data_format=nhwc");
  EXPECT_INVALID(
      Conv2D({.filters = 3, .kernel_size = 3, .groups = 2}),
      "The number of filters must be evenly divisible by the number of groups. Received: "
      "groups=2, filters=3.");
  EXPECT_INVALID(Conv2D({.filters = 3, .kernel_size = 3, .groups = 0}),
                 "The number of groups must be a positive integer. Received: groups=0.");
  EXPECT_INVALID(
      Conv2DTranspose({.filters = 3, .kernel_size = 3, .strides = 2, .output_padding = 2}),
      "`output_padding` must be strictly less than `strides` for all dimensions. At "
      "dimension 0, `output_padding` is 2 but `strides` is 2.");
  EXPECT_INVALID(DepthwiseConv2D({.kernel_size = 3, .depth_multiplier = 0}),
                 "Invalid value for argument `depth_multiplier`. Expected a strictly positive "
                 "value. Received depth_multiplier=0.");
}

TEST(LayerErrorsTest, ConvolutionsCheckTheirInputs) {
  EXPECT_INVALID(Conv2D({.filters = 3, .kernel_size = 3}, {.name = "c"})(zeros({2, 5, 3})),
                 "Input 0 with name 'None' of layer 'c' is incompatible with the layer: expected "
                 "min_ndim=4, found ndim=3. Full shape received: (2, 5, 3)");
  EXPECT_INVALID(
      Conv2D({.filters = 3, .kernel_size = 3})(zeros({2, 5, 5, 5, 3})),
      "Kernel shape must have the same length as input, but received kernel of shape (3, "
      "3, 3, 3) and input of shape (2, 5, 5, 5, 3).");
  EXPECT_INVALID(Conv2D({.filters = 4, .kernel_size = 3, .groups = 2})(zeros({2, 5, 5, 3})),
                 "The number of input channels must be evenly divisible by the number of groups. "
                 "Received groups=2, but the input has 3 channels (full input shape is (2, 5, 5, "
                 "3)).");
  EXPECT_INVALID(Conv2D({.filters = 4, .kernel_size = {6, 1}})(zeros({2, 5, 5, 3})),
                 "Computed output size would be zero or negative. Received `inputs shape=(2, 5, 5, "
                 "3)`, `kernel shape=(6, 1, 3, 4)`");
  const Conv2D conv({.filters = 4, .kernel_size = 3}, {.name = "c"});
  conv(zeros({2, 5, 5, 3}));
  EXPECT_INVALID(conv(zeros({2, 5, 5, 4})),
                 "Input 0 with name 'None' of layer 'c' is incompatible with the layer: expected "
                 "axis -1 of input shape to have value 3, but received input with shape (2, 5, 5, "
                 "4)");
  EXPECT_INVALID(conv(zeros({2, 2, 5, 3})), "Computed output size would be zero or negative.");
  EXPECT_INVALID(Conv2D({.filters = 4, .kernel_size = 3})(Input({5, 5, kNone})),
                 "The channel dimension of the inputs of layer");
}

TEST(LayerErrorsTest, LoraIsNotThere) {
  Json config = Json::object({{"filters", 3}, {"kernel_size", 3}, {"lora_rank", 4}});
  EXPECT_THROW(Layer::get(Json::object({{"class_name", "Conv2D"}, {"config", config}})),
               UnimplementedError);
}

TEST(LayerErrorsTest, Pooling) {
  EXPECT_INVALID(MaxPooling2D()(zeros({2, 5, 3})), "Input 0 with name 'None' of layer");
  EXPECT_INVALID(
      MaxPooling2D({.pool_size = 6})(zeros({2, 5, 5, 3})),
      "Computed output size would be zero or negative. Received: `inputs.shape=(2, 5, 5, "
      "3)`, `pool_size=(6, 6)`, `strides=(6, 6)`, `padding=valid`.");
  EXPECT_INVALID(AveragePooling1D({.padding = "causal"}),
                 "The `padding` argument must be one of {'valid', 'same'}. Received: causal");
  EXPECT_INVALID(AdaptiveMaxPooling3D({.output_size = {1, 2}}),
                 "The `output_size` argument must be a tuple of 3 integers");
}

TEST(LayerErrorsTest, Normalization) {
  EXPECT_INVALID(BatchNormalization({.axis = 3})(zeros({2, 3})),
                 "Axis 3 is out of bounds for input shape (2, 3). Received: axis=3");
  EXPECT_INVALID(BatchNormalization()(Input({kNone})),
                 "Axis -1 of input tensor should have a defined dimension but the layer received "
                 "an input with shape (None, None).");
  CallArgs training{.training = true, .mask = fill({2}, 1, bool_)};
  EXPECT_INVALID(BatchNormalization()(zeros({2, 3, 4}), training),
                 "The mask provided should be one dimension less than the inputs. Received: "
                 "mask.shape=(2,), inputs.shape=(2, 3, 4)");
  EXPECT_INVALID(BatchNormalization({.renorm = true, .renorm_clipping = Json::object({{"r", 1}})}),
                 "Received invalid keys for `renorm_clipping` argument");
  EXPECT_INVALID(LayerNormalization({.axis = {1, 2}})(zeros({2, 3})),
                 "Axis 2 is out of bounds for input shape (2, 3). Received: axis=[1, 2]");
  EXPECT_INVALID(GroupNormalization({.groups = 0}),
                 "Received an invalid value for argument `groups`");
  EXPECT_INVALID(GroupNormalization({.groups = 8})(zeros({2, 4})),
                 "Number of groups (8) cannot be more than the number of channels (4).");
  EXPECT_INVALID(GroupNormalization({.groups = 3})(zeros({2, 4})),
                 "Number of groups (3) must be a multiple of the number of channels (4).");
  EXPECT_INVALID(SpectralNormalization({.layer = Flatten()})(zeros({2, 4})),
                 "Flatten object has no attribute 'kernel' nor 'embeddings'");
  EXPECT_INVALID(SpectralNormalization({.layer = Dense({.units = 2}), .power_iterations = 0}),
                 "`power_iterations` should be greater than zero.");
  EXPECT_INVALID(SpectralNormalization(), "Layer None supplied to Wrapper isn't a supported layer");
}

TEST(LayerErrorsTest, Merging) {
  const Tensor x = zeros({2, 3, 4});
  EXPECT_INVALID(Add()(x),
                 "A merge layer should be called on a list of at least 1 input. Received: "
                 "input_shape=(2, 3, 4) (not a list of shapes)");
  EXPECT_INVALID(Add()({x, zeros({2, 3, 5})}),
                 "Inputs have incompatible shapes. Received shapes (3, 4) and (3, 5)");
  EXPECT_INVALID(Add()({x, zeros({3, 3, 4})}),
                 "Cannot merge tensors with different batch sizes. Received tensors with shapes "
                 "[(2, 3, 4), (3, 3, 4)]");
  EXPECT_INVALID(Subtract()({x, x, x}),
                 "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                 "input_shape=[(2, 3, 4), (2, 3, 4), (2, 3, 4)]");
  EXPECT_INVALID(Concatenate({.axis = 1})({x, zeros({2, 3, 5})}),
                 "A `Concatenate` layer requires inputs with matching shapes except for the "
                 "concatenation axis. Received: input_shape=[(2, 3, 4), (2, 3, 5)]");
  EXPECT_INVALID(
      Dot({.axes = 1})({x, zeros({2, 4, 4})}),
      "Incompatible input shapes: axis values 3 (at axis 1) != 4 (at axis 1). Full input "
      "shapes: (2, 3, 4), (2, 4, 4)");
  EXPECT_INVALID(Dot({.axes = 0})({x, x}), "Cannot perform batch_dot over axis 0.");
  EXPECT_INVALID(Dot({.axes = {1, 2, 3}}),
                 "Invalid format for argument `axes`: it should contain two elements.");
}

TEST(LayerErrorsTest, Reshaping) {
  EXPECT_INVALID(Reshape({.target_shape = {3, 2}})(zeros({2, 5})),
                 "The total size of the tensor must be unchanged. Received: input_shape=(5,), "
                 "target_shape=[3, 2]");
  EXPECT_INVALID(Reshape({.target_shape = {-1, 2}})(zeros({2, 5})),
                 "The total size of the tensor must be unchanged.");
  EXPECT_INVALID(Reshape({.target_shape = {-1, -1}}),
                 "There must be at most one unknown dimension (-1) in `target_shape`.");
  EXPECT_INVALID(Permute({.dims = {0, 1}}),
                 "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                 "`dims` must be consecutive and start from 1. Received dims=(0, 1)");
  EXPECT_INVALID(RepeatVector({.n = 0}),
                 "Argument `n` should be a positive integer. Received: n=0");
  EXPECT_INVALID(UpSampling2D({.interpolation = "linear"}),
                 "Invalid value for argument `interpolation`.");
  EXPECT_INVALID(ZeroPadding2D({.padding = {1, 2, 3}}),
                 "`padding` should have 2 elements. Received: padding=[[1, 1], [2, 2], [3, 3]].");
  EXPECT_INVALID(ZeroPadding1D({.padding = {-1, 2}}), "`padding` cannot be negative.");
  EXPECT_INVALID(Cropping2D({.cropping = {{1, 2}, {0, 0}}})(zeros({1, 3, 3, 1})),
                 "Values in `cropping` argument should be smaller than the corresponding spatial "
                 "dimension of the input. Received: inputs.shape=(1, 3, 3, 1), "
                 "cropping=[[1, 2], [0, 0]]");
}

TEST(LayerErrorsTest, ActivationAndRegularization) {
  EXPECT_INVALID(ReLU({.max_value = -1}),
                 "max_value of a ReLU layer cannot be a negative value. Received: max_value=-1");
  EXPECT_INVALID(
      LeakyReLU({.negative_slope = -1}),
      "The negative_slope value of a Leaky ReLU layer cannot be None or negative value.");
  EXPECT_INVALID(PReLU({.shared_axes = 3})(zeros({2, 3})),
                 "PReLU shares slopes along axes behind the batch.");
  EXPECT_INVALID(Softmax()(zeros({2, 3}), {.mask = fill({2, 4}, 1, bool_)}),
                 "The `mask` must be broadcastable to `inputs`. Each mask dimension must be 1 or");
  EXPECT_INVALID(Softmax()(zeros({2, 3}), {.mask = fill({2, 3, 3}, 1, bool_)}),
                 "The `mask` must be broadcastable to `inputs` and must not have more dimensions.");
  EXPECT_INVALID(GaussianNoise({.stddev = 2}),
                 "Invalid value received for argument `stddev`. Expected a float value between 0 "
                 "and 1. Received: stddev=2");
  EXPECT_INVALID(SpatialDropout2D({.rate = 0.5})(zeros({2, 3})), "Input 0 with name 'None'");
}

}  // namespace
}  // namespace plimsoll::keras
