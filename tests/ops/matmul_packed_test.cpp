// Large right sides are packed before the product; the numbers are those of smaller products.
#include <gtest/gtest.h>

#include <cmath>

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

TEST(PackedMatMulTest, IsTheProduct) {
  for (const bool transposed : {false, true}) {
    const Tensor a = wave({600, 1500}, 0.7);
    const Tensor b = wave(transposed ? Shape{1401, 1500} : Shape{1500, 1401}, 0.3);
    const MatMulOptions options{.transpose_b = transposed};
    const auto all = tf::matmul(a, b, options).to_vector<float>();
    for (const std::int64_t first : {0, 300}) {
      const auto part =
          tf::matmul(tf::slice(a, {first, 0}, {300, 1500}), b, options).to_vector<float>();
      const float* const rows = all.data() + first * 1401;
      for (std::size_t i = 0; i < part.size(); ++i) ASSERT_NEAR(rows[i], part[i], 1e-3) << i;
    }
  }
}

}  // namespace
}  // namespace plimsoll
