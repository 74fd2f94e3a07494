// Layers that change images: what they draw, dictionaries, functions, and what they refuse.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

const CallArgs kTraining{.training = true};

std::vector<float> floats_of(const Nested& y) {
  return y.leaf().tensor().to_vector<float>();
}

// `num` images [2, 3, 1] of 0 to 5.
Tensor small_images(std::int64_t num) {
  return tile(reshape(range(0.0, 6.0), {1, 2, 3, 1}), {num, 1, 1, 1});
}

// How often each image came out.
std::map<std::vector<float>, int> count_images(const Tensor& images) {
  const std::vector<float> all = images.to_vector<float>();
  const auto size = static_cast<std::ptrdiff_t>(images.num_elements() / images.shape()[0]);
  std::map<std::vector<float>, int> counts;
  for (auto at = all.begin(); at != all.end(); at += size) ++counts[{at, at + size}];
  return counts;
}

TEST(RandomFlipTest, MirrorsHalfOfTheImages) {
  const std::vector<float> same = {0, 1, 2, 3, 4, 5};
  const std::map<std::string, std::vector<float>> mirrored = {
      {"horizontal", {2, 1, 0, 5, 4, 3}},
      {"vertical", {3, 4, 5, 0, 1, 2}},
      {"horizontal_and_vertical", {5, 4, 3, 2, 1, 0}}};
  for (const auto& [mode, image] : mirrored) {
    const auto counts =
        count_images(layers::RandomFlip({.mode = mode, .seed = 7})(small_images(2000), kTraining));
    ASSERT_EQ(counts.size(), 2U) << mode;
    EXPECT_NEAR(counts.at(same), 1000, 120);
    EXPECT_NEAR(counts.at(image), 1000, 120);
  }
}

TEST(RandomCropTest, TakesEveryWindowOfAllImagesAtOnce) {
  const Tensor x = reshape(range(0.0, 60.0), {3, 4, 5, 1});
  const auto crop = layers::RandomCrop({.height = 2, .width = 3});
  std::map<float, int> corners;
  for (int i = 0; i < 900; ++i) {
    const std::vector<float> y = floats_of(crop(x, kTraining));
    ASSERT_EQ(y.size(), 18U);
    ++corners[y[0]];
    for (std::size_t image = 0; image < 3; ++image) {
      for (std::size_t row = 0; row < 2; ++row) {
        for (std::size_t column = 0; column < 3; ++column) {
          const std::size_t at = image * 6 + row * 3 + column;
          EXPECT_EQ(y[at], y[0] + static_cast<float>(image * 20 + row * 5 + column));
        }
      }
    }
  }
  ASSERT_EQ(corners.size(), 9U);
  for (const auto& [corner, count] : corners) EXPECT_NEAR(count, 100, 45) << corner;
  EXPECT_EQ(floats_of(crop(x, {.training = false})), x.to_vector<float>());
}

TEST(RandomImageTest, EachImageIsDrawnForItself) {
  const Tensor x = tile(random::stateless_uniform({1, 8, 8, 1}, {1, 2}), {16, 1, 1, 1});
  const auto distinct = [](const Nested& y) { return count_images(y).size(); };
  EXPECT_EQ(distinct(layers::RandomRotation({.factor = 0.5})(x, kTraining)), 16U);
  EXPECT_EQ(distinct(layers::RandomZoom({.height_factor = 0.5})(x, kTraining)), 16U);
  EXPECT_EQ(distinct(layers::RandomTranslation({.height_factor = 0.5, .width_factor = 0.5})(
                x, kTraining)),
            16U);
  EXPECT_EQ(distinct(layers::RandomContrast({.factor = 0.5, .value_range = {0, 1}})(x, kTraining)),
            16U);
  EXPECT_EQ(
      distinct(layers::RandomBrightness({.factor = 0.5, .value_range = {0, 1}})(x, kTraining)),
      16U);
}

TEST(RandomImageTest, FactorsStayWithinTheirBounds) {
  const Tensor x = fill({500, 2, 2, 1}, 0.5);
  const auto layer = layers::RandomBrightness({.factor = {-0.2, 0.3}, .value_range = {0, 1}});
  float low = 1, high = 0;
  for (const float v : floats_of(layer(x, kTraining))) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  EXPECT_GE(low, 0.3F);
  EXPECT_LT(low, 0.32F);
  EXPECT_LE(high, 0.8F);
  EXPECT_GT(high, 0.78F);
}

