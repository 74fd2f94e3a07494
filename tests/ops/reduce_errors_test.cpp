// Mistakes in reductions are told in TensorFlow's words.
#include "ops/error_text.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing_ops {
namespace {

const auto x() {
  return ones({2, 3});
}

TEST(ReduceErrorsTest, Axes) {
  EXPECT_INVALID(reduce_sum(x(), {5}),
                 "Invalid reduction dimension (5 for input with 2 dimension(s)");
  EXPECT_INVALID(reduce_mean(x(), {-3}),
                 "Invalid reduction dimension (-3 for input with 2 dimension(s)");
  EXPECT_INVALID(reduce_max(x(), {0, -2}),
                 "Invalid reduction arguments: Axes contains duplicate dimension: 0");
  EXPECT_INVALID(reduce_logsumexp(x(), {2}), "Invalid reduction dimension (2");
  EXPECT_INVALID(argmax(x(), 2), "Expected dimension in the range [-2, 2), but got 2");
  EXPECT_INVALID(cumsum(x(), 3), "ScanOp: Expected scan axis in the range [-2, 2), but got 3");
  EXPECT_INVALID(math::cumprod(x(), -3),
                 "ScanOp: Expected scan axis in the range [-2, 2), but got -3");
  EXPECT_INVALID(sort(x(), 3), "sort: axis 3 is out of range");
}

TEST(ReduceErrorsTest, Types) {
  EXPECT_INVALID(reduce_any(x()),
                 "cannot compute ReduceAny as input #0(zero-based) was expected to be a bool "
                 "tensor but is a float tensor");
  EXPECT_INVALID(math::reduce_std(constant({1, 2})),
                 "reduce_variance: Input must be either real or complex. Received integer type "
                 "int32.");
  EXPECT_INVALID(argmax(x(), 0, float32), "Value for attr 'output_type' of float is not in the");
  EXPECT_INVALID(sort(x(), -1, "UP"),
                 "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
                 "direction=UP");
}

TEST(ReduceErrorsTest, Sizes) {
  EXPECT_INVALID(argmax(zeros({0, 2}), 0), "Reduction axis 0 is empty in shape [0,2]");
  EXPECT_INVALID(math::top_k(x(), 5), "input must have at least k columns. Had 3, needed 5");
  EXPECT_INVALID(math::top_k(x(), -1), "Need k >= 0, got -1");
  EXPECT_INVALID(math::top_k(ones({}), 1), "input must be >= 1-D, got shape []");
}

TEST(CreateErrorsTest, Ranges) {
  EXPECT_INVALID(range(0, 10, 0), "Requires delta != 0: 0");
  EXPECT_INVALID(range(5, 1), "Requires start <= limit when delta > 0: 5/1");
  EXPECT_INVALID(range(0.0, 1.0, -0.1), "Requires start >= limit when delta < 0: 0/1");
  EXPECT_INVALID(range(0.0, 1.0, 0.1, int32), "range from 0 by 0.1 needs a floating point type");
  EXPECT_INVALID(range(INT64_MIN, INT64_MAX, 1, int64), "Requires ((limit - start) / delta)");
  EXPECT_INVALID(linspace(0, 1, -1), "Dimension -1 must be >= 0");
  EXPECT_INVALID(eye(-1), "Dimension -1 must be >= 0");
  EXPECT_INVALID(one_hot(constant({0}), -1), "depth must be non-negative, got: -1");
  EXPECT_INVALID(one_hot(constant({0}), 3, 1, 0, 4),
                 "Expected axis to be -1 or between [0, 2).  But received: 4");
  EXPECT_INVALID(one_hot(ones({1}), 3), "Value for attr 'TI' of float is not in the list");
}

}  // namespace
}  // namespace plimsoll::testing_ops
