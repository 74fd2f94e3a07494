// Training by fit: that it learns, that plan and measure agree, what it refuses.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/bytes.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::Dense;
using layers::Dropout;
using layers::Flatten;

struct Data {
  Tensor x, y;
};
// Two clouds of points, told apart by a line.
Data make_clouds(std::int64_t num) {
  const Tensor x = random::stateless_normal({num, 8}, {1, 2});
  const Tensor y = cast(greater(reduce_sum(x, {1}), fill(Shape(), 0)), int32);
  return {x, y};
}

Sequential make_classifier() {
  return Sequential({Input({8}), Dense({.units = 16, .activation = "relu"}), Dropout({.rate = 0.1}),
                     Dense({.units = 2, .activation = "softmax"})});
}

const CompileOptions kCompiled{
    .optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}};

TEST(FitTest, LearnsAndItsPlanIsWhatItTakes) {
  utils::set_random_seed(3);
  const Data data = make_clouds(500);
  auto model = make_classifier();
  model->compile(kCompiled);
  const auto history = model->fit(
      data.x, data.y,
      {.batch_size = 32, .epochs = 12, .verbose = Verbose::kSilent, .validation_split = 0.2});
  EXPECT_EQ(history->epoch.size(), 12U);
  EXPECT_LT(history->at("loss").back(), history->at("loss").front());
  EXPECT_GT(history->at("val_accuracy").back(), 0.85);
  EXPECT_GT(history->planned_peak_bytes, 0U);
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
  const Logs logs = model->evaluate(data.x, data.y, {.verbose = Verbose::kSilent});
  EXPECT_GT(logs.at("accuracy"), 0.85);
  const Tensor predicted = model->predict(data.x, {.verbose = Verbose::kSilent});
  EXPECT_EQ(predicted.shape(), (Shape{500, 2}));
}

}  // namespace
}  // namespace plimsoll::keras
