// Large right sides are packed before the product; the numbers are those of smaller products.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/wave.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

TEST(PackedMatMulTest, IsTheProduct) {
  for (const bool transposed : {false, true}) {
    const Tensor a = wave({600, 1500}, 0.7, 1);
    const Tensor b = wave(transposed ? Shape{1401, 1500} : Shape{1500, 1401}, 0.3, 1);
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
