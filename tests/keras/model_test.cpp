// Models: how they are put together, what they show, what they refuse, and classes of one's own.
#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::Dense;
constexpr Verbose kSilent = Verbose::kSilent;

std::vector<float> floats_of(const Nested& y) {
  return y.leaf().tensor().to_vector<float>();
}
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
// Weights of ones, so that results can be told by hand.
layers::Dense ones_layer(std::int64_t units, const std::string& name = "") {
  return layers::Dense({.units = units, .kernel_initializer = "ones"}, {.name = name});
}

TEST(FunctionalTest, SharedLayersHaveTheirWeightsOnce) {
  const Nested a = Input({3}), b = Input({3});
  const auto shared = ones_layer(2);
  auto model = Functional({a, b}, layers::Add()({shared(a), shared(b)}));
  EXPECT_EQ(model->weights().size(), 2U);
  EXPECT_EQ(floats_of(model({ones({1, 3}), ones({1, 3})})), (std::vector<float>{6, 6}));
  GradientTape tape;
  const Tensor y = reduce_sum(model({ones({1, 3}), ones({1, 3})}).leaf().tensor());
  EXPECT_EQ(tape.gradient(y, model->weights()[1]->raw()).to_vector<float>(),
            (std::vector<float>{2, 2}));
}

TEST(FunctionalTest, ListsAndDictionariesGoInAndOut) {
  const Nested a = Input({2}, {.name = "a"}), b = Input({2}, {.name = "b"});
  const Nested sum = a + b, product = a * b;
  const Tensor x = fill({1, 2}, 3), y = fill({1, 2}, 4);
  const Nested list = Functional({a, b}, {sum, product})({x, y});
  EXPECT_EQ(floats_of(list[0]), (std::vector<float>{7, 7}));
  EXPECT_EQ(floats_of(list[1]), (std::vector<float>{12, 12}));
  auto model = Functional(Nested::dict({{"a", a}, {"b", b}}),
                          Nested::dict({{"sum", sum}, {"product", product}}));
  // By name, in whichever order.
  const Nested dict = model(Nested::dict({{"b", y}, {"a", x}}));
  EXPECT_EQ(floats_of(*dict.find("sum")), (std::vector<float>{7, 7}));
  EXPECT_EQ(floats_of(*dict.find("product")), (std::vector<float>{12, 12}));
  const Nested predicted = model->predict(Nested::dict({{"a", x}, {"b", y}}), {.verbose = kSilent});
  EXPECT_EQ(floats_of(*predicted.find("product")), (std::vector<float>{12, 12}));
  EXPECT_THROW(model(Nested::dict({{"a", x}})), InvalidArgumentError);
}

TEST(FunctionalTest, ModelsInModelsAndFromTheMiddle) {
  const Nested in = Input({2});
  auto inner = Sequential({Input({2}), ones_layer(3, "one"), ones_layer(2, "two")});
  const Nested middle = inner(in);
  auto outer = Functional(in, ones_layer(1, "three")(middle));
  EXPECT_EQ(outer->weights().size(), 6U);
  EXPECT_EQ(floats_of(outer(ones({1, 2}))), (std::vector<float>{12}));
  // What follows a tensor in the middle is a model too, with the same weights.
  auto rest = Functional(middle, outer->outputs());
  EXPECT_EQ(rest->weights().size(), 2U);
  EXPECT_EQ(floats_of(rest(ones({1, 2}))), (std::vector<float>{2}));
  EXPECT_EQ(rest->weights()[0], outer->weights()[4]);
  // And what comes before it: features.
  auto features = Functional(in, middle);
  EXPECT_EQ(floats_of(features(ones({1, 2}))), (std::vector<float>{6, 6}));
  EXPECT_EQ(outer->get_layer("three")->name(), "three");
  EXPECT_THROW(outer->get_layer("four"), InvalidArgumentError);
  EXPECT_THROW(outer->get_layer(99), InvalidArgumentError);
}

TEST(FunctionalTest, Refusals) {
  const Nested a = Input({2}), b = Input({2});
  EXPECT_THROW(Functional(a, b + 1.0), InvalidArgumentError);  // does not follow from the input
  auto model = Functional(a, ones_layer(1)(a));
  EXPECT_THROW(model(ones({1, 3})), InvalidArgumentError);
  EXPECT_THROW(model({ones({1, 2}), ones({1, 2})}), InvalidArgumentError);
  const Nested twice = ones_layer(2, "same")(ones_layer(2, "same")(a));
  EXPECT_THROW(Functional(a, twice), InvalidArgumentError);
}

