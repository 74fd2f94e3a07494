// Training by fit: that it learns, that plan and measure agree, what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
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

CompileOptions compiled_with(OptimizerArg optimizer = "adam") {
  return {.optimizer = std::move(optimizer),
          .loss = "sparse_categorical_crossentropy",
          .metrics = {"accuracy"}};
}

TEST(FitTest, LearnsAndItsPlanIsWhatItTakes) {
  utils::set_random_seed(3);
  const Data data = make_clouds(500);
  auto model = make_classifier();
  model->compile(compiled_with());
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

// The peak that was printed before the first step is the one that was measured, to the byte.
std::shared_ptr<History> expect_plan_holds(Model& model, const Nested& x, const Nested& y,
                                           FitOptions options = {}) {
  options.verbose = Verbose::kSilent;
  options.epochs = 2;
  auto history = model.fit(x, y, options);
  EXPECT_GT(history->planned_peak_bytes, 0U);
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
  EXPECT_TRUE(std::isfinite(history->at("loss").back()));
  return history;
}

TEST(FitPlanTest, HoldsForEveryOptimizer) {
  const Data data = make_clouds(96);
  const OptimizerArg all[] = {
      optimizers::SGD({.learning_rate = 0.1}),
      optimizers::SGD({.learning_rate = 0.1, .momentum = 0.9}, {.global_clipnorm = 1.0}),
      optimizers::Adam({}, {.global_clipnorm = 1.0}),
      optimizers::Adam({.amsgrad = true}, {.clipnorm = 0.5}),
      optimizers::AdamW({}, {.weight_decay = 0.01, .global_clipnorm = 1.0}),
      optimizers::Adam({}, {.use_ema = true}),
      optimizers::SGD({}, {.use_ema = true, .ema_overwrite_frequency = 2}),
      optimizers::Adam({}, {.gradient_accumulation_steps = 3}),
      optimizers::SGD({}, {.global_clipnorm = 1.0, .gradient_accumulation_steps = 2}),
  };
  for (const OptimizerArg& optimizer : all) {
    SCOPED_TRACE(optimizer->get_config().dump());
    auto model = make_classifier();
    model->compile(compiled_with(optimizer));
    expect_plan_holds(*model, data.x, data.y);
  }
}

TEST(FitPlanTest, HoldsForSmallLastBatchesAndValidation) {
  for (const std::int64_t num : {64, 65, 95, 20}) {
    const Data data = make_clouds(num);
    SCOPED_TRACE(num);
    auto model = make_classifier();
    model->compile(compiled_with());
    expect_plan_holds(*model, data.x, data.y);
    auto validated = make_classifier();
    validated->compile(compiled_with());
    expect_plan_holds(*validated, data.x, data.y, {.validation_split = 0.4});
    auto larger = make_classifier();  // the validation's batches are what takes most
    larger->compile(compiled_with());
    const Data more = make_clouds(300);
    expect_plan_holds(*larger, data.x, data.y,
                      {.batch_size = 4,
                       .validation_data = ValidationData{more.x, more.y, {}},
                       .validation_batch_size = 128});
  }
}

TEST(FitPlanTest, HoldsForASingleEpoch) {
  for (const std::int64_t num : {64, 65, 95, 20}) {
    SCOPED_TRACE(num);
    const Data data = make_clouds(num), more = make_clouds(300);
    for (const bool validates : {false, true}) {
      auto model = make_classifier();
      model->compile(compiled_with());
      FitOptions options{.epochs = 1, .verbose = Verbose::kSilent};
      if (validates) options.validation_data = ValidationData{more.x, more.y, {}};
      options.validation_batch_size = 128;
      const auto history = model->fit(data.x, data.y, options);
      EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes) << validates;
    }
  }
}

TEST(FitPlanTest, HoldsForLSTMs) {
  const Tensor x = random::stateless_normal({40, 6, 5}, {1, 2});
  const Tensor y = plimsoll::range(40) % constant(3);
  auto model =
      Sequential({Input({6, 5}), layers::LSTM({.units = 7, .return_sequences = true}),
                  layers::LSTM({.units = 4}), Dense({.units = 3, .activation = "softmax"})});
  model->compile(compiled_with());
  expect_plan_holds(*model, x, y, {.batch_size = 16});
}