// Outside of a model and without `training`, as Keras has it.
TEST(RandomImageTest, AreInTrainingUnlessTold) {
  const Tensor x = fill({4, 2, 2, 1}, 0.5);
  const auto layer = layers::RandomBrightness({.factor = {0.2, 0.2}, .value_range = {0, 1}});
  EXPECT_FLOAT_EQ(floats_of(layer(x))[0], 0.7F);
  EXPECT_FLOAT_EQ(floats_of(layer(x, {.training = false}))[0], 0.5F);
  auto model = Sequential({Input({2, 2, 1}), layer});
  EXPECT_FLOAT_EQ(model->predict(x).leaf().tensor().to_vector<float>()[0], 0.5F);
  EXPECT_FLOAT_EQ(floats_of((*model)(x, kTraining))[0], 0.7F);
}

TEST(RandomImageTest, FunctionsDrawAnewInEachCall) {
  const auto flip = layers::RandomFlip({.mode = "horizontal"});
  const auto f = Function(
      [&](std::span<const Tensor> in) -> std::vector<Tensor> { return {flip(in[0], kTraining)}; });
  const Tensor x = small_images(64);
  std::set<std::vector<float>> results;
  for (int i = 0; i < 4; ++i) results.insert(f(std::vector{x})[0].to_vector<float>());
  EXPECT_EQ(results.size(), 4U);
}

TEST(RandomImageTest, MasksAndLabelsGoAlong) {
  const Tensor x = random::stateless_uniform({32, 6, 6, 1}, {1, 2});
  const Tensor labels = range(32);
  const Nested inputs =
      Nested::dict({{"images", x}, {"labels", labels}, {"segmentation_masks", x}});
  const auto flip = layers::RandomFlip();
  const Nested y = flip(inputs, kTraining);
  EXPECT_EQ(floats_of(*y.find("images")), floats_of(*y.find("segmentation_masks")));
  EXPECT_NE(floats_of(*y.find("images")), x.to_vector<float>());
  EXPECT_EQ(y.find("labels")->leaf().tensor().to_vector<std::int32_t>(),
            labels.to_vector<std::int32_t>());
  const auto rotate = layers::RandomRotation({.factor = 0.3, .interpolation = "nearest"});
  const Nested z = rotate(inputs, kTraining);
  EXPECT_EQ(floats_of(*z.find("images")), floats_of(*z.find("segmentation_masks")));
  const Nested same = rotate(inputs, {.training = false});
  EXPECT_EQ(floats_of(*same.find("images")), x.to_vector<float>());
}

// A translation by whole pixels: the gradient of what has been moved in is 0 where it went out.
TEST(RandomImageTest, GradientsGoBackToWhereThePixelsCameFrom) {
  const Tensor x = ones({1, 1, 4, 1});
  const auto layer = layers::RandomTranslation(
      {.height_factor = 0, .width_factor = {0.25, 0.25}, .fill_mode = "constant"});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = layer(x, kTraining);
  const Tensor weights = constant({1.0F, 2.0F, 3.0F, 4.0F}, {1, 1, 4, 1});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 1, 1, 1}));
  EXPECT_EQ(tape.gradient(reduce_sum(y * weights), x).to_vector<float>(),
            (std::vector<float>{2, 3, 4, 0}));
}

TEST(ImageLayersTest, Refusals) {
  EXPECT_THROW(layers::RandomRotation({.factor = 1.5}), InvalidArgumentError);
  EXPECT_THROW(layers::RandomRotation({.factor = 0.1, .fill_mode = "mirror"}),
               InvalidArgumentError);
  EXPECT_THROW(layers::RandomZoom({.height_factor = -1}), InvalidArgumentError);
  EXPECT_THROW(layers::RandomTranslation({.height_factor = {0.1}}), InvalidArgumentError);
  EXPECT_THROW(layers::RandomContrast({.factor = -0.1}), InvalidArgumentError);
  EXPECT_THROW(layers::RandomBrightness({.factor = 0.1, .value_range = {1}}), InvalidArgumentError);
  EXPECT_THROW(layers::RandomFlip({.mode = "diagonal"}), InvalidArgumentError);
  EXPECT_THROW(layers::Resizing({.height = 4}), InvalidArgumentError);
  EXPECT_THROW(layers::Resizing({.height = 4, .width = 4, .interpolation = "area"}),
               InvalidArgumentError);
  EXPECT_THROW(
      layers::Resizing(
          {.height = 4, .width = 4, .crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
      InvalidArgumentError);
  EXPECT_THROW(layers::CenterCrop({.height = 2, .width = 2})(zeros({4, 4})), InvalidArgumentError);
  const Nested boxes =
      Nested::dict({{"images", zeros({1, 4, 4, 1})}, {"bounding_boxes", zeros({1, 2, 4})}});
  EXPECT_THROW(layers::CenterCrop({.height = 2, .width = 2})(boxes), UnimplementedError);
}

}  // namespace
}  // namespace plimsoll::keras
