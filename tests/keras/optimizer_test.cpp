// Optimizers: what a step costs, that none of the gradients waits for the others, and what they say
// to wrong use. Their numbers are compared with Keras's in tests/oracle.
#include <gtest/gtest.h>

#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/losses.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"
#include "runtime/fresh.h"

namespace plimsoll::keras {
namespace {

constexpr int kNumLayers = 8;
constexpr std::int64_t kSize = 256;
constexpr std::uint64_t kWeightBytes = kSize * kSize * 4;

std::vector<VariablePtr> make_weights(int num = kNumLayers) {
  std::vector<VariablePtr> weights;
  for (int i = 0; i < num; ++i) {
    const std::string name = "dense_" + std::to_string(i) + "/kernel";
    weights.push_back(std::make_shared<Variable>(random::normal({kSize, kSize}, 0, 0.05),
                                                 VariableInfo{.name = "kernel", .path = name}));
  }
  return weights;
}

// A training step of a chain of dense layers, as a function.
Function make_step(const std::vector<VariablePtr>& weights, const OptimizerPtr& optimizer) {
  optimizer->build(weights);
  return Function([=](std::span<const Tensor> in) -> std::vector<Tensor> {
    GradientTape tape;
    Tensor x = in[0];
    std::vector<Tensor> sources;
    for (const VariablePtr& w : weights) {
      sources.push_back(w->raw().value());
      x = tanh(matmul(x, sources.back()));
    }
    const Tensor loss = optimizer->scale_loss(reduce_mean(losses::mean_squared_error(in[1], x)));
    optimizer->apply(tape.gradient(std::span(&loss, 1), sources));
    return {loss};
  });
}

MemoryPlan plan_of(const OptimizerPtr& optimizer) {
  const auto weights = make_weights();
  return make_step(weights, optimizer).plan({{float32, {4, kSize}}, {float32, {4, kSize}}});
}

std::uint64_t optimizer_bytes(const MemoryPlan& plan) {
  std::uint64_t sum = 0;
  for (const PlannedBuffer& b : plan.buffers) {
    if (b.place == PlannedBuffer::Place::kVariable && b.tag == memory::Tag::kOptimizer)
      sum += b.nbytes;
  }
  return sum;
}

constexpr std::uint64_t kScalarBytes = 8 + 4;  // iteration and learning_rate

TEST(OptimizerTest, SlotsAreInThePlan) {
  const std::uint64_t all = kNumLayers * kWeightBytes;
  EXPECT_EQ(optimizer_bytes(plan_of(optimizers::SGD())), kScalarBytes);
  EXPECT_EQ(optimizer_bytes(plan_of(optimizers::SGD({.momentum = 0.9}))), all + kScalarBytes);
  EXPECT_EQ(optimizer_bytes(plan_of(optimizers::Adam())), 2 * all + kScalarBytes);
  EXPECT_EQ(optimizer_bytes(plan_of(optimizers::Adam({.amsgrad = true}, {.use_ema = true}))),
            4 * all + kScalarBytes);
}

TEST(OptimizerTest, GradientsDoNotPileUp) {
  const std::pair<const char*, OptimizerPtr> all[] = {
      {"sgd", optimizers::SGD()},
      {"momentum", optimizers::SGD({.momentum = 0.9, .nesterov = true})},
      {"adam", optimizers::Adam()},
      {"amsgrad", optimizers::Adam({.amsgrad = true})},
      {"clipnorm", optimizers::Adam({}, {.clipnorm = 1.0})},
      {"clipvalue", optimizers::Adam({}, {.clipvalue = 1.0})},
      {"weight_decay", optimizers::Adam({}, {.weight_decay = 0.1})},
      {"ema", optimizers::Adam({}, {.use_ema = true})},
      {"ema_overwrite", optimizers::Adam({}, {.use_ema = true, .ema_overwrite_frequency = 3})},
      {"loss_scale", optimizers::Adam({}, {.loss_scale_factor = 8.0})},
      {"accumulation", optimizers::Adam({}, {.gradient_accumulation_steps = 4})},
  };
  for (const auto& [name, optimizer] : all) {
    const MemoryPlan plan = plan_of(optimizer);
    EXPECT_LT(plan.arena_bytes, 4 * kWeightBytes) << name;
  }
  // Here all of them are needed before the first can be used.
  EXPECT_GE(plan_of(optimizers::SGD({}, {.global_clipnorm = 1.0})).arena_bytes,
            kNumLayers * kWeightBytes);
}

// A function runs on one device; integers as small as the counter of steps would be on the host.
class OptimizerDeviceTest : public FreshTest {};

TEST_F(OptimizerDeviceTest, VariablesFollowTheWeights) {
  simulate("rtx-3060-12gb");
  const OptimizerPtr optimizer = optimizers::Adam({}, {.gradient_accumulation_steps = 2});
  EXPECT_EQ(optimizer->iterations(), 0);  // makes it, before there are weights
  const auto weights = make_weights(2);
  const Function step = make_step(weights, optimizer);
  const Tensor x = random::normal({4, kSize}), y = random::normal({4, kSize});
  const Tensor in[] = {x, y};
  const float first = step(in)[0].item<float>();
  float last = first;
  for (int i = 0; i < 9; ++i) last = step(in)[0].item<float>();
  EXPECT_LT(last, first);
  EXPECT_EQ(optimizer->iterations(), 5);
  for (const VariablePtr& v : optimizer->variables())
    EXPECT_EQ(v->raw().value().device(), weights[0]->raw().value().device()) << v->path();
  EXPECT_NE(weights[0]->raw().value().device().find("GPU:0"), std::string::npos);
}

TEST(OptimizerTest, TheRateChangesWithoutANewTrace) {
  const auto weights = make_weights(1);
  const OptimizerPtr optimizer = optimizers::SGD({.learning_rate = 0.5});
  const Function step = make_step(weights, optimizer);
  const Tensor in[] = {ones({4, kSize}), zeros({4, kSize})};
  step(in);
  optimizer->set_learning_rate(0);
  const std::vector<float> before = weights[0]->value().to_vector<float>();
  step(in);
  EXPECT_EQ(weights[0]->value().to_vector<float>(), before);
  EXPECT_EQ(step.num_traces(), 1);
  EXPECT_EQ(optimizer->get_config().at("learning_rate").as_double(), 0);
  EXPECT_EQ(optimizer->iterations(), 2);
}

TEST(OptimizerTest, WrongUseIsAnError) {
  const auto weights = make_weights(2), others = make_weights(1);
  const Tensor gradient = ones({kSize, kSize});
  const OptimizerPtr sgd = optimizers::SGD();
  const auto apply = [&](std::vector<Tensor> gradients) { sgd->apply(gradients); };
  EXPECT_NE(message_of<FailedPreconditionError>([&] {
              apply({gradient});
            }).find("must already be built on a list of variables"),
            std::string::npos);
  sgd->build(weights);
  sgd->build(weights);  // the same: nothing happens
  EXPECT_NE(message_of<InvalidArgumentError>([&] { sgd->build(others); })
                .find("Unknown variable: dense_0/kernel. This optimizer can only be called for the "
                      "variables it was originally built with"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([&] {
              apply({gradient});
            }).find("Received a list of 1 gradients, but the optimizer is tracking 2 trainable"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([&] {
              apply({{}, {}});
            }).find("No gradients provided for any variable"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([&] {
              apply({gradient, ones({2})});
            }).find("dense_1/kernel' has shape [2]"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] {
              optimizers::SGD({}, {.clipnorm = 1.0, .clipvalue = 2.0});
            }).find("clipnorm=1, clipvalue=2, global_clipnorm=None"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] {
              optimizers::SGD({}, {.gradient_accumulation_steps = 1});
            }).find("must be an integer >= 2. Received: gradient_accumulation_steps=1"),
            std::string::npos);
  EXPECT_NE(message_of<InvalidArgumentError>([] { Optimizer::get("adamm"); }).find("Did you mean"),
            std::string::npos);
}

}  // namespace
}  // namespace plimsoll::keras
