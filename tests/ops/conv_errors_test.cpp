// Mistakes in calls of convolutions, pools and products are InvalidArgumentErrors that echo what
// came.
#include <gtest/gtest.h>

#include <functional>

#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

template <class ErrorType = InvalidArgumentError>
void expect_error(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const ErrorType& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
  }
}

const Tensor& image() {
  static const Tensor made = ones({1, 8, 8, 4});
  return made;
}

TEST(ConvErrorsTest, ChannelsThatDoNotGoTogether) {
  expect_error(
      [] {
        nn::conv2d(image(), ones({3, 3, 3, 8}), 1, "SAME");
      },
      "input depth must be evenly divisible by filter depth: 4 vs 3 [Op:Conv2D]");
  expect_error(
      [] {
        nn::conv2d(image(), ones({3, 3, 2, 5}), 1, "SAME");
      },
      "output depth must be evenly divisible by number of groups: 5 vs 2 [Op:Conv2D]");
  expect_error([] { nn::depthwise_conv2d(image(), ones({3, 3, 3, 2}), 1, "SAME"); }, "4 vs 3");
}

TEST(ConvErrorsTest, ShapesAndTypes) {
  expect_error(
      [] {
        nn::conv2d(ones({8, 8, 4}), ones({3, 3, 4, 5}), 1, "SAME");
      },
      "input must be 4-dimensional: [8,8,4]");
  expect_error(
      [] {
        nn::conv2d(image(), ones({3, 3, 4}), 1, "SAME");
      },
      "filter must be 4-dimensional: [3,3,4]");
  expect_error(
      [] {
        nn::conv2d(image(), ones({0, 3, 4, 5}), 1, "SAME");
      },
      "filter must not have zero elements");
  expect_error(
      [] {
        nn::conv2d(image(), ones({3, 3, 4, 5}, float64), 1, "SAME");
      },
      "was expected to be a float tensor but is a double tensor");
  expect_error(
      [] {
        nn::conv2d(ones({1, 8, 8, 4}, int8), ones({3, 3, 4, 5}, int8), 1, "SAME");
      },
      "Value for attr 'T' of int8 is not in the list of allowed values");
  expect_error([] { nn::conv2d(Tensor(), ones({3, 3, 4, 5}), 1, "SAME"); }, "empty Tensor");
}

TEST(ConvErrorsTest, StridesDilationsPadding) {
  const Tensor filter = ones({3, 3, 4, 5});
  const auto conv = [&](const nn::WindowSizes& strides, const nn::PaddingArg& padding,
                        std::string_view format = "NHWC", const nn::WindowSizes& dilations = 1) {
    return [=] { nn::conv2d(image(), filter, strides, padding, format, dilations); };
  };
  expect_error(conv(0, "SAME"), "Stride must be > 0, but got 0");
  expect_error(conv({1, -1}, "SAME"), "Stride must be > 0, but got -1");
  expect_error(conv({1, 2, 3}, "SAME"),
               "strides should be of length 1, 2 or 4. Received: strides=[1,2,3] of length 3");
  expect_error<UnimplementedError>(conv({2, 1, 1, 1}, "SAME"), "batch and depth dimensions");
  expect_error(conv(1, "SAME", "NHWC", 0), "Dilated rates should be larger than 0, got 0");
  expect_error(conv(1, "FULL"), "Value for attr 'padding' of \"FULL\" is not in the list");
  expect_error(conv(1, "SAME", "NHCW"), "Value for attr 'data_format' of \"NHCW\" is not in");
  expect_error(conv(1, {{0, 0}, {-1, 0}, {0, 0}, {0, 0}}), "must be nonnegative, got [-1,0,0,0]");
  expect_error(conv(1, {{1, 0}, {0, 0}, {0, 0}, {0, 0}}), "batch or depth dimensions");
  expect_error(conv(1, {{0, 0}, {1, 1}}), "a pair for each of the 4 dimensions, got 2");
  expect_error(conv(1, "VALID", "NHWC", 9), "Computed output size would be negative");
  expect_error(conv(std::int64_t{1} << 40, "SAME"), "must be at most 2^31, got 1099511627776");
}

TEST(ConvErrorsTest, GradientsOfOtherShapes) {
  expect_error(
      [] {
        nn::conv2d_transpose(ones({1, 5, 5, 3}), ones({3, 3, 2, 3}), {1, 8, 8, 2}, 1);
      },
      "[1,5,5,3] vs [1,8,8,3]");
}