TEST(SummaryTest, ShowsLayersAndTotals) {
  auto model = Sequential({Input({4}), Dense({.units = 300}, {.name = "wide"}),
                           layers::BatchNormalization({}, {.name = "norm"}),
                           Dense({.units = 2}, {.name = "head"})});
  model->get_layer("head")->set_trainable(false);
  const std::string text = model->summary({.batch_size = 8, .show_trainable = true});
  for (const char* part :
       {"Layer (type)", "Output Shape", "Param #", "wide (Dense)", "(None, 300)", "1,500",
        "norm (BatchNormalization)", "1,200", "head (Dense)", "(None, 2)", "602"})
    expect_contains(text, part);
  expect_contains(text, "Total params: 3,302");
  expect_contains(text, "Trainable params: 2,100");
  expect_contains(text, "Non-trainable params: 1,202");
  expect_contains(Sequential({Dense({.units = 3}, {.name = "later"})})->summary(), "unbuilt");
}

TEST(TrainableTest, FrozenLayersStayAndTheStepIsSmaller) {
  const Tensor x = normal({64, 32}), y = normal({64, 1}, 2);
  const auto make = [](bool frozen) {
    auto model = Sequential({Input({32}), Dense({.units = 128}, {.name = "base"}),
                             Dense({.units = 1}, {.name = "head"})});
    if (frozen) model->get_layer("base")->set_trainable(false);
    model->compile({.optimizer = optimizers::Adam({.learning_rate = 0.01}), .loss = "mse"});
    return model;
  };
  auto frozen = make(true), whole = make(false);
  EXPECT_EQ(frozen->trainable_weights().size(), 2U);
  EXPECT_EQ(frozen->non_trainable_weights().size(), 2U);
  const std::vector<Tensor> before = frozen->get_weights();
  const FitPlan small = frozen->plan_fit(x, y), large = whole->plan_fit(x, y);
  EXPECT_LT(small.optimizer_bytes, large.optimizer_bytes);
  EXPECT_LT(small.arena_bytes, large.arena_bytes);
  frozen->fit(x, y, {.epochs = 2, .verbose = kSilent});
  const std::vector<Tensor> after = frozen->get_weights();
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(after[i].to_vector<float>() == before[i].to_vector<float>(), i < 2) << i;
  // Thawed, and compiled anew: it is trained.
  frozen->set_trainable(true);
  frozen->compile({.optimizer = "sgd", .loss = "mse"});
  frozen->fit(x, y, {.verbose = kSilent});
  EXPECT_NE(frozen->get_weights()[0].to_vector<float>(), before[0].to_vector<float>());
}

// A layer that punishes large outputs and shows their mean.
class Punishing : public Layer {
 public:
  using Layer::Layer;
  std::string class_name() const override { return "Punishing"; }
  Nested call(const Nested& inputs, const CallArgs&) override {
    const Tensor x = inputs;
    add_loss(reduce_mean(square(x)) * 0.5);
    add_metric(reduce_mean(x), "mean_output");
    return inputs;
  }
};

TEST(OwnLossTest, LossesAndMetricsOfLayersCount) {
  auto model = Sequential({Input({1}), std::make_shared<Punishing>()});
  model->compile({.loss = "mse"});
  const Tensor x = constant({2.0F, 4.0F}, {2, 1}), y = zeros({2, 1});
  const Logs logs = model->evaluate(x, y, {.verbose = kSilent});
  EXPECT_FLOAT_EQ(static_cast<float>(logs.at("loss")), 15);  // 10 of mse and half of it again
  EXPECT_FLOAT_EQ(static_cast<float>(logs.at("mean_output")), 3);
}

// By the virtual functions alone: structures in, tensors by name, options.
class Mixing : public Layer {
 public:
  using Layer::Layer;
  std::string class_name() const override { return "Mixing"; }
  std::vector<std::string> call_argument_names() const override { return {"scale"}; }
  void build(const Shapes& input) override {
    w_ =
        add_weight({.name = "w", .shape = {input.find("left")->leaf()[-1]}, .initializer = "ones"});
  }
  Nested call(const Nested& inputs, const CallArgs& args) override {
    const Tensor left = *inputs.find("left"), right = inputs.find("right")->list()[0];
    Tensor sum = left * w_->value() + right;
    if (const Nested* scale = args.find("scale")) sum = sum * scale->leaf().tensor();
    if (args.option("negate", false)) sum = -sum;
    return Nested::dict({{"sum", sum}, {"parts", Nested{left, right}}});
  }
  VariablePtr w_;
};

