// What normalisation refuses; numbers of TensorFlow 2.21; 16-bit tensors; second derivatives.
#include <cmath>

#include "ops/error_text.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using testing_ops::error_of;

void expect_close(const Tensor& got, const std::vector<float>& wanted, float tolerance = 1e-6F) {
  const auto values = cast(got, float32).to_vector<float>();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], tolerance) << i;
}

const std::vector<float> kImage = {1, 2, 3, 5, -1, 0.5F, 2, 2};
const std::vector<float> kTraining = {-0.15348834F, -0.31468642F, 1.8744184F,  0.60280484F,
                                      -2.1813951F,  -0.77343202F, 0.86046505F, -0.31468642F};

TEST(NormTest, FusedBatchNormIsTensorFlows) {
  const Tensor x = constant(std::span<const float>(kImage), {1, 2, 2, 2});
  const Tensor scale = constant({1.5F, 0.5F}), offset = constant({0.1F, -0.2F});
  const auto trained = nn::fused_batch_norm(x, scale, offset);
  expect_close(trained.y, kTraining);
  expect_close(trained.mean, {1.25F, 2.375F});
  expect_close(trained.variance, {2.9166667F, 3.5625F});
  const auto used = nn::fused_batch_norm(x, scale, offset, constant({1.0F, 2.0F}),
                                         constant({4.0F, 9.0F}), 0.001, "NHWC", false);
  expect_close(
      used.y, {0.1F, -0.2F, 1.5998126F, 0.29997224F, -1.3998126F, -0.4499861F, 0.84990633F, -0.2F});
  const Tensor first = transpose(x, {0, 3, 1, 2});
  const auto moved = nn::fused_batch_norm(first, scale, offset, {}, {}, 0.001, "NCHW");
  expect_close(transpose(moved.y, {0, 2, 3, 1}), kTraining);
}

TEST(NormTest, SixteenBitsHaveFloatParameters) {
  const Tensor x = cast(constant(std::span<const float>(kImage), {4, 2}), bfloat16);
  const Tensor scale = constant({1.5F, 0.5F}), offset = constant({0.1F, -0.2F});
  const auto result = nn::batch_norm(x, scale, offset);
  EXPECT_EQ(result.y.dtype(), bfloat16);
  EXPECT_EQ(result.mean.dtype(), float32);
  expect_close(result.y, kTraining, 0.02F);
  expect_close(nn::layer_norm(cast(x, float16), cast(scale, float16), cast(offset, float16)),
               nn::layer_norm(cast(x, float32), scale, offset).to_vector<float>(), 2e-3F);
  GradientTape tape;
  tape.watch(x);
  tape.watch(scale);
  const Tensor loss = reduce_sum(cast(nn::rms_norm(x, scale), float32));
  const Tensor sources[] = {x, scale};
  const auto gradients = tape.gradient(std::span(&loss, 1), sources);
  EXPECT_EQ(gradients[0].dtype(), bfloat16);
  EXPECT_EQ(gradients[1].dtype(), float32);
}

TEST(NormTest, StatisticsKeepTheirDigits) {  // far from zero, a variance of 1
  std::vector<float> values;
  for (int i = 0; i < 4096; ++i) values.push_back(10000.0F + (i % 2 ? 1.0F : -1.0F));
  const Tensor x = constant(std::span<const float>(values), {1024, 4});
  const auto result = nn::batch_norm(x, ones({4}), zeros({4}), 0);
  for (const float v : result.variance.to_vector<float>()) EXPECT_NEAR(v, 0, 1e-6);
  const Tensor y = nn::layer_norm(x, ones({4}), zeros({4}), 0);
  EXPECT_EQ(y.to_vector<float>()[0], -1);
}

