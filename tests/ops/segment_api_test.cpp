// Functions of the segment, search, image and scatter families that are made of several ops, and
// what they say about mistakes.
#include <cmath>

#include "ops/error_text.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing_ops {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

Tensor rows() {
  return constant({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, {3, 2});
}

TEST(SegmentApiTest, SortedSegmentsAreAsManyAsTheLastIdSays) {
  const Tensor ids = constant({0, 0, 2});
  EXPECT_EQ(math::segment_sum(rows(), ids).to_vector<float>(), Floats({4, 6, 0, 0, 5, 6}));
  EXPECT_EQ(math::segment_mean(rows(), ids).to_vector<float>(), Floats({2, 3, 0, 0, 5, 6}));
  EXPECT_EQ(math::segment_max(rows(), ids).to_vector<float>(), Floats({3, 4, 0, 0, 5, 6}));
  EXPECT_EQ(math::segment_min(rows(), ids).to_vector<float>(), Floats({1, 2, 0, 0, 5, 6}));
  EXPECT_EQ(math::segment_prod(rows(), ids).to_vector<float>(), Floats({3, 8, 1, 1, 5, 6}));
  EXPECT_EQ(math::segment_sum(zeros({0, 2}), zeros({0}, int32)).shape(), Shape({0, 2}));
}

TEST(SegmentApiTest, MeansOfIntegersAndOf16Bits) {
  const Tensor ids = zeros({200}, int32);
  EXPECT_EQ(math::segment_mean(fill({200}, 100, int8), ids).to_vector<std::int8_t>()[0], 100);
  EXPECT_EQ(math::unsorted_segment_mean(constant({1, 2}), zeros({2}, int32), 1).item<double>(),
            1.5);
  const Tensor mean = math::unsorted_segment_mean(fill({200}, 1000, float16), ids, 1);
  EXPECT_EQ(static_cast<float>(mean.item<Half>()), 1000.0F);  // their sum is above float16's
  EXPECT_EQ(math::unsorted_segment_sqrt_n(ones({4}), zeros({4}, int32), 1).item<float>(), 2.0F);
}

TEST(SegmentApiTest, Bincount) {
  const Tensor x = constant({1, 3, 1, 0});
  EXPECT_EQ(math::bincount(x).to_vector<std::int32_t>(), Ints({1, 2, 0, 1}));
  EXPECT_EQ(math::bincount(x, {.minlength = 6}).to_vector<std::int32_t>(),
            Ints({1, 2, 0, 1, 0, 0}));
  EXPECT_EQ(math::bincount(x, {.maxlength = 2}).to_vector<std::int32_t>(), Ints({1, 2}));
  EXPECT_EQ(math::bincount(x, {.weights = constant({0.5F, 1.0F, 2.0F, 4.0F})}).to_vector<float>(),
            Floats({4, 2.5, 0, 1}));
  EXPECT_EQ(math::bincount(reshape(x, {2, 2}), {.axis = -1}).to_vector<std::int32_t>(),
            Ints({0, 1, 0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(
      math::bincount(cast(x, uint8), {.dtype = float32, .binary_output = true}).to_vector<float>(),
      Floats({1, 1, 0, 1}));
  EXPECT_EQ(math::bincount(zeros({0}, int32)).shape(), Shape({0}));
}

// What a plan cannot know is an error that says what to use; what it can, is traced.
TEST(SegmentApiTest, ShapesByValueInFunctions) {
  const Tensor ids = constant({0, 0, 2});
  const auto said = [&](auto body) {
    auto f = function([&](std::span<const Tensor> in) { return std::vector{body(in[0])}; });
    try {
      f(std::span<const Tensor>(&ids, 1));
    } catch (const FailedPreconditionError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const std::string begin = "the shape of what ";
  EXPECT_EQ(said([](const Tensor& x) {
              return math::segment_sum(rows(), x);
            }).find(begin + "segment_sum"),
            0U);
  EXPECT_NE(said([](const Tensor& x) { return math::segment_max(rows(), x); }).find("num_segments"),
            std::string::npos);
  EXPECT_NE(said([](const Tensor& x) { return math::bincount(x); }).find("minlength and maxlength"),
            std::string::npos);
  EXPECT_NE(said([](const Tensor& x) { return sequence_mask(x); }).find("maxlen"),
            std::string::npos);
  EXPECT_EQ(said([](const Tensor& x) { return repeat(x, x); }).find(begin + "repeat"), 0U);
  EXPECT_EQ(said([](const Tensor& x) { return where(x); }).find(begin + "where"), 0U);
  EXPECT_EQ(said([](const Tensor& x) {
              return boolean_mask(x, equal(x, x));
            }).find(begin + "boolean_mask"),
            0U);
  EXPECT_EQ(said([](const Tensor& x) { return math::unsorted_segment_sum(rows(), x, 3); }),
            "no error");
  EXPECT_EQ(
      said([](const Tensor& x) { return math::bincount(x, {.minlength = 4, .maxlength = 4}); }),
      "no error");
}

TEST(SegmentApiTest, IdsThatAreWrong) {
  EXPECT_INVALID(math::segment_sum(rows(), constant({0, 2, 1})),
                 "segment ids are not increasing: segment_ids[2] = 1 after 2");
  EXPECT_INVALID(math::segment_sum(rows(), constant({-1, 0, 1})),
                 "segment ids must be >= 0, got segment_ids[0] = -1");
  EXPECT_INVALID(math::segment_sum(rows(), constant({0, 1})),
                 "segment_ids should be the same size as dimension 0 of input, got 2 for input of "
                 "shape [3,2]");
  EXPECT_INVALID(math::segment_sum(rows(), constant({0, 1}, {2, 1})),
                 "segment_ids should be a vector, got shape [2,1]");
  EXPECT_INVALID(math::unsorted_segment_sum(rows(), constant({0, 5, 1}), 3),
                 "segment_ids[1] = 5 is out of range [0, 3)");
  EXPECT_INVALID(math::unsorted_segment_max(rows(), constant({0, 0, 0, 1, 9, 0}, {3, 2}), 3),
                 "segment_ids[2,0] = 9 is out of range [0, 3)");
  EXPECT_INVALID(math::unsorted_segment_sum(rows(), constant({0, 1}), 3),
                 "data.shape = [3,2] does not start with segment_ids.shape = [2]");
  EXPECT_INVALID(math::unsorted_segment_sum(rows(), constant({0, 1, 1}), -1),
                 "Input num_segments == -1 must not be negative.");
  EXPECT_INVALID(math::unsorted_segment_sum(rows(), ones({3}), 3),
                 "Value for attr 'Tindices' of float is not in the list of allowed values");
  EXPECT_INVALID(math::unsorted_segment_sqrt_n(ones({2}, int32), constant({0, 1}), 3),
                 "SegmentSum divides by a root in floating point, not in int32");
  EXPECT_INVALID(math::bincount(constant({1, -2})),
                 "Input arr must be non-negative! Got arr[1] = -2");
  EXPECT_INVALID(math::bincount(ones({2})), "bincount needs integers, got float");
  EXPECT_INVALID(math::bincount(constant({1, 2}), {.weights = ones({3})}),
                 "weights must have the shape of arr and the type of the result: got [3] of float "
                 "for [2] of float");
  EXPECT_INVALID(math::bincount(constant({1}), {.axis = 1}),
                 "Unsupported value for argument axis=1.");
}

TEST(SearchApiTest, SidesAndMistakes) {
  const Tensor sorted = constant({1, 3, 3, 5});
  EXPECT_EQ(searchsorted(sorted, constant({3, 6})).to_vector<std::int32_t>(), Ints({1, 4}));
  EXPECT_EQ(searchsorted(sorted, constant({3, 0}), "right").to_vector<std::int32_t>(),
            Ints({3, 0}));
  EXPECT_INVALID(searchsorted(sorted, constant({3}), "middle"),
                 "Argument `side` must be either 'right' or 'left'. Received: side=middle.");
  EXPECT_INVALID(searchsorted(ones({2, 3}), ones({3, 3})),
                 "Leading dim_size of both tensors must match: sorted_sequence has shape [2,3], "
                 "values [3,3]");
  EXPECT_INVALID(searchsorted(ones({3}), ones({3}, int32)),
                 "cannot compute SearchSorted as input #1");
  EXPECT_INVALID(searchsorted(sorted, sorted, "left", float32),
                 "Value for attr 'out_type' of float");
  EXPECT_EQ(math::in_top_k(constant({1, 0}), constant({0.1F, 0.9F, 0.1F, 0.9F}, {2, 2}), 1)
                .to_vector<bool>(),
            std::vector<bool>({true, false}));
  EXPECT_INVALID(math::in_top_k(constant({1}), ones({2, 2}), 1),
                 "First dimension of predictions 2 must match length of targets 1");
  EXPECT_INVALID(math::in_top_k(constant({1}), ones({2}), 1),
                 "predictions must be 2-dimensional, got shape [2]");
}

TEST(ImageApiTest, ResizeKeepsWhatItShould) {
  const Tensor image = reshape(range(0.0, 12.0), {2, 2, 3});
  EXPECT_EQ(image::resize(image, {4, 6}).shape(), Shape({4, 6, 3}));
  EXPECT_EQ(image::resize(cast(image, uint8), {4, 6}).dtype(), float32);
  EXPECT_EQ(image::resize(cast(image, float64), {4, 6}).dtype(), float32);
  EXPECT_EQ(image::resize(cast(image, uint8), {4, 6}, "nearest").dtype(), uint8);
  EXPECT_EQ(image::resize(cast(image, uint8), {2, 2}).to_vector<float>(), image.to_vector<float>());
  EXPECT_EQ(image::resize(ones({1, 10, 20, 1}), {5, 5}, "area", true).shape(), Shape({1, 2, 5, 1}));
  EXPECT_INVALID(image::resize(image, {4, 6}, "magic"),
                 "Resize method is not implemented: 'magic'");
  EXPECT_INVALID(image::resize(image, {0, 6}), "output dimensions must be positive, got 0 and 6");
  EXPECT_INVALID(image::resize(ones({2}), {4, 6}),
                 "'images' must have either 3 or 4 dimensions, got shape [2]");
  EXPECT_INVALID(image::resize(ones({1, 0, 2, 1}), {4, 6}), "input image must be of non-zero size");
}

TEST(ScatterApiTest, ExtremesAndMistakes) {
  const Tensor x = constant({1.0F, 5.0F, 3.0F});
  const Tensor at = constant({1, 0, 1}, {3, 1});
  const Tensor updates = constant({2.0F, 4.0F, 9.0F});
  EXPECT_EQ(tensor_scatter_nd_max(x, at, updates).to_vector<float>(), Floats({4, 9, 3}));
  EXPECT_EQ(tensor_scatter_nd_min(x, at, updates).to_vector<float>(), Floats({1, 2, 3}));
  EXPECT_INVALID(tensor_scatter_nd_max(x, constant({3}, {1, 1}), ones({1})),
                 "indices[0] = [3] does not index into shape [3]");
}

// Equal ones share their gradient, as in TensorFlow.
TEST(ScatterApiTest, EqualOnesShareTheirGradient) {
  const Tensor x = constant({1.0F, 5.0F});
  const Tensor updates = constant({5.0F, 5.0F, 0.0F});
  GradientTape tape;
  tape.watch(x);
  tape.watch(updates);
  const Tensor y = tensor_scatter_nd_max(x, constant({1, 1, 0}, {3, 1}), updates);
  const Tensor target = reduce_sum(y);
  const Tensor sources[] = {x, updates};
  const auto gradients = tape.gradient(std::span(&target, 1), sources);
  EXPECT_EQ(gradients[0].to_vector<float>(), Floats({1, 1.0F / 3}));
  EXPECT_EQ(gradients[1].to_vector<float>(), Floats({1.0F / 3, 1.0F / 3, 0}));
}

// Numbers of TensorFlow's kernel and of its gradient.
TEST(LocalResponseNormalizationTest, IsTensorFlows) {
  const Tensor x = reshape(range(-5.0, 7.0), {1, 1, 2, 6});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::local_response_normalization(x, 2, 0.5, 0.1, 0.75);
  const Tensor weighted = reduce_sum(y * reshape(range(0.0, 12.0), {1, 1, 2, 6}));
  const auto expect_near = [](const Tensor& got, const Floats& wanted) {
    const Floats values = got.to_vector<float>();
    ASSERT_EQ(values.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 4e-6) << i;
  };
  expect_near(y, {-1.39218819F, -1.05662525F, -0.78254223F, -0.78158993F, -0.61792362F, 0,
                  0.61792362F, 0.78158993F, 0.78254223F, 0.73920912F, 0.95430887F, 1.23820019F});
  expect_near(tape.gradient(weighted, x),
              {-0.32995233F, -0.40176612F, -0.56314826F, 0.44915617F, 2.13694358F, 5.0F,
               3.02385569F, 1.15810168F, -0.75132644F, -1.9467181F, -1.4314208F, -0.79896164F});
  expect_near(nn::local_response_normalization(x),
              {-0.66815311F, -0.53452247F, -0.40089184F, -0.26726124F, -0.13363062F, 0, 0.1042572F,
               0.20851439F, 0.31277162F, 0.41702881F, 0.52128601F, 0.62554324F});
  const Tensor half = nn::local_response_normalization(fill({1, 1, 1, 4}, 1000, float16));
  EXPECT_NEAR(static_cast<float>(half.to_vector<Half>()[0]), 0.5F, 1e-3F);
  EXPECT_INVALID(nn::local_response_normalization(ones({2})),
                 "local_response_normalization needs floating point input of rank 4, got float of "
                 "shape [2]");
  EXPECT_INVALID(nn::local_response_normalization(x, -1), "WindowSum needs a radius >= 0, got -1");
}

TEST(RepeatTest, ByTensors) {
  const Tensor x = constant({1.0F, 2.0F});
  EXPECT_EQ(repeat(x, constant({2, 1})).to_vector<float>(), Floats({1, 1, 2}));
  EXPECT_EQ(repeat(x, constant(2)).to_vector<float>(), Floats({1, 1, 2, 2}));
  EXPECT_INVALID(repeat(x, x),
                 "repeat needs repeats that are a scalar or a vector of integers, got "
                 "float of shape [2]");
  EXPECT_INVALID(repeat(x, constant({1, -1})), "repeat: repeats[1] must be >= 0, got -1");
}

}  // namespace
}  // namespace plimsoll::testing_ops