class Wrapping : public Model {
 public:
  Wrapping() {
    track(mixing_);
    track(head_);
  }
  std::string class_name() const override { return "Wrapping"; }
  Nested call(const Nested& inputs, const CallArgs& args) override {
    const Nested mixed = (*mixing_)(inputs, {.training = args.training});
    return head_(*mixed.find("sum"));
  }
  const std::shared_ptr<Mixing> mixing_ = std::make_shared<Mixing>();
  const layers::Dense head_ = ones_layer(1);
};

TEST(SubclassTest, StructuresNamedTensorsAndOptions) {
  auto layer = std::make_shared<Mixing>();
  const Tensor left = fill({1, 2}, 1), right = fill({1, 2}, 2), scale = fill({1, 2}, 10);
  const Nested inputs = Nested::dict({{"left", left}, {"right", Nested::List{right}}});
  EXPECT_EQ(floats_of(*(*layer)(inputs).find("sum")), (std::vector<float>{3, 3}));
  const Nested scaled = (*layer)(inputs, {.named = Nested::dict({{"scale", scale}}),
                                          .options = Json::object({{"negate", true}})});
  EXPECT_EQ(floats_of(*scaled.find("sum")), (std::vector<float>{-30, -30}));
  EXPECT_EQ(scaled.find("parts")->size(), 2U);
  EXPECT_EQ(layer->weights().size(), 1U);
  // The same as a node of a functional model.
  const Nested a = Input({2}), b = Input({2}), s = Input({2});
  const Nested made = (*layer)(
      Nested::dict({{"left", a}, {"right", Nested::List{b}}}),
      {.named = Nested::dict({{"scale", s}}), .options = Json::object({{"negate", true}})});
  auto model = Functional({a, b, s}, *made.find("sum"));
  EXPECT_EQ(floats_of(model({left, right, scale})), (std::vector<float>{-30, -30}));
}

TEST(SubclassTest, ModelsAreTrained) {
  auto model = std::make_shared<Wrapping>();
  model->compile({.optimizer = optimizers::SGD({.learning_rate = 0.05}), .loss = "mse"});
  const Nested x =
      Nested::dict({{"left", normal({32, 2})}, {"right", Nested::List{normal({32, 2}, 5)}}});
  const Tensor y = normal({32, 1}, 7);
  const auto history = model->fit(x, y, {.epochs = 20, .verbose = kSilent});
  EXPECT_LT(history->at("loss").back(), history->at("loss").front());
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
  EXPECT_EQ(model->weights().size(), 3U);
  EXPECT_EQ(model->predict(x, {.verbose = kSilent}).leaf().shape(), (PartialShape{32, 1}));
}

// A step of one's own: trained by twice the loss, and shown under another name.
class OwnStep : public SequentialModel {
 public:
  using SequentialModel::SequentialModel;
  StepLogs train_step(const Nested& data) override {
    GradientTape tape;
    const Nested predicted = (*this)(data[0], {.training = true});
    Tensor loss = compute_loss(data[0], data[1], predicted, {}) * 2.0;
    const auto weights = trainable_weights();
    std::vector<Tensor> gradients;
    for (const VariablePtr& v : weights) gradients.push_back(tape.gradient(loss, v->raw()));
    optimizer()->apply(gradients);
    return {{"twice", loss}};
  }
};

TEST(SubclassTest, StepsOfOnesOwn) {
  auto model = std::make_shared<OwnStep>(std::vector<SequentialItem>{
      Input({1}), Dense({.units = 1, .use_bias = false, .kernel_initializer = "ones"})});
  model->compile({.optimizer = optimizers::SGD({.learning_rate = 0.25}), .loss = "mse"});
  const Logs logs = model->train_on_batch(ones({2, 1}), zeros({2, 1}));
  EXPECT_EQ(logs.size(), 1U);
  EXPECT_FLOAT_EQ(static_cast<float>(logs.at("twice")), 2);
  EXPECT_FLOAT_EQ(model->get_weights()[0].to_vector<float>()[0], 0);  // 1 - 0.25 * 2 * 2
}

}  // namespace
}  // namespace plimsoll::keras
