// Training in 16 bit with weights in float32: that it learns, what it takes, and that this is less.
#include <gtest/gtest.h>

#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::BatchNormalization;
using layers::Conv2D;

// Two kinds of noise, of which one is brighter in its first channel.
struct Data {
  Tensor x, y;
};
Data make_images(std::int64_t num) {
  const Tensor noise = random::stateless_normal({num, 16, 16, 4}, {5, 6});
  const Tensor y = cast(random::stateless_uniform({num}, {7, 8}, 0, 2, int32), int32);
  const Tensor bright = reshape(cast(y, float32), {num, 1, 1, 1}) * one_hot(fill({1}, 0, int32), 4);
  return {noise + bright, y};
}

std::shared_ptr<History> train(const DTypePolicy& policy) {
  utils::set_random_seed(11);
  const LayerOptions options{.dtype = policy};
  auto model = Sequential({
      Input({16, 16, 4}),
      Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .use_bias = false}, options),
      BatchNormalization({}, options),
      layers::ReLU({}, options),
      Conv2D({.filters = 32, .kernel_size = 3, .strides = 2, .padding = "same"}, options),
      BatchNormalization({}, options),
      layers::ReLU({}, options),
      layers::GlobalAveragePooling2D({}, options),
      layers::Dense({.units = 2, .activation = "softmax"}, {.dtype = "float32"}),
  });
  model->compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  const Data data = make_images(96);
  auto history =
      model->fit(data.x, data.y, {.batch_size = 32, .epochs = 8, .verbose = Verbose::kSilent});
  for (const VariablePtr& v : model->weights()) {
    EXPECT_TRUE(v->dtype() == DType::kFloat32 || !is_floating(v->dtype())) << v->path();
  }
  return history;
}

class MixedPrecisionTest : public testing::TestWithParam<const char*> {};

TEST_P(MixedPrecisionTest, LearnsInLessMemoryAndThePlanIsWhatItTakes) {
  const auto wide = train("float32");
  const auto mixed = train(GetParam());
  EXPECT_LT(mixed->at("loss").back(), 0.8 * mixed->at("loss").front());
  EXPECT_NEAR(mixed->at("loss").back(), wide->at("loss").back(), 0.1);
  EXPECT_EQ(mixed->planned_peak_bytes, mixed->measured_peak_bytes);
  EXPECT_LT(static_cast<double>(mixed->planned_peak_bytes),
            0.75 * static_cast<double>(wide->planned_peak_bytes));
}

INSTANTIATE_TEST_SUITE_P(Policies, MixedPrecisionTest,
                         testing::Values("mixed_bfloat16", "mixed_float16"),
                         [](const auto& c) { return std::string(c.param); });

}  // namespace
}  // namespace plimsoll::keras