TEST(NormTest, CompositionsAgree) {
  const Tensor x = constant(std::span<const float>(kImage), {1, 4, 2});
  const Tensor scale = constant({1.5F, 0.5F}), offset = constant({0.1F, -0.2F});
  // As many groups as channels, in a batch of one, is batch norm.
  expect_close(nn::group_norm(x, scale, offset, 2), kTraining, 1e-5F);
  const Tensor mean = reduce_mean(x, {0, 1}), variance = math::reduce_variance(x, {0, 1});
  expect_close(nn::batch_normalization(x, mean, variance, offset, scale, 0.001), kTraining, 1e-5F);
  const Tensor column = reshape(mean, {1, 1, 2});
  expect_close(nn::batch_normalization(x, column, variance, offset, scale, 0.001), kTraining,
               1e-5F);
  expect_close(math::l2_normalize(constant({3.0F, 4.0F, 0.0F, 0.0F}, {2, 2}), {1}),
               {0.6F, 0.8F, 0, 0});
}

// The gradient of |d loss / d x|^2, against differences of it.
TEST(NormTest, SecondDerivatives) {
  using Fn = Tensor (*)(const Tensor& x, const Tensor& scale, const Tensor& offset);
  const Fn fns[] = {
      [](const Tensor& x, const Tensor& s, const Tensor& o) {
        return nn::batch_norm(x, s, o, 0.01).y;
      },
      [](const Tensor& x, const Tensor& s, const Tensor& o) {
        return nn::layer_norm(x, s, o, 0.01);
      },
      [](const Tensor& x, const Tensor& s, const Tensor&) { return nn::rms_norm(x, s, 0.01); },
  };
  const std::vector<double> start = {0.3, -1.2, 0.8,  2.0, 0.1, -0.4,
                                     1.1, 0.9,  -0.7, 0.2, 1.7, -1.5};
  const Tensor scale = constant({1.5, 0.5, -0.8}), offset = constant({0.1, -0.2, 0.3});
  const Tensor weights = reshape(sin(cast(range(12), float64)), {4, 3});
  const auto penalty = [&](Fn f, const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x, scale, offset);
    return reduce_sum(square(tape.gradient(reduce_sum(y * y * weights), x)));
  };
  for (const Fn f : fns) {
    const Tensor x = constant(std::span<const double>(start), {4, 3});
    GradientTape tape;
    tape.watch(x);
    const auto got = tape.gradient(penalty(f, x), x).to_vector<double>();
    for (std::size_t i = 0; i < start.size(); ++i) {
      double sides[2];
      for (int side = 0; side < 2; ++side) {
        auto moved = start;
        moved[i] += side ? 1e-6 : -1e-6;
        sides[side] = penalty(f, constant(std::span<const double>(moved), {4, 3})).item<double>();
      }
      const double wanted = (sides[1] - sides[0]) / 2e-6;
      EXPECT_NEAR(got[i], wanted, 1e-6 * std::max(1.0, std::abs(wanted))) << i;
    }
  }
}

TEST(NormErrorsTest, SaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 2, 2}), two = ones({2});
  EXPECT_EQ(error_of([&] { nn::fused_batch_norm(x, ones({3}), two); }),
            "scale must have the same number of elements as the channels of x, got 3 and 2 "
            "[Op:FusedBatchNormV3]");
  EXPECT_NE(error_of([&] {
              nn::fused_batch_norm(x, two, two, {}, {}, 0.001, "XX");
            }).find("Value for attr 'data_format' of \"XX\""),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              nn::fused_batch_norm(x, two, two, two, {}, 0.001, "NHWC", false);
            }).find("Both `mean` and `variance` must be a 1D tensor"),
            std::string::npos);
  EXPECT_NE(error_of([&] { nn::layer_norm(x, ones({3}), ones({3})); }).find("[3]"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              nn::rms_norm(constant({1, 2}), two);
            }).find("int32"),
            std::string::npos);
  EXPECT_NE(error_of([&] { nn::group_norm(x, two, two, 3); }).find("3 groups"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll
