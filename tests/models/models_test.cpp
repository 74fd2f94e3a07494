// The benchmarks' models: losses of the first steps as TensorFlow computes them.
#include "models/models.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"

namespace plimsoll::bench {
namespace {

// What bench/models/peer.py gives in TensorFlow 2.21 on one thread, for a batch of 2.
struct Golden {
  const char* model;
  const char* optimizer;
  std::vector<double> losses;
  double tolerance;  // relative; rounding errors grow from step to step
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.model << " " << golden.optimizer;
}

class ModelLossTest : public testing::TestWithParam<Golden> {};

TEST_P(ModelLossTest, IsTensorFlows) {
  const Golden& golden = GetParam();
  const Model model =
      make_model(golden.model, 2, {.optimizer = golden.optimizer, .dropout = false});
  std::vector<Tensor> loss(1);
  for (const double expected : golden.losses) {
    model.step.run(model.inputs, loss);
    EXPECT_NEAR(static_cast<double>(loss[0].item<float>()), expected, golden.tolerance * expected);
  }
  EXPECT_EQ(model.step.num_traces(), 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, ModelLossTest,
    testing::Values(Golden{"mlp", "sgd", {2.27907443, 2.26189876, 2.22980261}, 1e-5},
                    Golden{"mlp", "adam", {2.27907443, 1.23779893, 0.42417383}, 1e-4},
                    Golden{"cnn", "sgd", {1.79986954, 1.22239161, 0.67993802}, 1e-5},
                    Golden{"cnn", "adam", {1.79986954, 0.55579275, 0.26265347}, 1e-4},
                    Golden{"transformer", "sgd", {2.18544793, 2.03053379, 1.76277697}, 1e-5},
                    Golden{"transformer", "adam", {2.18544793, 0.29589248, 0.25060657}, 1e-4},
                    Golden{"lstm", "sgd", {2.40781832, 2.40530109, 2.40052223}, 1e-5},
                    Golden{"lstm", "adam", {2.40781832, 2.15665913, 1.91425884}, 1e-4},
                    Golden{"mobilenet_v2", "sgd", {6.90808010, 6.49249649}, 1e-3},
                    Golden{"resnet50", "sgd", {6.83305168}, 1e-4}),
    [](const auto& c) { return std::string(c.param.model) + "_" + c.param.optimizer; });

TEST(ModelTest, ThePlanCountsVariablesAndSlots) {
  const Model model = make_model("mlp", 4, {.optimizer = "adam"});
  std::uint64_t nbytes = 0;
  std::vector<keras::VariablePtr> variables = model.network->weights();
  for (const auto& v : model.optimizer->variables()) variables.push_back(v);
  for (const auto& v : variables)
    nbytes += static_cast<std::uint64_t>((v->nbytes() + 63) / 64 * 64);
  const MemoryPlan plan = model.step.plan(model.input_specs);
  EXPECT_EQ(plan.variable_bytes, nbytes);
  EXPECT_EQ(plan.input_bytes, 4U * 784 * 4 + 64);
  EXPECT_EQ(plan.arena_bytes, plan.lower_bound_bytes);
}

TEST(ModelTest, AnUnknownNameSaysWhichThereAre) {
  try {
    make_model("resnet", 1);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("resnet50"), std::string::npos);
  }
}

}  // namespace
}  // namespace plimsoll::bench
