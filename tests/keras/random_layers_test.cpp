// Layers that draw numbers: what they do in training has the right distribution, in inference they
// give what they got.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/layers/regularization.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

const CallArgs kTraining{.training = true};

struct Statistics {
  double mean = 0, stddev = 0;
};
Statistics statistics(const std::vector<float>& values) {
  double sum = 0, squares = 0;
  for (const float v : values) {
    sum += v;
    squares += static_cast<double>(v) * v;
  }
  const double n = static_cast<double>(values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}
std::vector<float> floats_of(const Nested& y) {
  return y.leaf().tensor().to_vector<float>();
}

template <class L>
void expect_identity_in_inference(const L& layer, const Shape& shape) {
  const Tensor x = random::normal(shape);
  for (const auto training : {std::optional<bool>(), std::optional<bool>(false)})
    EXPECT_EQ(floats_of(layer(x, {.training = training})), x.to_vector<float>());
}

TEST(RandomLayersTest, InferenceIsTheIdentity) {
  expect_identity_in_inference(layers::Dropout({.rate = 0.5}), {4, 5});
  expect_identity_in_inference(layers::SpatialDropout1D({.rate = 0.5}), {4, 5, 6});
  expect_identity_in_inference(layers::SpatialDropout2D({.rate = 0.5}), {2, 3, 4, 5});
  expect_identity_in_inference(layers::SpatialDropout3D({.rate = 0.5}), {2, 3, 4, 5, 2});
  expect_identity_in_inference(layers::GaussianNoise({.stddev = 0.5}), {4, 5});
  expect_identity_in_inference(layers::GaussianDropout({.rate = 0.5}), {4, 5});
  expect_identity_in_inference(layers::AlphaDropout({.rate = 0.5}), {4, 5});
}

TEST(RandomLayersTest, DropoutScalesWhatItKeeps) {
  const auto y = floats_of(layers::Dropout({.rate = 0.25})(ones({400, 500}), kTraining));
  EXPECT_EQ(std::set<float>(y.begin(), y.end()), (std::set<float>{0, 1 / 0.75F}));
  EXPECT_NEAR(statistics(y).mean, 1, 0.01);
  for (const float v : floats_of(layers::Dropout({.rate = 1})(ones({9}), kTraining)))
    EXPECT_EQ(v, 0);
}

// In each channel everything is kept, or nothing.
void expect_whole_channels(const Tensor& y, const Axes& spatial) {
  const auto low = reduce_min(y, spatial).to_vector<float>();
  EXPECT_EQ(low, reduce_max(y, spatial).to_vector<float>());
  EXPECT_EQ(std::set<float>(low.begin(), low.end()), (std::set<float>{0, 2}));
  EXPECT_NEAR(statistics(low).mean, 1, 0.15);
}

TEST(RandomLayersTest, SpatialDropoutDropsChannels) {
  expect_whole_channels(layers::SpatialDropout1D({.rate = 0.5})(ones({20, 3, 50}), kTraining), {1});
  expect_whole_channels(layers::SpatialDropout2D({.rate = 0.5})(ones({20, 3, 4, 50}), kTraining),
                        {1, 2});
  expect_whole_channels(layers::SpatialDropout2D({.rate = 0.5, .data_format = "channels_first"})(
                            ones({20, 50, 3, 4}), kTraining),
                        {2, 3});
  expect_whole_channels(layers::SpatialDropout3D({.rate = 0.5})(ones({20, 3, 2, 2, 50}), kTraining),
                        {1, 2, 3});
}

TEST(RandomLayersTest, GaussianNoiseAddsIt) {
  const auto s =
      statistics(floats_of(layers::GaussianNoise({.stddev = 0.3})(fill({400, 500}, 2), kTraining)));
  EXPECT_NEAR(s.mean, 2, 0.01);
  EXPECT_NEAR(s.stddev, 0.3, 0.01);
}

TEST(RandomLayersTest, GaussianDropoutMultiplies) {
  const auto s =
      statistics(floats_of(layers::GaussianDropout({.rate = 0.2})(fill({400, 500}, 2), kTraining)));
  EXPECT_NEAR(s.mean, 2, 0.02);
  EXPECT_NEAR(s.stddev, 2 * std::sqrt(0.2 / 0.8), 0.02);
}

TEST(RandomLayersTest, AlphaDropoutKeepsMeanAndDeviation) {
  const Tensor x = random::normal({400, 500});
  const auto y = floats_of(layers::AlphaDropout({.rate = 0.3})(x, kTraining));
  EXPECT_NEAR(statistics(y).mean, 0, 0.02);
  EXPECT_NEAR(statistics(y).stddev, 1, 0.02);
  // With one draw for each row, a row is dropped or kept whole.
  const layers::AlphaDropout by_row(
      {.rate = 0.5, .noise_shape = PartialShape{kNone, 1}, .seed = 3});
  const Tensor rows = by_row(ones({200, 7}), kTraining);
  EXPECT_EQ(reduce_min(rows, {1}).to_vector<float>(), reduce_max(rows, {1}).to_vector<float>());
  const auto values = rows.to_vector<float>();
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), 2U);
}

TEST(RandomLayersTest, EveryCallDrawsAgainInFunctionsToo) {
  const layers::GaussianNoise noise({.stddev = 0.5});
  const layers::Dropout dropout({.rate = 0.5});
  const Function step([&](std::span<const Tensor> in) {
    return std::vector<Tensor>{noise(in[0], kTraining), dropout(in[0], kTraining)};
  });
  const std::vector<Tensor> x{ones({50})};
  const auto first = step(x), second = step(x);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NE(first[i].to_vector<float>(), second[i].to_vector<float>());
}

TEST(RandomLayersTest, GradientsSeeTheSameNumbers) {
  const Tensor x = fill({50}, 3);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = layers::GaussianDropout({.rate = 0.5})(x, kTraining);
  EXPECT_EQ((tape.gradient(reduce_sum(y), x) * 3.0).to_vector<float>(), y.to_vector<float>());
}

TEST(RandomLayersTest, ActivityRegularizationAddsALoss) {
  const layers::ActivityRegularization layer({.l1 = 0.1, .l2 = 0.5});
  const Tensor x = constant({1.0F, -2.0F, 3.0F, 0.0F}, {2, 2});
  EXPECT_EQ(floats_of(layer(x)), x.to_vector<float>());
  ASSERT_EQ(layer->losses().size(), 1U);
  EXPECT_NEAR(layer->losses()[0].item<float>(), (0.1 * 6 + 0.5 * 14) / 2, 1e-5);
}

}  // namespace
}  // namespace plimsoll::keras
