// Functions: traced results equal eager ones, plans are kept, and errors change nothing.
#include "plimsoll/function.h"

#include <gtest/gtest.h>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

Tensor ramp(const Shape& shape, float scale = 0.1F) {
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = scale * (static_cast<float>(i % 17) - 8.0F);
  return constant<float>(values, shape);
}

class FunctionTest : public FreshTest {};

TEST_F(FunctionTest, ComputesWhatTheBodySays) {
  auto f = tf::function(
      [](const Tensor& x, const Tensor& y) { return tf::nn::relu(tf::matmul(x, y) + 1.0F); });
  const Tensor x = ramp({3, 4}), y = ramp({4, 5}, 0.3F);
  const Tensor eager = tf::nn::relu(tf::matmul(x, y) + 1.0F);
  EXPECT_EQ(f(x, y).to_vector<float>(), eager.to_vector<float>());
  EXPECT_EQ(f(x, y).to_vector<float>(), eager.to_vector<float>());
  EXPECT_EQ(f.num_traces(), 1);
  f(ramp({2, 4}), y);
  EXPECT_EQ(f.num_traces(), 2);
}

TEST_F(FunctionTest, TrainsAsEagerlyBitForBit) {
  const auto train = [](bool traced) {
    Variable w(ramp({6, 8}), {.name = "w"}), b(ramp({8}), {.name = "b"});
    Variable m(tf::zeros({6, 8}), {.name = "m", .tag = memory::Tag::kOptimizer});
    const auto body = [&](const Tensor& x, const Tensor& y) {
      GradientTape tape;
      const Tensor h = tf::nn::relu(tf::matmul(x, w) + b.value());
      const Tensor loss = tf::reduce_mean(tf::square(h - y));
      const Variable* const variables[] = {&w, &b};
      const auto gradients = tape.gradient(loss, variables);
      m.assign(m.value() * 0.9F + gradients[0]);
      w.assign_sub(m.value() * 0.1F);
      b.assign_sub(gradients[1] * 0.1F);
      return loss;
    };
    auto step = tf::function(body);
    std::vector<float> losses;
    for (int i = 0; i < 5; ++i) {
      const Tensor x = ramp({4, 6}, 0.1F * static_cast<float>(i + 1)), y = ramp({4, 8});
      losses.push_back((traced ? step(x, y) : body(x, y)).item<float>());
    }
    for (const float v : w.value().to_vector<float>()) losses.push_back(v);
    return losses;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST_F(FunctionTest, APlanRunsAndReservesNothing) {
  Variable w(ramp({64, 64}));
  bool was_run = false;
  auto f = tf::function([&](const Tensor& x) {
    was_run = true;
    return tf::matmul(x, w) + 1.0F;
  });
  const auto before = tf::memory::stats("CPU:0").in_use;
  const MemoryPlan plan = tf::plan(f, {{float32, {128, 64}}});
  EXPECT_TRUE(was_run);  // traced
  EXPECT_EQ(tf::memory::stats("CPU:0").in_use, before);
  EXPECT_EQ(plan.output_bytes, 128U * 64 * 4);
  EXPECT_EQ(plan.variable_bytes, 64U * 64 * 4);
  EXPECT_EQ(plan.input_bytes, 128U * 64 * 4);
  EXPECT_GE(plan.peak_bytes, plan.reserve_bytes());
  EXPECT_NE(plan.to_string().find("memory plan of 'function'"), std::string::npos);
}

TEST_F(FunctionTest, TensorsReadBeforeDoNotChange) {
  Variable w(tf::zeros({4}));
  auto f = tf::function([&] { w.assign_add(tf::ones({4})); });
  const Tensor before = w.value();
  f();
  f();
  EXPECT_EQ(before.to_vector<float>(), std::vector<float>(4, 0.0F));
  EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(4, 2.0F));
}

TEST_F(FunctionTest, VariablesCanSwap) {
  Variable a(tf::zeros({2})), b(tf::ones({2}));
  auto f = tf::function([&] {
    const Tensor old = a.value();
    a.assign(b.value());
    b.assign(old);
    return std::vector<Tensor>{a.value(), b.value()};
  });
  const auto out = f();
  EXPECT_EQ(out[0].to_vector<float>(), std::vector<float>(2, 1.0F));
  EXPECT_EQ(out[1].to_vector<float>(), std::vector<float>(2, 0.0F));
  EXPECT_EQ(a.value().to_vector<float>(), std::vector<float>(2, 1.0F));
  EXPECT_EQ(b.value().to_vector<float>(), std::vector<float>(2, 0.0F));
}

TEST_F(FunctionTest, RandomNumbersDifferFromRunToRun) {
  auto f = tf::function([] { return tf::random::uniform({8}); });
  EXPECT_NE(f().to_vector<float>(), f().to_vector<float>());
}

TEST_F(FunctionTest, BranchingOnAValueSaysWhatToUse) {
  auto f = tf::function(
      [](const Tensor& x) { return tf::reduce_sum(x).item<float>() > 0 ? x : tf::negative(x); });
  EXPECT_NE(message_of<FailedPreconditionError>([&] { f(ramp({2})); }).find("tf::cond"),
            std::string::npos);
}

TEST_F(FunctionTest, OutOfMemoryNamesBuffersAndTheBatchThatFits) {
  settings::set("cpu_limit", "8MiB");
  Variable w(ramp({256, 1024}));
  auto f = tf::function(
      [&](const Tensor& x) {
        tf::name_scope scope("dense");
        return tf::reduce_sum(tf::nn::gelu(tf::matmul(x, w)));
      },
      {.name = "step"});
  const Tensor x = ramp({2048, 256});
  const auto before = tf::memory::stats("CPU:0").in_use;
  const std::string message = message_of<ResourceExhaustedError>([&] { f(x); });
  EXPECT_NE(message.find("step"), std::string::npos) << message;
  EXPECT_NE(message.find("MatMul [2048,1024] dense"), std::string::npos) << message;
  EXPECT_NE(message.find("would fit: batch "), std::string::npos) << message;
  EXPECT_LE(tf::memory::stats("CPU:0").in_use, before);
  f(ramp({256, 256}));
}

TEST_F(FunctionTest, AKernelsErrorLeavesVariablesAsTheyWere) {
  Variable w(tf::zeros({3}));
  auto f = tf::function([&](const Tensor& index) {
    w.assign_add(tf::ones({3}));
    return tf::gather(w.value(), index);
  });
  EXPECT_THROW(f(constant<std::int32_t>({7})), InvalidArgumentError);
  EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(3, 0.0F));
  EXPECT_EQ(f(constant<std::int32_t>({1})).item<float>(), 1.0F);
}

}  // namespace
}  // namespace plimsoll
