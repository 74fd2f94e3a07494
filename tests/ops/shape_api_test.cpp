// Functions of the shape and gather families that are made of several ops.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

Tensor counted(const Shape& shape) {
  return reshape(range(0.0, static_cast<double>(shape.num_elements())), shape.dims());
}
Floats floats(const Tensor& t) {
  return t.to_vector<float>();
}

TEST(ShapeApiTest, ViewsShareTheBuffer) {
  const Tensor x = counted({2, 3});
  for (const Tensor& view : {reshape(x, {3, -1}), expand_dims(x, -1), squeeze(expand_dims(x, 0)),
                             getitem(x, {newaxis, ellipsis}), stop_gradient(x)}) {
    EXPECT_EQ(view.impl()->buffer.get(), x.impl()->buffer.get());
  }
  EXPECT_EQ(expand_dims(x, -1).shape(), Shape({2, 3, 1}));
  EXPECT_EQ(getitem(x, {newaxis, ellipsis}).shape(), Shape({1, 2, 3}));
  EXPECT_EQ(squeeze(ones({1, 2, 1}), {-1}).shape(), Shape({1, 2}));
}

TEST(ShapeApiTest, GetitemReadsAsPython) {
  const Tensor x = counted({3, 4});
  EXPECT_EQ(floats(getitem(x, {1})), Floats({4, 5, 6, 7}));
  EXPECT_EQ(floats(getitem(x, {-1, -1})), Floats({11}));
  EXPECT_EQ(floats(getitem(x, {{}, {1, 3}})), Floats({1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(floats(getitem(x, {{{}, {}, -2}, 0})), Floats({8, 0}));
  EXPECT_EQ(floats(getitem(x, {ellipsis, {-2, {}}})), Floats({2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(getitem(x, {{2, 1}}).shape(), Shape({0, 4}));
  EXPECT_EQ(getitem(x, {{{}, 1}, newaxis, {{}, {}, 3}}).shape(), Shape({1, 1, 2}));
  EXPECT_EQ(floats(slice(x, {1, 2}, {-1, 1})), Floats({6, 10}));
}

TEST(ShapeApiTest, SplitTakesAnyNumberOfSizes) {
  const Tensor x = counted({40});
  std::vector<std::int64_t> sizes(20, 1);
  sizes.push_back(-1);
  const auto parts = split(x, sizes);
  ASSERT_EQ(parts.size(), 21U);
  EXPECT_EQ(floats(parts[19]), Floats({19}));
  EXPECT_EQ(parts[20].shape(), Shape({20}));
  EXPECT_EQ(floats(concat(parts, 0)), floats(x));
  EXPECT_EQ(floats(stack(unstack(counted({2, 3}), {}, 1), 1)), floats(counted({2, 3})));
  EXPECT_TRUE(unstack(zeros({0, 2})).empty());
}

TEST(ShapeApiTest, RepeatMeshgridAndMasks) {
  EXPECT_EQ(floats(repeat(counted({2, 2}), {1, 2}, 0)), Floats({0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(floats(repeat(counted({2}), 3)), Floats({0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(floats(repeat(ones({1, 1, 1, 1, 1, 1, 1, 2}), 2, -1)), Floats(4, 1));
  const auto grid = meshgrid({counted({2}), counted({3})});
  EXPECT_EQ(grid[0].shape(), Shape({3, 2}));
  EXPECT_EQ(floats(grid[1]), Floats({0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(sequence_mask(constant({1, 3})).to_vector<bool>(),
            std::vector<bool>({true, false, false, true, true, true}));
  EXPECT_EQ(sequence_mask(zeros({0}, int32)).shape(), Shape({0, 0}));
}

TEST(ShapeApiTest, SpaceToDepthAndBack) {
  const Tensor x = counted({1, 4, 2, 3});
  const Tensor deep = nn::space_to_depth(x, 2);
  EXPECT_EQ(deep.shape(), Shape({1, 2, 1, 12}));
  EXPECT_EQ(floats(nn::depth_to_space(deep, 2)), floats(x));
  const Tensor channels_first = transpose(x, {0, 3, 1, 2});
  const Tensor deep_first = nn::space_to_depth(channels_first, 2, "NCHW");
  EXPECT_EQ(deep_first.shape(), Shape({1, 12, 2, 1}));
  EXPECT_EQ(floats(transpose(deep_first, {0, 2, 3, 1})), floats(deep));
  EXPECT_EQ(floats(nn::depth_to_space(deep_first, 2, "NCHW")), floats(channels_first));
}

// A gradient goes back to where its element came from.
TEST(ShapeApiTest, SortAlongAnAxisHasAGradient) {
  const Tensor x = constant({3.0F, 1.0F, 2.0F, 4.0F, 1.0F, 9.0F}, {3, 2});
  GradientTape tape;
  tape.watch(x);
  const Tensor sorted = sort(x, 0, "DESCENDING");
  EXPECT_EQ(floats(sorted), Floats({3, 9, 2, 4, 1, 1}));
  EXPECT_EQ(argsort(x, 0).to_vector<std::int32_t>(), Ints({2, 0, 1, 1, 0, 2}));
  EXPECT_EQ(floats(tape.gradient(reduce_sum(sorted * counted({3, 2})), x)),
            Floats({0, 5, 2, 3, 4, 1}));
}

TEST(ShapeApiTest, GatherNdWithBatches) {
  const Tensor x = counted({2, 3});
  EXPECT_EQ(floats(gather_nd(x, constant({2, 0}, {2, 1}), 1)), Floats({2, 3}));
  EXPECT_EQ(floats(gather(x, constant({2, 0, 1, 1}, {2, 2}), {}, 1)), Floats({2, 0, 4, 4}));
}

TEST(ShapeApiTest, WhereAndBooleanMask) {
  const Tensor x = counted({2, 3});
  const Tensor odd = constant({false, true, false, true, false, true}, {2, 3});
  EXPECT_EQ(where(odd).to_vector<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(where(x).shape(), Shape({5, 2}));  // what is not zero
  EXPECT_EQ(floats(boolean_mask(x, odd)), Floats({1, 3, 5}));
  EXPECT_EQ(floats(boolean_mask(x, constant({false, true}))), Floats({3, 4, 5}));
  const Tensor columns = boolean_mask(x, constant({true, false, true}), 1);
  EXPECT_EQ(columns.shape(), Shape({2, 2}));
  EXPECT_EQ(floats(columns), Floats({0, 2, 3, 5}));
  EXPECT_EQ(floats(boolean_mask(x, constant({true, false, true}), -1)), floats(columns));
  EXPECT_EQ(boolean_mask(x, zeros({2}, bool_)).shape(), Shape({0, 3}));
  EXPECT_EQ(boolean_mask(zeros({0, 4}), zeros({0}, bool_)).shape(), Shape({0, 4}));
}

TEST(ShapeApiTest, GradientThroughAMask) {
  const Tensor x = counted({2, 3});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(square(boolean_mask(x, greater(x, constant(2.5F)))));
  EXPECT_EQ(floats(tape.gradient(y, x)), Floats({0, 0, 0, 6, 8, 10}));
}

TEST(ShapeApiTest, StringsStandOnTheHost) {
  const Tensor names = constant({std::string("a"), std::string("bc")}, {2, 1});
  EXPECT_EQ(names.dtype(), string);
  EXPECT_EQ(reshape(names, {2}).to_vector<std::string>(), std::vector<std::string>({"a", "bc"}));
  EXPECT_EQ(constant(std::string("x")).item<std::string>(), "x");
  EXPECT_EQ(fill({3}, std::string("y")).to_vector<std::string>()[2], "y");
  EXPECT_EQ(transpose(names).shape(), Shape({1, 2}));
  EXPECT_THROW(reduce_max(names), UnimplementedError);
}

TEST(ShapeApiTest, ShapesAsTensors) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(shape(x).to_vector<std::int32_t>(), Ints({2, 3}));
  EXPECT_EQ(size(x, int64).item<std::int64_t>(), 6);
  EXPECT_EQ(rank(x).item<std::int32_t>(), 2);
  EXPECT_EQ(range(3, 0, -2).to_vector<std::int32_t>(), Ints({3, 1}));
  EXPECT_EQ(range(std::int64_t{5}, 5, 1).num_elements(), 0);
}

TEST(ReduceApiTest, LogSumExpOfInfinities) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = constant<double>({-inf, -inf, 1000, 1000}, {2, 2});
  const auto y = reduce_logsumexp(x, {1}).to_vector<double>();
  EXPECT_EQ(y[0], -inf);
  EXPECT_NEAR(y[1], 1000.6931471805599, 1e-9);
}

TEST(ReduceApiTest, SortPutsNansLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = constant<float>({2, nan, 3, 1});
  EXPECT_EQ(argsort(x).to_vector<std::int32_t>(), Ints({3, 0, 2, 1}));
  EXPECT_EQ(argsort(x, -1, "DESCENDING").to_vector<std::int32_t>(), Ints({2, 0, 3, 1}));
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 2);
  EXPECT_TRUE(std::isnan(reduce_max(x).item<float>()));
  EXPECT_EQ(floats(sort(constant<float>({3, 1, 2, 4}, {2, 2}), 0)), Floats({2, 1, 3, 4}));
}

TEST(ReduceApiTest, SmallTypesSumWide) {
  EXPECT_EQ(static_cast<float>(reduce_mean(fill({100000}, 1, float16)).item<Half>()), 1.0F);
  EXPECT_EQ(static_cast<float>(reduce_sum(fill({4096}, 0.5, bfloat16)).item<BFloat16>()), 2048.0F);
  EXPECT_EQ(reduce_mean(fill({300}, 100, int8)).item<std::int8_t>(), 100);
  EXPECT_EQ(reduce_sum(fill({3}, 100, int8)).item<std::int8_t>(), 127);  // its limit
}

TEST(ReduceApiTest, TiesShareTheGradient) {
  const Tensor x = constant<float>({1, 3, 3});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_max(x);
  EXPECT_EQ(floats(tape.gradient(y, x)), Floats({0, 0.5, 0.5}));
}

TEST(ReduceApiTest, MomentsOfHalvesAreComputedInFloat) {
  const auto m = nn::moments(fill({1000}, 256, float16), {0});
  EXPECT_EQ(static_cast<float>(m.mean.item<Half>()), 256.0F);
  EXPECT_EQ(static_cast<float>(m.variance.item<Half>()), 0.0F);
}

}  // namespace
}  // namespace plimsoll
