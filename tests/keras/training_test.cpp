// Training, evaluation and prediction: weights of samples, steps, validation, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::Dense;
constexpr Verbose kSilent = Verbose::kSilent;

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}
void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in:\n" << text;
}
Tensor normal(const Shape& shape, std::int64_t seed = 1) {
  return random::stateless_normal(shape, {seed, 2});
}
float to_float(double value) {
  return static_cast<float>(value);
}

// y = x, and the loss is the square of the difference.
Sequential identity_model(CompileOptions options = {.optimizer = "sgd", .loss = "mse"}) {
  auto model = Sequential(
      {Input({1}), Dense({.units = 1, .use_bias = false, .kernel_initializer = "ones"})});
  model->compile(std::move(options));
  return model;
}
const std::vector<float> kErrors = {1, 2, 3, 4};  // of these rows
Tensor error_rows() {
  return constant(std::span<const float>(kErrors), {4, 1});
}

TEST(TrainingTest, SampleWeightsWeigh) {
  auto model =
      identity_model({.optimizer = "sgd",
                      .loss = "mse",
                      .metrics = {"mae"},
                      .weighted_metrics = {metrics::MeanAbsoluteError({}, {.name = "weighted"})}});
  const Tensor weights = constant({1.0F, 0.0F, 2.0F, 1.0F}, {4});
  const Logs logs =
      model->evaluate(error_rows(), zeros({4, 1}), {.verbose = kSilent, .sample_weight = weights});
  EXPECT_FLOAT_EQ(to_float(logs.at("loss")), (1 + 0 + 18 + 16) / 4.0F);
  EXPECT_FLOAT_EQ(to_float(logs.at("mae")), 2.5F);
  EXPECT_FLOAT_EQ(to_float(logs.at("weighted")), (1 + 0 + 6 + 4) / 4.0F);
}