// Convolutions with a bias, as most files have them, keep their outputs and nothing behind.
TEST(FitPlanTest, NormalisationsAreComputedAgain) {
  for (const bool use_bias : {false, true}) {
    Nested x = Input({16, 16, 8});
    const Nested in = x;
    for (int i = 0; i < 4; ++i) {
      x = layers::Conv2D({.filters = 8, .kernel_size = 3, .padding = "same", .use_bias = use_bias})(
          x);
      x = layers::ReLU()(layers::BatchNormalization()(x));
    }
    auto model = Functional(in, Dense({.units = 3})(layers::GlobalAveragePooling2D()(x)));
    model->compile({.optimizer = "sgd", .loss = "mse"});
    const FitPlan plan =
        model->plan_fit(zeros({32, 16, 16, 8}), zeros({32, 3}), {.batch_size = 32});
    const auto pass = std::ranges::find(plan.step.passes, "recompute", &PassReport::name);
    ASSERT_NE(pass, plan.step.passes.end());
    EXPECT_LT(pass->peak_after, pass->peak_before * 8 / 10) << use_bias;
    expect_plan_holds(*model, random::stateless_normal({32, 16, 16, 8}, {1, 2}), zeros({32, 3}),
                      {.batch_size = 32});
  }
}

TEST(FitPlanTest, HoldsForEmbeddingsAndAttention) {
  const Tensor x = reshape(plimsoll::range(480), {40, 12}) % constant(50);
  const Tensor y = plimsoll::range(40) % constant(3);
  const Nested in = Input({12}, {.dtype = int32});
  const Nested embedded =
      layers::Embedding({.input_dim = 50, .output_dim = 8, .mask_zero = true})(in);
  const Nested attended = layers::MultiHeadAttention({.num_heads = 2, .key_dim = 4})(
      embedded, {.named = Nested::dict({{"value", embedded}})});
  const Nested pooled =
      layers::GlobalAveragePooling1D()(layers::LayerNormalization()(attended + embedded));
  auto model = Functional(in, Dense({.units = 3, .activation = "softmax"})(pooled));
  model->compile(compiled_with());
  expect_plan_holds(*model, x, y, {.batch_size = 16});
}

TEST(FitPlanTest, HoldsForSeveralOutputs) {
  const Data data = make_clouds(50);
  const Nested in = Input({8});
  const Nested h = Dense({.units = 16, .activation = "relu"})(in);
  const Nested a = Dense({.units = 2, .activation = "softmax"}, {.name = "a"})(h);
  const Nested b = Dense({.units = 1}, {.name = "b"})(h);
  auto model = Functional(in, {a, b});
  model->compile({.optimizer = "adam",
                  .loss = LossSpec::dict(
                      {{"a", LossArg("sparse_categorical_crossentropy")}, {"b", LossArg("mse")}}),
                  .metrics = MetricSpec::dict({{"a", MetricSpecItem("accuracy")}}),
                  .loss_weights = Nest<double>::dict({{"a", 1.0}, {"b", 0.5}})});
  const Tensor sums = reduce_sum(data.x, {1}, true);
  const auto history = expect_plan_holds(*model, data.x, {data.y, sums}, {.validation_split = 0.2});
  for (const char* name : {"loss", "a_loss", "b_loss", "a_accuracy", "val_b_loss"})
    EXPECT_EQ(history->at(name).size(), 2U) << name;
}

// A second fit of the same model plans again, and is right again.
TEST(FitPlanTest, HoldsAgain) {
  const Data data = make_clouds(70);
  auto model = make_classifier();
  model->compile(compiled_with());
  expect_plan_holds(*model, data.x, data.y);
  expect_plan_holds(*model, data.x, data.y, {.batch_size = 8});
  model->evaluate(data.x, data.y, {.verbose = Verbose::kSilent});
  model->predict(data.x, {.verbose = Verbose::kSilent});
  expect_plan_holds(*model, data.x, data.y, {.batch_size = 64});
  const std::vector<Tensor> held = model->get_weights();  // the first step copies them
  expect_plan_holds(*model, data.x, data.y);
}

}  // namespace
}  // namespace plimsoll::keras
