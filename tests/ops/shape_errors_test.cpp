// Mistakes in shapes and axes are told in TensorFlow's words.
#include "ops/error_text.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing_ops {
namespace {

const auto x() {
  return ones({2, 3});
}

TEST(ShapeErrorsTest, Reshape) {
  EXPECT_INVALID(reshape(x(), {4, 2}),
                 "Input to reshape is a tensor with 6 values, but the requested shape has 8");
  EXPECT_INVALID(reshape(x(), {-1, 4}),
                 "Input to reshape is a tensor with 6 values, but the requested shape requires a "
                 "multiple of 4");
  EXPECT_INVALID(reshape(x(), {-1, -1}), "Only one input size may be -1, not both 0 and 1");
  EXPECT_INVALID(reshape(x(), {-2, 3}), "Size 0 must be non-negative, not -2");
  EXPECT_INVALID(reshape(x(), {INT64_MAX, INT64_MAX, -1}), "Shape [");
  EXPECT_INVALID(reshape(Tensor(), {1}), "reshape of an empty Tensor");
}

TEST(ShapeErrorsTest, AxesOutOfRange) {
  EXPECT_INVALID(expand_dims(x(), 4), "Tried to expand dim index 4 for tensor with 2 dimensions.");
  EXPECT_INVALID(squeeze(x(), {0}), "Can not squeeze dim[0], expected a dimension of 1, got 2");
  EXPECT_INVALID(squeeze(x(), {3}), "Tried to squeeze dim index 3 for tensor with 2 dimensions.");
  EXPECT_INVALID(reverse(x(), {2}), "'axis'[0] = 2 is out of valid range [");
  EXPECT_INVALID(reverse(x(), {0, 0}), "axis 0 specified more than once.");
  EXPECT_INVALID(roll(x(), 1, 2), "axis 2 is out of range");
  EXPECT_INVALID(roll(x(), {1, 1}, {0}), "shift and axis must have the same size");
  EXPECT_INVALID(repeat(x(), 2, 5), "repeat: axis 5 is out of range");
}

TEST(ShapeErrorsTest, Transpose) {
  EXPECT_INVALID(transpose(x(), {0, 0}), "1 is missing from [0,0]");
  EXPECT_INVALID(transpose(x(), {0}),
                 "transpose expects a vector of size 2. But input(1) is a vector of size 1");
  EXPECT_INVALID(transpose(x(), {0, 2}), "2 is out of range [0 .. 2)");
}

TEST(ShapeErrorsTest, ConcatAndStack) {
  EXPECT_INVALID(concat({x(), ones({2, 2, 1})}, 0),
                 "ConcatOp : Ranks of all input tensors should match: shape[0] = [2,3] vs. "
                 "shape[1] = [2,2,1]");
  EXPECT_INVALID(concat({x(), ones({3, 2})}, 0),
                 "ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. "
                 "shape[1] = [3,2]");
  EXPECT_INVALID(concat({x(), x()}, 2),
                 "ConcatOp : Expected concatenating dimensions in the range [-2, 2), but got 2");
  EXPECT_INVALID(concat({x(), ones({2, 3}, int32)}, 0),
                 "cannot compute Concat as input #1(zero-based) was expected to be a float tensor "
                 "but is a int32 tensor");
  EXPECT_INVALID(concat({}, 0), "Concat takes");
  EXPECT_INVALID(stack({x(), ones({3, 2})}),
                 "Shapes of all inputs must match: values[0].shape = [2,3] != values[1].shape = "
                 "[3,2]");
  EXPECT_INVALID(stack({x(), x()}, 4), "Argument `axis` = 4 not in range [-3, 3)");
}

TEST(ShapeErrorsTest, SplitAndUnstack) {
  EXPECT_INVALID(unstack(x(), {}, 4), "Argument `axis` = 4 not in range [-2, 2)");
  EXPECT_INVALID(unstack(x(), 3), "Input shape axis 0 must equal 3, got shape [2,3]");
  EXPECT_INVALID(split(x(), 2, 1),
                 "Number of ways to split should evenly divide the split dimension, but got "
                 "split_dim 1 (size = 3) and num_split 2");
  EXPECT_INVALID(split(x(), 0, 1), "Value for attr 'num_split' of 0 must be at least minimum 1");
  EXPECT_INVALID(split(x(), 3, 5), "-input rank(-2) <= split_dim < input rank (2), but got 5");
  EXPECT_INVALID(split(x(), {1, 1}, 1),
                 "Determined shape must either match input shape along split_dim exactly if fully "
                 "specified, or be less than the size of the input along split_dim if not fully "
                 "specified.  Got: 2");
  EXPECT_INVALID(split(x(), {-1, -1}, 1), "There can only be one -1 in the input.");
  EXPECT_INVALID(split(x(), {4, -1}, 1), "Determined shape must either match");
  EXPECT_INVALID(split(x(), {-2, 5}, 1), "Split size at index 0 must be >= 0 or -1, got: -2");
}

TEST(ShapeErrorsTest, Slices) {
  EXPECT_INVALID(slice(x(), {0, 1}, {2, 3}), "Expected size[1] in [0, 2], but got 3");
  EXPECT_INVALID(slice(x(), {0, -1}, {2, 1}), "Expected begin[1] in [0, 3], but got -1");
  EXPECT_INVALID(slice(x(), {0}, {2}),
                 "Expected begin and size arguments to be 1-D tensors of size 2, but got shapes "
                 "[1] and [1] instead.");
  EXPECT_INVALID(getitem(x(), {5}), "slice index 5 of dimension 0 out of bounds.");
  EXPECT_INVALID(getitem(x(), {0, 0, 0}),
                 "Index out of range using input dim 2; input has only 2 dims");
  EXPECT_INVALID(getitem(x(), {{{}, {}, 0}}), "strides[0] must be non-zero");
  EXPECT_INVALID(getitem(x(), {ellipsis, ellipsis}), "Multiple ellipses in slice spec not allowed");
  EXPECT_INVALID(strided_slice(x(), {0, 0}, {1}),
                 "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
                 "[2], [1], and [2] instead.");
}

TEST(ShapeErrorsTest, PadAndTile) {
  EXPECT_INVALID(pad(x(), {{1, 1}}),
                 "The first dimension of paddings must be the rank of inputs[1,2] [2,3]");
  EXPECT_INVALID(pad(x(), {{1, -1}, {0, 0}}), "Paddings must be non-negative: 1 -1");
  EXPECT_INVALID(pad(x(), {{INT64_MAX, INT64_MAX}, {0, 0}}), "Paddings are too large");
  EXPECT_INVALID(pad(x(), {{2, 0}, {0, 0}}, "REFLECT"),
                 "paddings must be less than the dimension size: 2, 0 not less than 2");
  EXPECT_INVALID(pad(x(), {{3, 0}, {0, 0}}, "SYMMETRIC"),
                 "paddings must be no greater than the dimension size: 3, 0 greater than 2");
  EXPECT_INVALID(pad(x(), {{1, 0}, {0, 0}}, "FOO"),
                 "Value of argument `mode` expected to be one of \"CONSTANT\", \"REFLECT\", or "
                 "\"SYMMETRIC\". Received `mode` = FOO");
  EXPECT_INVALID(tile(x(), {1}),
                 "Expected multiples argument to be a vector of length 2 but got length 1");
  EXPECT_INVALID(tile(x(), {1, -1}), "Expected multiples[1] >= 0, but got -1");
  EXPECT_INVALID(tile(x(), {1, INT64_MAX}), "multiples[1] = 9223372036854775807 is too large");
  EXPECT_INVALID(repeat(x(), {1, 2, 3}, 0), "Dimensions 2 and 3 are not compatible");
  EXPECT_INVALID(repeat(x(), -1, 0), "repeat: repeats must be >= 0, got -1");
  EXPECT_INVALID(broadcast_to(x(), {3, 3}), "Incompatible shapes: [2,3] vs. [3,3]");
}

TEST(ShapeErrorsTest, Compositions) {
  EXPECT_INVALID(meshgrid({x()}, "zz"),
                 "Argument `indexing` parameter must be either 'xy' or 'ij', got 'zz'");
  EXPECT_INVALID(nn::space_to_depth(ones({1, 3, 2, 1}), 2),
                 "Image width 2 and height 3 should be divisible by block_size: 2");
  EXPECT_INVALID(nn::depth_to_space(ones({1, 1, 1, 3}), 2),
                 "Input depth dimension 3 should be divisible by: 4");
  EXPECT_INVALID(nn::depth_to_space(ones({1, 1, 1, 4}), 1),
                 "Value for attr 'block_size' of 1 must be at least minimum 2");
}

}  // namespace
}  // namespace plimsoll::testing_ops