TEST(PoolErrorsTest, Windows) {
  expect_error(
      [] {
        nn::max_pool2d(ones({8, 8, 4}), 2, 2, "SAME");
      },
      "Input must be 4-dimensional: [8,8,4]");
  expect_error([] { nn::max_pool2d(image(), 0, 2, "SAME"); },
               "Sliding window ksize must be positive. The specified or inferred ksize is: [0,0]");
  expect_error([] { nn::avg_pool2d(image(), 2, 0, "SAME"); }, "Stride must be > 0, but got 0");
  expect_error([] { nn::max_pool2d(image(), 10, 1, "VALID"); },
               "Computed output size would be negative");
  expect_error(
      [] {
        nn::max_pool2d(image(), 2, 2, {{0, 0}, {3, 1}, {1, 1}, {0, 0}});
      },
      "Padding must be smaller than the window: 3 and 1 vs 2");
  expect_error(
      [] {
        nn::avg_pool2d(ones({1, 8, 8, 4}, int32), 2, 2, "SAME");
      },
      "Value for attr 'T' of int32");
  expect_error<UnimplementedError>(
      [] {
        nn::max_pool2d(image(), {2, 2, 2, 1}, 1, "SAME");
      },
      "got [2,2,2,1]");
}

TEST(BiasAddTest, AddsToChannels) {
  const Tensor bias = constant({1.0F, 2.0F});
  EXPECT_EQ(nn::bias_add(zeros({1, 3, 2}), bias).to_vector<float>(),
            (std::vector<float>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(nn::bias_add(zeros({1, 2, 3}), bias, "NCHW").to_vector<float>(),
            (std::vector<float>{1, 1, 1, 2, 2, 2}));
  GradientTape tape;
  tape.watch(bias);
  const Tensor sum = reduce_sum(nn::bias_add(zeros({4, 2, 3}), bias, "NCHW"));
  EXPECT_EQ(tape.gradient(sum, bias).to_vector<float>(), (std::vector<float>{12, 12}));
}

TEST(BiasAddTest, Errors) {
  expect_error([] { nn::bias_add(image(), ones({3})); }, "[3] vs. [1,8,8,4]");
  expect_error([] { nn::bias_add(image(), ones({3, 1})); }, "Biases must be 1D: [3,1]");
  expect_error([] { nn::bias_add(ones({3}), ones({3})); }, "Input tensor must be at least 2D: [3]");
  expect_error([] { nn::bias_add(image(), ones({4}), "XY"); },
               "`data_format` must be of the form `N...C` or `NC...`. Received: data_format=XY");
}

TEST(MatMulErrorsTest, Shapes) {
  expect_error(
      [] {
        matmul(ones({3, 4}), ones({3, 4}));
      },
      "Matrix size-incompatible: In[0]: [3,4], In[1]: [3,4]");
  expect_error([] { linalg::matvec(ones({3, 4}), ones({3})); }, "Matrix size-incompatible");
  expect_error([] { linalg::matvec(ones({3}), ones({3})); }, "matvec needs matrices and vectors");
  EXPECT_EQ(linalg::matvec(ones({2, 3}), ones({3})).to_vector<float>(), (std::vector<float>{3, 3}));
}

// Several chunks of staged images, in 16 bits and transposed, give what one call per image gives.
TEST(ConvTest, LargeBatchesAreStagedInParts) {
  const Shape shape{6, 3, 400, 500};
  Tensor x = cast(fill(shape, 0.5), bfloat16);
  const Tensor filter = cast(ones({3, 3, 3, 2}), bfloat16);
  const Tensor y = nn::conv2d(x, filter, 1, "VALID", "NCHW");
  EXPECT_EQ(y.shape(), (Shape{6, 2, 398, 498}));
  for (const BFloat16 value : y.to_vector<BFloat16>()) ASSERT_EQ(static_cast<float>(value), 13.5F);
  GradientTape tape;
  tape.watch(filter);
  const Tensor sum = reduce_sum(nn::conv2d(x, filter, 1, "VALID", "NCHW"));
  const Tensor gradient = tape.gradient(sum, filter);
  for (const BFloat16 value : gradient.to_vector<BFloat16>())
    EXPECT_NEAR(static_cast<float>(value), 0.5F * 6 * 398 * 498, 4096);
}

}  // namespace
}  // namespace plimsoll
