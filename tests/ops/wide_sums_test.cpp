// Sums of narrow types are kept wide and rounded once, wherever there are sums.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kMany = 70000;

double first(const Tensor& t) {
  return cast(getitem(reshape(t, {-1}), {0}), float64).to_vector<double>()[0];
}
double last(const Tensor& t) {
  return cast(getitem(reshape(t, {-1}), {-1}), float64).to_vector<double>()[0];
}
Tensor many(DType dtype, double value = 1) {
  return fill({kMany}, value, dtype);
}

// In float16 a running sum stops at 2048, in bfloat16 at 256.
TEST(WideSumsTest, MeansOfManyOnesAreOne) {
  for (const DType dtype : {float16, bfloat16, int8, uint8, int16, uint16}) {
    EXPECT_EQ(first(reduce_mean(many(dtype))), 1) << dtype_name(dtype);
    EXPECT_EQ(first(reduce_mean(fill({300, 700}, 1, dtype), {0})), 1) << dtype_name(dtype);
    EXPECT_EQ(first(reduce_mean(fill({300, 700}, 1, dtype), {1})), 1) << dtype_name(dtype);
  }
  EXPECT_EQ(first(reduce_mean(many(int8, 100))), 100);
  EXPECT_EQ(first(reduce_mean(many(int8, -100))), -100);
}

TEST(WideSumsTest, SumsAreRoundedOnce) {
  EXPECT_EQ(first(reduce_sum(many(float16))), INFINITY);    // 70,000 is more than float16 has
  EXPECT_EQ(first(reduce_sum(many(float16, 0.5))), 35008);  // the nearest to 35,000
  EXPECT_EQ(first(reduce_sum(many(bfloat16))), 70144);
  EXPECT_EQ(first(reduce_prod(concat({fill({40}, 2, float16), fill({40}, 0.5, float16)}, 0))), 1);
}

TEST(WideSumsTest, SmallIntegersStopAtTheirLimits) {
  EXPECT_EQ(first(reduce_sum(many(int8))), 127);
  EXPECT_EQ(first(reduce_sum(many(int8, -1))), -128);
  EXPECT_EQ(first(reduce_sum(many(uint8))), 255);
  EXPECT_EQ(first(reduce_sum(many(int16))), 32767);
  EXPECT_EQ(first(reduce_sum(many(uint16))), 65535);
  EXPECT_EQ(first(reduce_sum(many(int32))), kMany);
  // What is between does not matter.
  const Tensor up_and_down = concat({many(int8), many(int8, -1), fill({5}, 1, int8)}, 0);
  EXPECT_EQ(first(reduce_sum(up_and_down)), 5);
  EXPECT_EQ(last(cumsum(many(int8))), 127);
  EXPECT_EQ(last(cumsum(up_and_down)), 5);
}

TEST(WideSumsTest, RunningAndSegmentSums) {
  for (const DType dtype : {float16, bfloat16}) {
    EXPECT_NEAR(last(cumsum(many(dtype, 0.25))), 17500, dtype == float16 ? 8 : 64);
    const Tensor ids = zeros({kMany}, int32);
    EXPECT_NEAR(first(math::unsorted_segment_sum(many(dtype, 0.25), ids, 1)), 17500,
                dtype == float16 ? 8 : 64);
  }
  const Tensor ids = zeros({kMany}, int32);
  EXPECT_EQ(first(math::unsorted_segment_sum(many(int8), ids, 1)), 127);
  EXPECT_EQ(first(math::segment_sum(many(int16, -1), ids)), -32768);
}

TEST(WideSumsTest, ProductsPoolsNormsAndGradients) {
  for (const DType dtype : {float16, bfloat16}) {
    const double tolerance = dtype == float16 ? 8 : 64;
    const Tensor row = fill({1, kMany}, 0.5, dtype), column = fill({kMany, 1}, 0.5, dtype);
    EXPECT_NEAR(first(matmul(row, column)), 17500, tolerance);
    const Tensor image = fill({1, 200, 200, 1}, 1, dtype);
    EXPECT_EQ(first(nn::avg_pool2d(image, 200, 200, "VALID")), 1);
    const Tensor scale = fill({kMany}, 1, float32);
    EXPECT_NEAR(first(nn::rms_norm(row, scale, 0.0)), 1, 1e-2);
    // The gradient of a bias is a sum over rows.
    const Tensor x = fill({kMany, 2}, 1, dtype), bias = fill({2}, 0, dtype);
    GradientTape tape;
    tape.watch(bias);
    const Tensor y = nn::bias_add(x, bias) * 0.25;
    EXPECT_NEAR(first(tape.gradient(y, bias)), 17500, tolerance);
  }
}

}  // namespace
}  // namespace plimsoll