TEST(TrainingTest, ClassWeightsWeigh) {
  const auto make = [] {
    auto model = Sequential({Input({1}), Dense({.units = 2, .kernel_initializer = "zeros"})});
    model->compile({.optimizer = optimizers::SGD({.learning_rate = 0.0}),
                    .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  };
  const Tensor x = ones({4, 1}), y = constant({0, 0, 0, 1}, {4});
  const double each = std::log(2.0);
  auto model = make();
  EXPECT_NEAR(model->train_on_batch(x, y).at("loss"), each, 1e-6);
  EXPECT_NEAR(make()->train_on_batch(x, y, {}, {{0, 1.0}, {1, 5.0}}).at("loss"), each * 2, 1e-6);
  const auto history = make()->fit(
      x, y, {.batch_size = 2, .verbose = kSilent, .class_weight = {{0, 2.0}, {1, 6.0}}});
  EXPECT_NEAR(history->at("loss")[0], each * 3, 1e-6);
  EXPECT_THROW(
      make()->fit(x, y,
                  {.verbose = kSilent, .class_weight = {{0, 2.0}}, .sample_weight = ones({4})}),
      InvalidArgumentError);
}

TEST(TrainingTest, OneBatchAtATime) {
  auto model = identity_model(
      {.optimizer = optimizers::SGD({.learning_rate = 0.1}), .loss = "mse", .metrics = {"mae"}});
  const Tensor x = ones({2, 1}), y = zeros({2, 1});
  EXPECT_EQ(model->predict_on_batch(x).leaf().tensor().to_vector<float>(),
            (std::vector<float>{1, 1}));
  EXPECT_FLOAT_EQ(to_float(model->test_on_batch(x, y).at("loss")), 1);
  EXPECT_FLOAT_EQ(model->get_weights()[0].to_vector<float>()[0], 1);
  model->reset_metrics();
  const Logs logs = model->train_on_batch(x, y);
  EXPECT_FLOAT_EQ(to_float(logs.at("loss")), 1);
  EXPECT_FLOAT_EQ(to_float(logs.at("mae")), 1);
  EXPECT_FLOAT_EQ(model->get_weights()[0].to_vector<float>()[0], 0.8F);
  EXPECT_EQ(logs[0].first, "loss");
}

TEST(TrainingTest, StepsAndEpochs) {
  std::vector<std::int64_t> epochs;
  std::int64_t num_batches = 0;
  const auto watch = callbacks::LambdaCallback(
      {.on_epoch_end = [&](std::int64_t epoch, const Logs&) { epochs.push_back(epoch); },
       .on_train_batch_end = [&](std::int64_t, const Logs&) { ++num_batches; }});
  auto model = identity_model();
  const Tensor x = normal({10, 1}), y = normal({10, 1}, 2);
  auto history = model->fit(
      x, y,
      {.batch_size = 4, .epochs = 5, .verbose = kSilent, .callbacks = {watch}, .initial_epoch = 3});
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(history->epoch, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(num_batches, 6);
  num_batches = 0;
  model->fit(x, y,
             {.batch_size = 4,
              .epochs = 2,
              .verbose = kSilent,
              .callbacks = {watch},
              .steps_per_epoch = 2});
  EXPECT_EQ(num_batches, 3);  // the second epoch ends with the data, as in Keras
  num_batches = 0;
  const auto endless = data::Dataset::from_tensor_slices({x, y}).repeat().batch(3);
  model->fit(endless,
             {.epochs = 2, .verbose = kSilent, .callbacks = {watch}, .steps_per_epoch = 7});
  EXPECT_EQ(num_batches, 14);
  EXPECT_EQ(model->fit(x, y, {.epochs = 0, .verbose = kSilent})->epoch.size(), 0U);
}

TEST(TrainingTest, Validation) {
  const Tensor x = error_rows(), y = zeros({4, 1});
  const CompileOptions still{.optimizer = optimizers::SGD({.learning_rate = 0.0}), .loss = "mse"};
  auto model = identity_model(still);
  // The last rows, which are not trained on.
  auto history = model->fit(x, y, {.verbose = kSilent, .validation_split = 0.25});
  EXPECT_FLOAT_EQ(to_float(history->at("val_loss")[0]), 16);
  EXPECT_FLOAT_EQ(to_float(history->at("loss")[0]), (1 + 4 + 9) / 3.0F);
  history = model->fit(x, y,
                       {.epochs = 4,
                        .verbose = kSilent,
                        .validation_data = ValidationData{ones({3, 1}), zeros({3, 1}), {}},
                        .validation_freq = 2});
  EXPECT_EQ(history->at("val_loss"), (std::vector<double>{1, 1}));
  EXPECT_EQ(history->at("loss").size(), 4U);
  history = model->fit(x, y,
                       {.verbose = kSilent,
                        .validation_dataset = data::Dataset::from_tensor_slices({x, y}).batch(2)});
  EXPECT_FLOAT_EQ(to_float(history->at("val_loss")[0]), 7.5F);
  EXPECT_THROW(model->fit(x, y, {.verbose = kSilent, .validation_split = 0.9999}),
               InvalidArgumentError);
  EXPECT_THROW(model->fit(x, y, {.verbose = kSilent, .validation_split = 1.5}),
               InvalidArgumentError);
}

TEST(TrainingTest, PredictsSeveralOutputs) {
  const Nested in = Input({3});
  auto model = Functional(in, Nested::dict({{"twice", in * 2.0}, {"less", in - 1.0}}));
  const Tensor x = normal({10, 3});
  const Nested y = model->predict(x, {.batch_size = 4, .verbose = kSilent});
  EXPECT_EQ(y.find("twice")->leaf().tensor().to_vector<float>(), (x * 2.0).to_vector<float>());
  EXPECT_EQ(y.find("less")->leaf().tensor().to_vector<float>(), (x - 1.0).to_vector<float>());
  const Nested some = model->predict(data::Dataset::from_tensor_slices(x).batch(4),
                                     {.verbose = kSilent, .steps = 2});
  EXPECT_EQ(some.find("less")->leaf().tensor().shape(), (Shape{8, 3}));
}

TEST(RefusalTest, BeforeCompileAndBuild) {
  auto model = Sequential({Input({1}), Dense({.units = 1})});
  const Tensor x = ones({2, 1});
  expect_contains(
      message_of<FailedPreconditionError>([&] { model->fit(x, x, {.verbose = kSilent}); }),
      "compile");
  EXPECT_THROW(model->evaluate(x, x), FailedPreconditionError);
  auto later = Sequential({Dense({.units = 1})});
  EXPECT_FALSE(later->built());
  EXPECT_TRUE(later->weights().empty());
  EXPECT_THROW(model->compile({.optimizer = "sgd", .loss = "nothing"}), InvalidArgumentError);
  auto without = Sequential({Input({1}), Dense({.units = 1})});
  without->compile({.optimizer = "sgd"});
  expect_contains(
      message_of<FailedPreconditionError>([&] { without->fit(x, x, {.verbose = kSilent}); }),
      "No loss to compute");
}

TEST(RefusalTest, ShapesAndLabels) {
  auto model = identity_model();
  EXPECT_THROW(model->fit(ones({2, 3, 4}), ones({2, 1}), {.verbose = kSilent}),
               InvalidArgumentError);
  EXPECT_THROW(model->fit(ones({2, 3}), ones({2, 1}), {.verbose = kSilent}), InvalidArgumentError);
  expect_contains(message_of<InvalidArgumentError>([&] {
                    model->fit(ones({2, 1}), ones({3, 1}), {.verbose = kSilent});
                  }),
                  "Data cardinality is ambiguous");
  EXPECT_THROW(model->fit(ones({2, 1}), ones({2, 1}), {.batch_size = 0, .verbose = kSilent}),
               InvalidArgumentError);
  auto classes = Sequential({Input({1}), Dense({.units = 3, .activation = "softmax"})});
  classes->compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  const std::vector<Tensor> before = classes->get_weights();
  for (const int label : {3, -1})
    EXPECT_THROW(classes->fit(ones({2, 1}), constant({0, label}, {2}), {.verbose = kSilent}),
                 InvalidArgumentError)
        << label;
  EXPECT_EQ(classes->get_weights()[0].to_vector<float>(), before[0].to_vector<float>());
  auto odd = identity_model(
      {.optimizer = "sgd", .loss = "mse", .metrics = {metrics::CategoricalCrossentropy()}});
  EXPECT_THROW(odd->fit(ones({4, 1}), ones({4, 1, 3}), {.verbose = kSilent}), InvalidArgumentError);
}

TEST(RefusalTest, NaNLossesEndTrainingIfAsked) {
  const Tensor x = constant({1.0F, std::nanf(""), 1.0F, 1.0F}, {4, 1}), y = zeros({4, 1});
  FitOptions options{.batch_size = 1, .epochs = 3, .verbose = kSilent, .shuffle = false};
  std::int64_t num_batches = 0;
  const auto count = callbacks::LambdaCallback(
      {.on_train_batch_end = [&](std::int64_t, const Logs&) { ++num_batches; }});
  options.callbacks = {count};
  const auto history = identity_model()->fit(x, y, options);
  EXPECT_TRUE(std::isnan(history->at("loss")[0]));
  EXPECT_EQ(num_batches, 12);
  num_batches = 0;
  options.callbacks = {callbacks::TerminateOnNaN(), count};
  EXPECT_EQ(identity_model()->fit(x, y, options)->epoch.size(), 1U);
  EXPECT_EQ(num_batches, 2);
  options.callbacks = {callbacks::TerminateOnNaN({.raise_error = true})};
  EXPECT_THROW(identity_model()->fit(x, y, options), FailedPreconditionError);
}

// The refusal names a batch that fits, nothing has changed, and that batch then works.
TEST(RefusalTest, BudgetsThatAreTooSmall) {
  const Tensor x = normal({512, 64}), y = normal({512, 1}, 2);
  const auto make = [](const std::string& budget) {
    auto model = Sequential({Input({64}), Dense({.units = 256, .activation = "relu"}),
                             Dense({.units = 256, .activation = "relu"}), Dense({.units = 1})});
    model->compile({.optimizer = "adam", .loss = "mse", .memory_budget = budget});
    return model;
  };
  const std::uint64_t before = memory::stats().in_use;
  const auto probe = make("");
  const FitPlan large = probe->plan_fit(x, y, {.batch_size = 256});
  const FitPlan small = probe->plan_fit(x, y, {.batch_size = 32});
  ASSERT_LT(small.peak_bytes, large.peak_bytes);
  // The probe stays and counts, as everything does that the device holds.
  const std::uint64_t held = memory::stats().in_use - before;
  const auto model = make(std::to_string((small.peak_bytes + large.peak_bytes) / 2 + held));
  model->build(PartialShape{kNone, 64});
  const auto values_of = [](const Model& m) {
    std::vector<std::vector<float>> values;
    for (const Tensor& t : m.get_weights()) values.push_back(t.to_vector<float>());
    return values;
  };
  const auto weights = values_of(*model);
  const std::string text = message_of<ResourceExhaustedError>(
      [&] { model->fit(x, y, {.batch_size = 256, .verbose = kSilent}); });
  expect_contains(text, "memory_budget of compile");
  const std::string words = "would fit: batch_size ";
  const std::size_t at = text.find(words);
  ASSERT_NE(at, std::string::npos) << text;
  const std::int64_t batch = std::stoll(text.substr(at + words.size()));
  EXPECT_GE(batch, 32);
  EXPECT_LT(batch, 256);
  EXPECT_EQ(values_of(*model), weights);
  const auto history = model->fit(x, y, {.batch_size = batch, .verbose = kSilent});
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
  EXPECT_THROW(make("lots"), InvalidArgumentError);
}

TEST(UtilsTest, ToCategoricalAndSplits) {
  const Tensor hot = utils::to_categorical(constant({0, 2, 1}, {3}));
  EXPECT_EQ(hot.to_vector<float>(), (std::vector<float>{1, 0, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(utils::to_categorical(constant({0, 1}, {2, 1}), 4).shape(), (Shape{2, 4}));
  EXPECT_THROW(utils::to_categorical(constant({0, 5}, {2}), 4), InvalidArgumentError);
  EXPECT_THROW(utils::to_categorical(constant({-1}, {1}), 4), InvalidArgumentError);
  const auto [left, right] = utils::split_dataset(plimsoll::range(10), {.left_size = 0.7});
  EXPECT_EQ(left.cardinality(), 7);
  EXPECT_EQ(right.cardinality(), 3);
  EXPECT_EQ((*right.begin()).leaf().to_vector<std::int32_t>(), std::vector<std::int32_t>{7});
  EXPECT_EQ(utils::split_dataset(plimsoll::range(10), {.right_size = 4.0}).first.cardinality(), 6);
  EXPECT_THROW(utils::split_dataset(plimsoll::range(10)), InvalidArgumentError);
  EXPECT_THROW(utils::split_dataset(plimsoll::range(10), {.left_size = 20.0}),
               InvalidArgumentError);
}

TEST(UtilsTest, ClearSessionForgetsNames) {
  clear_session();
  EXPECT_EQ(Dense({.units = 1})->name(), "dense");
  EXPECT_EQ(Dense({.units = 1})->name(), "dense_1");
  clear_session();
  EXPECT_EQ(Dense({.units = 1})->name(), "dense");
}

}  // namespace
}  // namespace plimsoll::keras
