#include "plimsoll/keras/classes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

TEST(ClassesTest, ListsMembersWithTheirDefaults) {
  const Json dense = default_config(ClassKind::kLayer, "Dense");
  std::vector<std::string> names;
  for (const auto& [name, value] : dense.as_object()) names.push_back(name);
  const auto at = [&](const char* name) { return std::ranges::find(names, name) - names.begin(); };
  EXPECT_LT(at("units"), at("activation"));
  EXPECT_LT(at("activation"), at("use_bias"));
  EXPECT_EQ(dense.at("use_bias"), Json(true));
  EXPECT_EQ(dense.at("kernel_initializer").at("class_name"), Json("GlorotUniform"));
  EXPECT_EQ(default_config(ClassKind::kOptimizer, "SGD").at("momentum").as_double(), 0);
  EXPECT_EQ(default_callback_config("EarlyStopping").at("monitor"), Json("val_loss"));
  EXPECT_THROW(default_config(ClassKind::kLayer, "NoSuch"), NotFoundError);
}

TEST(ClassesTest, MakesEveryKind) {
  for (const ClassKind kind : {ClassKind::kLayer, ClassKind::kOptimizer, ClassKind::kLoss,
                               ClassKind::kMetric, ClassKind::kInitializer, ClassKind::kRegularizer,
                               ClassKind::kConstraint, ClassKind::kSchedule})
    EXPECT_FALSE(class_names(kind).empty());
  const auto dense = make_class(ClassKind::kLayer, "Dense", Json::object({{"units", 3}}));
  EXPECT_EQ(dense->class_name(), "Dense");
  EXPECT_EQ(class_alias(ClassKind::kRegularizer, "L1L2"), "l1_l2");
  for (const std::string& name : callback_names())
    EXPECT_TRUE(default_callback_config(name).is_object()) << name;
  const auto stop = make_callback("EarlyStopping", Json::object({{"patience", 3}}));
  EXPECT_NE(std::dynamic_pointer_cast<EarlyStoppingCallback>(stop), nullptr);
  EXPECT_THROW(make_callback("EarlyStopping", Json::object({{"patients", 3}})),
               InvalidArgumentError);
}

TEST(ClassesTest, SaysWhatIsWanted) {
  std::string wanted;
  const std::map<std::string, saving::ObjectMaker> makers{
      {"mine", [&](const Json&) -> std::shared_ptr<Object> {
         wanted = wanted_kind();
         return nullptr;
       }}};
  const CustomObjectScope scope(makers);
  EXPECT_THROW(Loss::get(Json("mine")), InvalidArgumentError);
  EXPECT_EQ(wanted, "loss");
  EXPECT_THROW(Initializer::get(Json("mine")), InvalidArgumentError);
  EXPECT_EQ(wanted, "initializer");
  EXPECT_STREQ(wanted_kind(), "");
}

TEST(ClassesTest, FindsActivationsOfUsers) {
  const std::map<std::string, saving::ObjectMaker> makers{
      {"twice", [](const Json&) -> std::shared_ptr<Object> {
         return Layer::get(Json::object(
             {{"class_name", "Rescaling"}, {"config", Json::object({{"scale", 2.0}})}}));
       }}};
  Activation activation;
  EXPECT_THROW(from_config(Json("twice"), activation), InvalidArgumentError);
  const CustomObjectScope scope(makers);
  from_config(Json("twice"), activation);
  EXPECT_EQ(activation(fill({1}, 3.0)).to_vector<float>()[0], 6);
}

std::string printed;

TEST(ClassesTest, PrintsWhereItIsTold) {
  printed.clear();
  utils::set_printer([](const std::string& text) { printed += text; });
  const auto model = Sequential({Input({2}), layers::Dense({.units = 1})});
  model->compile({.optimizer = "sgd", .loss = "mse"});
  model->fit(ones({4, 2}), ones({4, 1}), {.epochs = 2, .verbose = Verbose::kLine});
  utils::set_printer(nullptr);
  EXPECT_NE(printed.find("Epoch 2/2"), std::string::npos) << printed;
}

TEST(ClassesTest, MetricsOfABatchAreThatBatchs) {
  const auto model = Sequential({Input({1}), layers::Dense({.units = 1})});
  model->compile({.optimizer = optimizers::SGD({.learning_rate = 0.0}), .loss = "mse"});
  model->layers()[0]->set_weights(std::vector<Tensor>{zeros({1, 1}), zeros({1})});
  EXPECT_NEAR(model->train_on_batch(ones({2, 1}), ones({2, 1})).at("loss"), 1, 1e-6);
  EXPECT_NEAR(model->train_on_batch(ones({2, 1}), zeros({2, 1})).at("loss"), 0, 1e-6);
  EXPECT_NEAR(model->test_on_batch(ones({2, 1}), ones({2, 1})).at("loss"), 1, 1e-6);
}

}  // namespace
}  // namespace plimsoll::keras
