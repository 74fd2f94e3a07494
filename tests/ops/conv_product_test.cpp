// Filter gradients of deep 1x1 convolutions are one product of matrices.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

Tensor wave(const Shape& shape, double step) {
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  return constant<float>(values, shape);
}

TEST(ProductConvTest, GradientIsThatOfTheMatmul) {
  const Tensor x = wave({2, 3, 3, 512}, 0.7), w = wave({1, 1, 512, 520}, 0.3);
  const auto gradient = [&](auto&& f, const Tensor& source) {
    GradientTape tape;
    tape.watch(source);
    const Tensor y = f();
    return tape.gradient(tf::reduce_sum(tf::reshape(y * y, {-1})), source)
        .template to_vector<float>();
  };
  const Tensor flat = tf::reshape(w, {512, 520});
  const auto by_conv = gradient([&] { return tf::nn::conv2d(x, w, {1}, "VALID"); }, w);
  const auto by_matmul = gradient(
      [&] {
        return tf::matmul(tf::reshape(x, {18, 512}), flat);
      },
      flat);
  ASSERT_EQ(by_conv.size(), by_matmul.size());
  for (std::size_t i = 0; i < by_conv.size(); ++i)
    ASSERT_NEAR(by_conv[i], by_matmul[i], 1e-3 * (1 + std::abs(by_matmul[i]))) << i;
}

}  // namespace
}  // namespace plimsoll
