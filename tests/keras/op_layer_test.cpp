// Operators on KerasTensors and tensors, and the ops that files have as nodes.
#include "keras/op_layer.h"

#include <gtest/gtest.h>

#include "keras/node.h"
#include "ops/error_text.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

const Node& node_of(const Nested& value) {
  return *value.leaf().symbolic().state()->node;
}

TEST(OpLayerTest, OperatorsOnKerasTensorsAreNodes) {
  const Nested x = Input({3}), y = Input({1});
  const Nested sum = x + y;
  EXPECT_EQ(sum.leaf().shape(), (PartialShape{kNone, 3}));
  const Node& node = node_of(sum);
  EXPECT_EQ(node.layer->class_name(), "Add");
  EXPECT_EQ(node.layer->module(), "keras.src.ops.numpy");
  EXPECT_EQ(node.layer->get_config(), Json::object({{"name", node.layer->name()}}));
  EXPECT_EQ(serialize_keras_object(node.layer.get()).at("registered_name").as_string(), "Add");
  EXPECT_EQ(node.input_tensors().size(), 2U);
  ASSERT_TRUE(node.args.find("x2"));

  EXPECT_EQ(node_of(x * 2.0).args.options, Json::object({{"x2", 2.0}}));
  EXPECT_EQ(node_of(2.0 - x).args.options, Json::object({{"x1", 2.0}}));
  EXPECT_EQ(node_of(x / y).layer->class_name(), "TrueDivide");
  EXPECT_EQ(node_of(-x).layer->class_name(), "Negative");
}

TEST(OpLayerTest, OperatorsOnTensorsCompute) {
  const Nested x = constant({1.0F, 2.0F}), y = constant({3.0F, 5.0F});
  const auto values = [](const Nested& n) { return n.leaf().tensor().to_vector<float>(); };
  EXPECT_EQ(values(x + y), (std::vector<float>{4, 7}));
  EXPECT_EQ(values(x - y), (std::vector<float>{-2, -3}));
  EXPECT_EQ(values(x * y), (std::vector<float>{3, 10}));
  EXPECT_EQ(values(y / x), (std::vector<float>{3, 2.5}));
  EXPECT_EQ(values(1.0 - x), (std::vector<float>{0, -1}));
  EXPECT_EQ(values(4.0 / x), (std::vector<float>{4, 2}));
  EXPECT_EQ(values(-x), (std::vector<float>{-1, -2}));
  const Nested n = constant({1, 2});
  EXPECT_EQ((n + 0.5).leaf().dtype(), DType::kFloat32);
  EXPECT_EQ((n / n).leaf().dtype(), DType::kFloat32);
  EXPECT_EQ((n + x).leaf().dtype(), DType::kFloat32);
  EXPECT_EQ((Nested(cast(x, float16)) + 1.0).leaf().dtype(), DType::kFloat16);
}

TEST(OpLayerTest, OpsAndLayersOfOneNameAreToldApart) {
  const auto of = [](const char* module, const char* class_name) {
    return Layer::get(Json::object({{"module", module},
                                    {"class_name", class_name},
                                    {"config", Json::object({{"name", "a"}})}}));
  };
  EXPECT_TRUE(std::dynamic_pointer_cast<OpLayer>(of("keras.src.ops.numpy", "Add")));
  EXPECT_FALSE(std::dynamic_pointer_cast<OpLayer>(of("keras.layers", "Add")));
  EXPECT_EQ(of("keras.src.ops.numpy", "Power")->name(), "a");
  EXPECT_THROW(of("keras.src.ops.numpy", "Einsum"), UnimplementedError);
  const LayerPtr power = of("keras.src.ops.numpy", "Power");
  const Tensor y = (*power)(constant({3}), {.options = Json::object({{"x2", 2}})});
  EXPECT_EQ(y.to_vector<std::int32_t>(), (std::vector<std::int32_t>{9}));
  EXPECT_INVALID((*power)(constant({3})), "Power was called with one argument, it takes two");
}

}  // namespace
}  // namespace plimsoll::keras
