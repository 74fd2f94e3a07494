// Convolutions and pools in one and three dimensions, and those that are made of others.
#include <gtest/gtest.h>

#include "ops/differences.h"
#include "ops/error_text.h"

namespace plimsoll::testing_ops {
namespace {

using Values = std::vector<float>;

TEST(Conv1dTest, MatchesItsDefinition) {
  const Tensor x = constant({1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, {1, 5, 1});
  const Tensor k = constant({1.0F, 10.0F, 100.0F}, {3, 1, 1});
  EXPECT_EQ(nn::conv1d(x, k, 1, "VALID").to_vector<float>(), (Values{321, 432, 543}));
  EXPECT_EQ(nn::conv1d(x, k, 1, "SAME").to_vector<float>(), (Values{210, 321, 432, 543, 54}));
  EXPECT_EQ(nn::conv1d(x, k, 2, "SAME").to_vector<float>(), (Values{210, 432, 54}));
  EXPECT_EQ(nn::conv1d(x, k, 1, "CAUSAL").to_vector<float>(), (Values{100, 210, 321, 432, 543}));
  EXPECT_EQ(nn::conv1d(x, k, 1, "CAUSAL", "NWC", 2).to_vector<float>(),
            (Values{100, 200, 310, 420, 531}));
  EXPECT_EQ(nn::conv1d(x, k, {1, 2, 1}, {{0, 0}, {1, 0}, {0, 0}}).to_vector<float>(),
            (Values{210, 432}));
  const Tensor first = nn::conv1d(reshape(x, {1, 1, 5}), k, 1, "CAUSAL", "NCW");
  EXPECT_EQ(first.shape(), (Shape{1, 1, 5}));
  EXPECT_EQ(first.to_vector<float>(), (Values{100, 210, 321, 432, 543}));
}

TEST(Conv1dTest, TransposeIsTheGradient) {
  const Tensor y = constant({1.0F, 2.0F}, {1, 2, 1});
  const Tensor k = constant({1.0F, 10.0F, 100.0F}, {3, 1, 1});
  EXPECT_EQ(nn::conv1d_transpose(y, k, {1, 5, 1}, 2, "VALID").to_vector<float>(),
            (Values{1, 10, 102, 20, 200}));
  EXPECT_EQ(nn::conv1d_transpose(reshape(y, {1, 1, 2}), k, {1, 1, 5}, 2, "VALID", "NCW").shape(),
            (Shape{1, 1, 5}));
}

TEST(Conv1dTest, Gradients) {
  const std::vector<HostTensor> in{numbers({2, 7, 3}), numbers({3, 3, 2}, 2)};
  expect_gradients([](const auto& t) { return nn::conv1d(t[0], t[1], 2, "SAME"); }, in);
  expect_gradients([](const auto& t) { return nn::conv1d(t[0], t[1], 1, "CAUSAL", "NWC", 2); }, in);
  expect_gradients(
      [](const auto& t) {
        return nn::conv1d_transpose(t[0], t[1], {2, 14, 3}, 2);
      },
      {numbers({2, 7, 2}), numbers({3, 3, 2}, 2)});
}

TEST(PoolTest, RankChoosesTheDimensions) {
  const Tensor x = constant({1.0F, 5.0F, 2.0F, 4.0F}, {1, 4, 1});
  EXPECT_EQ(nn::max_pool(x, 2, 2, "VALID").to_vector<float>(), (Values{5, 4}));
  EXPECT_EQ(nn::avg_pool(x, 2, 2, "VALID").to_vector<float>(), (Values{3, 3}));
  EXPECT_EQ(nn::max_pool(reshape(x, {1, 2, 2, 1}), 2, 2, "VALID").to_vector<float>(), (Values{5}));
  EXPECT_EQ(nn::avg_pool(reshape(x, {1, 2, 2, 1, 1}), 2, 1, "SAME").to_vector<float>(),
            (Values{3, 4.5, 3, 4}));
  EXPECT_EQ(nn::max_pool(reshape(x, {1, 1, 4}), 2, 2, "VALID", "NCW").shape(), (Shape{1, 1, 2}));
  EXPECT_EQ(error_of([&] {
              nn::max_pool(reshape(x, {4, 1}), 2, 2, "VALID");
            }),
            "`input` must have 3, 4 or 5 dimensions: batch, channels and 1 to 3 of space. "
            "Received: [4,1]");
}

TEST(Conv3dTest, TransposeIsTheGradient) {
  const HostTensor x = numbers({1, 4, 3, 5, 2}), k = numbers({2, 3, 2, 2, 3}, 2);
  const HostTensor dy = numbers({1, 2, 2, 3, 3}, 3);
  const Tensor image = to_device(x), filter = to_device(k), up = to_device(dy);
  GradientTape tape;
  tape.watch(image);
  const Tensor y = nn::conv3d(image, filter, 2, "SAME");
  ASSERT_EQ(y.shape(), up.shape());
  const Tensor sum = reduce_sum(y * up);
  const Tensor made = nn::conv3d_transpose(up, filter, {1, 4, 3, 5, 2}, 2);
  expect_values(made, to_host(tape.gradient(sum, image)));
}

TEST(Conv2dTest, SeparableAndAtrousAreCompositions) {
  const HostTensor x = numbers({2, 6, 5, 3}), depth = numbers({3, 3, 3, 2}, 2);
  const HostTensor point = numbers({1, 1, 6, 4}, 3);
  const Tensor image = to_device(x), a = to_device(depth), b = to_device(point);
  const Tensor made = nn::separable_conv2d(image, a, b, 2, "SAME");
  const Tensor middle = nn::depthwise_conv2d(image, a, 2, "SAME");
  expect_values(made, to_host(einsum("nhwc,cd->nhwd", {middle, reshape(b, {6, 4})})));
  expect_gradients([](const auto& t) { return nn::separable_conv2d(t[0], t[1], t[2], 2, "SAME"); },
                   {x, depth, point});
  const Tensor filter = to_device(numbers({2, 2, 3, 4}, 4));
  expect_values(nn::atrous_conv2d(image, filter, 2, "VALID"),
                to_host(nn::conv2d(image, filter, 1, "VALID", "NHWC", 2)));
}

// All elements of a window of [1, d, h, w, 1], by loops; those outside do not count.
HostTensor pooled(const HostTensor& x, std::int64_t size, std::int64_t stride, bool same,
                  bool is_max) {
  const auto axis = [&](int i) {
    const std::int64_t in = x.shape.dim(i + 1);
    return same ? (in + stride - 1) / stride : (in - size) / stride + 1;
  };
  const auto pad = [&](int i) {
    const std::int64_t in = x.shape.dim(i + 1);
    return same ? std::max<std::int64_t>(0, (axis(i) - 1) * stride + size - in) / 2 : 0;
  };
  HostTensor out{{1, axis(0), axis(1), axis(2), 1}, {}};
  for (std::int64_t o = 0; o < out.shape.num_elements(); ++o) {
    const std::int64_t at[3] = {o / axis(2) / axis(1), o / axis(2) % axis(1), o % axis(2)};
    double best = -1e9, sum = 0, count = 0;
    for (std::int64_t k = 0; k < size * size * size; ++k) {
      const std::int64_t tap[3] = {k / size / size, k / size % size, k % size};
      std::int64_t place = 0;
      bool is_inside = true;
      for (int i = 0; i < 3; ++i) {
        const std::int64_t in = at[i] * stride - pad(i) + tap[i];
        is_inside &= in >= 0 && in < x.shape.dim(i + 1);
        place = place * x.shape.dim(i + 1) + in;
      }
      if (!is_inside) continue;
      const double value = x.values[static_cast<std::size_t>(place)];
      best = std::max(best, value);
      sum += value;
      ++count;
    }
    out.values.push_back(is_max ? best : sum / count);
  }
  return out;
}

TEST(Pool3dTest, MatchesLoops) {
  const HostTensor x = numbers({1, 5, 4, 6, 1});
  const Tensor image = to_device(x);
  for (const bool same : {false, true}) {
    for (const int stride : {1, 2}) {
      const char* padding = same ? "SAME" : "VALID";
      const HostTensor most = pooled(x, 3, stride, same, true);
      const HostTensor mean = pooled(x, 3, stride, same, false);
      expect_values(nn::max_pool3d(image, 3, stride, padding), most);
      expect_values(nn::avg_pool3d(image, 3, stride, padding), mean);
      const Tensor first = reshape(image, {1, 1, 5, 4, 6});
      const Tensor got = nn::max_pool3d(first, 3, stride, padding, "NCDHW");
      ASSERT_EQ(got.rank(), 5);
      expect_values(reshape(got, most.shape.dims()), most);
      expect_values(reshape(nn::avg_pool3d(first, 3, stride, padding, "NCDHW"), mean.shape.dims()),
                    mean);
    }
  }
}

TEST(Pool3dTest, ChannelsAndBatchesStayApart) {
  const HostTensor x = numbers({2, 4, 4, 4, 3});
  const Tensor image = to_device(x);
  const Tensor whole = nn::max_pool3d(image, {1, 2, 3, 2, 1}, {2, 1, 2}, "SAME");
  EXPECT_EQ(whole.shape(), (Shape{2, 2, 4, 2, 3}));
  for (std::int64_t c = 0; c < 3; ++c) {
    const Tensor part = nn::max_pool3d(slice(image, {1, 0, 0, 0, c}, {1, 4, 4, 4, 1}),
                                       {1, 2, 3, 2, 1}, {2, 1, 2}, "SAME");
    expect_values(part, to_host(slice(whole, {1, 0, 0, 0, c}, {1, 2, 4, 2, 1})));
  }
  // The same with channels first, through a permutation.
  const Tensor first = transpose(image, {0, 4, 1, 2, 3});
  const Tensor got = nn::avg_pool3d(first, {2, 3, 2}, {2, 1, 2}, "SAME", "NCDHW");
  expect_values(transpose(got, {0, 2, 3, 4, 1}),
                to_host(nn::avg_pool3d(image, {2, 3, 2}, {2, 1, 2}, "SAME")));
}

TEST(Pool3dTest, Gradients) {
  const std::vector<HostTensor> in{numbers({1, 4, 3, 4, 2})};
  expect_gradients([](const auto& t) { return nn::max_pool3d(t[0], 2, 1, "SAME"); }, in);
  expect_gradients([](const auto& t) { return nn::avg_pool3d(t[0], 3, 2, "SAME"); }, in);
}

// Of equal maxima the first one gets the gradient, in the order in which elements stand.
TEST(Pool3dTest, TheFirstOfEqualMaximaGetsTheGradient) {
  const Tensor x = zeros({1, 2, 2, 2, 1});
  GradientTape tape;
  tape.watch(x);
  const Tensor sum = reduce_sum(nn::max_pool3d(x, 2, 2, "VALID"));
  EXPECT_EQ(tape.gradient(sum, x).to_vector<float>(), (Values{1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Pool1dTest, MatchesItsDefinition) {
  const Tensor x = constant({1.0F, 5.0F, 3.0F, 4.0F, 2.0F}, {1, 5, 1});
  EXPECT_EQ(nn::max_pool1d(x, 2, 2, "VALID").to_vector<float>(), (Values{5, 4}));
  EXPECT_EQ(nn::max_pool1d(x, 2, 2, "SAME").to_vector<float>(), (Values{5, 4, 2}));
  EXPECT_EQ(nn::avg_pool1d(x, 2, 2, "SAME").to_vector<float>(), (Values{3, 3.5, 2}));
  const Tensor first = nn::max_pool1d(reshape(x, {1, 1, 5}), 2, 2, "SAME", "NCW");
  EXPECT_EQ(first.shape(), (Shape{1, 1, 3}));
  expect_gradients([](const auto& t) { return nn::avg_pool1d(t[0], 3, 2, "SAME"); },
                   {numbers({2, 5, 2})});
}

TEST(WindowErrorsTest, EchoWhatCame) {
  const Tensor series = ones({1, 5, 2}), volume = ones({1, 3, 3, 3, 2});
  const Tensor k1 = ones({3, 2, 4}), k3 = ones({2, 2, 2, 2, 4});
  EXPECT_INVALID(nn::conv1d(ones({5, 2}), k1, 1, "SAME"),
                 "conv1d needs an input of rank 3, got [5,2]");
  EXPECT_INVALID(nn::conv1d(series, ones({3, 2}), 1, "SAME"),
                 "conv1d needs filters of rank 3, got [3,2]");
  EXPECT_INVALID(nn::conv1d(series, k1, 1, "SAME", "NHWC"),
                 "Value for attr 'data_format' of \"NHWC\" is not in the list of allowed values");
  EXPECT_INVALID(nn::conv1d(series, k1, {1, 2}, "SAME"),
                 "strides should be of length 1, 1 or 3. Received: strides=[1,2] of length 2");
  EXPECT_INVALID(nn::conv3d(volume, k1, 1, "SAME"), "filter must be 5-dimensional: [3,2,4]");
  EXPECT_INVALID(nn::conv3d(series, k3, 1, "SAME"), "input must be 5-dimensional: [1,5,2]");
  EXPECT_INVALID(nn::conv3d(volume, ones({2, 2, 2, 3, 4}), 1, "SAME"),
                 "input depth must be evenly divisible by filter depth: 2 vs 3 [Op:Conv3D]");
  EXPECT_INVALID(nn::conv3d(volume, k3, {1, 2}, "SAME"),
                 "strides should be of length 1, 3 or 5. Received: strides=[1,2] of length 2");
  EXPECT_INVALID(nn::conv3d(volume, k3, 0, "SAME"), "Stride must be > 0, but got 0");
  EXPECT_INVALID(nn::conv3d(volume, k3, 1, "CAUSAL"), "Value for attr 'padding' of \"CAUSAL\"");
  EXPECT_INVALID(nn::max_pool3d(series, 2, 2, "SAME"), "max_pool3d needs an input of rank 5");
  EXPECT_INVALID(nn::avg_pool1d(volume, 2, 2, "SAME"), "avg_pool1d needs an input of rank 3");
  EXPECT_INVALID(
      nn::separable_conv2d(ones({1, 4, 4, 2}), ones({3, 3, 2, 2}), ones({1, 1, 3, 5}), 1, "SAME"),
      "separable_conv2d: the depthwise filter gives 4 channels, the pointwise filter takes 3");
  EXPECT_INVALID(
      nn::separable_conv2d(ones({1, 4, 4, 2}), ones({3, 3, 2, 2}), ones({3, 1, 4, 5}), 1, "SAME"),
      "separable_conv2d needs a pointwise_filter of height and width 1, got [3,1,4,5]");
}

}  // namespace
}  // namespace plimsoll::testing_ops
