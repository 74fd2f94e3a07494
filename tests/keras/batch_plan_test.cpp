#include <gtest/gtest.h>

#include "plimsoll/config.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

Functional classifier() {
  const auto in = Input({12, 12, 3}, {.name = "image"});
  Nested h = layers::Conv2D({.filters = 8, .kernel_size = 3, .activation = "relu"})(in);
  h = layers::Flatten()(layers::BatchNormalization()(h));
  return Functional(in, layers::Dense({.units = 10, .activation = "softmax"})(h));
}

// The bytes that the device holds at most while it runs.
template <class F>
std::uint64_t peak_of(const F& run) {
  const std::string name = memory::report().devices.at(0).name;
  config::reset_memory_stats(name);
  run();
  return memory::stats(name).peak;
}

TEST(BatchPlanTest, OfTrainingIsWhatAStepTakes) {
  const auto model = classifier();
  model->compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  const FitPlan small = model->plan_train({.batch_size = 4});
  const Tensor x = ones({16, 12, 12, 3}), y = zeros({16}, int32);
  const FitPlan plan = model->plan_train({.batch_size = 16});
  EXPECT_GT(plan.peak_bytes, small.peak_bytes);
  EXPECT_GT(plan.optimizer_bytes, 2 * small.weights_bytes / 3);
  // What is there now includes the batch, which the plan counts as still to come.
  const std::uint64_t peak = peak_of([&] { model->train_on_batch(x, y); });
  EXPECT_EQ(peak, plan.peak_bytes);
}

TEST(BatchPlanTest, OfPredictionIsWhatACallTakes) {
  const auto model = classifier();
  const FitPlan plan = model->plan_predict({.batch_size = 8});
  EXPECT_EQ(plan.optimizer_bytes, 0U);
  const FitPlan large = model->plan_predict({.batch_size = 512});  // scratch does not grow with it
  EXPECT_GT(large.arena_bytes, 4 * plan.arena_bytes);
  const FitPlan again = model->plan_predict({.batch_size = 8});
  EXPECT_EQ(again.peak_bytes, plan.peak_bytes);  // nothing of the large one has stayed
  const std::uint64_t peak = peak_of([&] { model->predict_on_batch(ones({8, 12, 12, 3})); });
  EXPECT_EQ(peak, plan.peak_bytes);
}

TEST(BatchPlanTest, LabelsAreAsTheLossReadsThem) {
  const auto model = classifier();
  model->compile({.optimizer = "sgd", .loss = "mse"});
  const std::uint64_t dense = model->plan_train({.batch_size = 32}).batch_bytes;
  model->compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  const std::uint64_t sparse = model->plan_train({.batch_size = 32}).batch_bytes;
  EXPECT_EQ(dense - sparse, 32U * 10 * 4 - 32 * 4);
}

TEST(BatchPlanTest, OpenDimensionsHaveToBeSaid) {
  const auto in = Input({kNone, kNone, 3}, {.name = "image"});
  const auto model = Functional(
      in, layers::GlobalAveragePooling2D()(layers::Conv2D({.filters = 4, .kernel_size = 3})(in)));
  try {
    model->plan_predict({.batch_size = 2});
    FAIL() << "the size of the image is not known";
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find("(None, None, None, 3)"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("input_shapes"), std::string::npos) << e.what();
  }
  const FitPlan small = model->plan_predict({.batch_size = 2, .input_shapes = {{16, 16, 3}}});
  const FitPlan large = model->plan_predict({.batch_size = 2, .input_shapes = {{32, 32, 3}}});
  EXPECT_GT(large.batch_bytes, small.batch_bytes);
  EXPECT_THROW(model->plan_predict({.batch_size = 2, .input_shapes = {{16, 16, 4}}}),
               InvalidArgumentError);
  EXPECT_THROW(model->plan_predict({.batch_size = 2, .input_shapes = {{16, 3}}}),
               InvalidArgumentError);
  EXPECT_THROW(model->plan_predict({.batch_size = 0, .input_shapes = {{16, 16, 3}}}),
               InvalidArgumentError);
}

TEST(BatchPlanTest, AModelWithoutInputsIsRefused) {
  const auto model = Sequential({layers::Dense({.units = 3})});
  EXPECT_THROW(model->plan_predict({}), FailedPreconditionError);
  EXPECT_THROW(model->plan_train({}), FailedPreconditionError);  // and not compiled
}

TEST(BatchPlanTest, OutputsByNameHaveTheirOwnLabels) {
  const auto in = Input({6});
  const Nested first = layers::Dense({.units = 5, .activation = "softmax"}, {.name = "class"})(in);
  const Nested second = layers::Dense({.units = 2}, {.name = "place"})(in);
  const auto model = Functional(in, {first, second});
  model->compile({.optimizer = "sgd",
                  .loss = LossSpec::dict({{"class", LossArg("sparse_categorical_crossentropy")},
                                          {"place", LossArg("mse")}})});
  const FitPlan plan = model->plan_train({.batch_size = 64});
  EXPECT_EQ(plan.batch_bytes, 64U * 6 * 4 + 64 * 4 + 64 * 2 * 4);
}

}  // namespace
}  // namespace plimsoll::keras
