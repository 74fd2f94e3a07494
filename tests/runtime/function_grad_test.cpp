// Functions under a tape, steps with gradients of their own, jacobians.
#include "plimsoll/control_flow.h"
#include "plimsoll/custom_gradient.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

using Floats = std::vector<float>;

class FunctionGradTest : public FreshTest {};
class CustomGradientTest : public FreshTest {};
class JacobianTest : public FreshTest {};

TEST_F(FunctionGradTest, IsOneStepWithTheGradientsOfItsOps) {
  Variable w(constant({2.0F, 3.0F}));
  int num_traces = 0;
  const auto f = function([&](const Tensor& x) {
    ++num_traces;
    return std::vector<Tensor>{x * x * w.value(), x + x};
  });
  for (int i = 0; i < 3; ++i) {
    const Tensor x = constant({1.0F, static_cast<float>(i)});
    GradientTape tape;
    tape.watch(x);
    const std::vector<Tensor> out = f(x);
    const GradientTape::Source sources[] = {{.tensor = x}, {.variable = &w}};
    const std::vector<Tensor> made = tape.gradient(out, sources, {});
    const auto z = static_cast<float>(i);
    EXPECT_EQ(made[0].to_vector<float>(), Floats({2 * 1 * 2 + 2, 2 * z * 3 + 2}));
    EXPECT_EQ(made[1].to_vector<float>(), Floats({1, z * z}));
  }
  EXPECT_EQ(num_traces, 1);
}

TEST_F(FunctionGradTest, ReadsTheValuesOfThen) {
  Variable w(constant({2.0F}));
  const auto f = function([&](const Tensor& x) {
    const Tensor y = x * w.value() * w.value();
    w.assign(w.value() * 5.0F);
    return y;
  });
  GradientTape tape;
  const Tensor y = f(constant({3.0F}));
  w.assign(constant({100.0F}));
  const GradientTape::Source source{.variable = &w};
  EXPECT_EQ(y.to_vector<float>(), Floats({12}));
  EXPECT_EQ(tape.gradient(std::span(&y, 1), std::span(&source, 1), {})[0].to_vector<float>(),
            Floats({12}));
}

TEST_F(FunctionGradTest, WeightsAreNotCopied) {
  Variable w(ones({512, 512}));
  const auto f = function([&](const Tensor& x) { return matmul(x, w); });
  const Tensor x = ones({1, 512});
  GradientTape tape;
  tape.watch(x);
  const std::uint64_t before = memory::stats().in_use;
  const Tensor y = f(x);
  // The arena and the result; not a second copy of a MiB.
  EXPECT_LT(memory::stats().in_use - before, 512U << 10);
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), Floats(512, 512));
}

TEST_F(FunctionGradTest, WhatTheTapeKeepsGoesWithIt) {
  const auto f = function([](const Tensor& x) { return reduce_sum(exp(x) * exp(x)); });
  const Tensor x = ones({1 << 18});
  {
    GradientTape tape;
    tape.watch(x);
    f(x);
    f.trim();
    EXPECT_GE(memory::stats("CPU:0").by_tag[static_cast<int>(memory::Tag::kActivations)],
              2 * (4U << 18));
  }
  f.trim();
  EXPECT_EQ(memory::stats("CPU:0").by_tag[static_cast<int>(memory::Tag::kActivations)], 4U << 18);
}

TEST_F(FunctionGradTest, AGradientIsSeenByATapeThatBeganLater) {
  const auto f = function([](const Tensor& x) { return x * x * x; });
  const Tensor x = constant({2.0F});
  GradientTape first;
  first.watch(x);
  const Tensor y = f(x);
  first.stop();
  GradientTape second;
  second.watch(x);
  const Tensor dy = first.gradient(y, x);
  EXPECT_EQ(dy.to_vector<float>(), Floats({12}));
  EXPECT_TRUE(second.gradient(dy, x).is_valid());
}

TEST_F(FunctionGradTest, SeveralTapesSeeEachOp) {
  const auto f = function([](const Tensor& x) { return x * x * x; });
  const Tensor x = constant({2.0F});
  GradientTape outer;
  outer.watch(x);
  Tensor dy;
  {
    GradientTape inner;
    inner.watch(x);
    dy = inner.gradient(f(x), x);
  }
  EXPECT_EQ(outer.gradient(dy, x).to_vector<float>(), Floats({12}));
}

TEST_F(FunctionGradTest, AResultMayBeAnInputOrTwiceTheSame) {
  const auto f = function([](const Tensor& x) {
    const Tensor y = x * x;
    return std::vector<Tensor>{x, y, y};
  });
  const Tensor x = constant({3.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const std::vector<Tensor> out = f(x);
  EXPECT_EQ(tape.gradient(out[0], x).to_vector<float>(), Floats({1}));
  EXPECT_EQ(tape.gradient(out[2], x).to_vector<float>(), Floats({6}));
  EXPECT_EQ(tape.gradient(out, std::span(&x, 1))[0].to_vector<float>(), Floats({13}));
}

TEST_F(FunctionGradTest, WhatDoesNotFitRunsNothing) {
  memory::set_budget("16MiB");
  Variable count(zeros({1}), {.trainable = false});
  const auto f = function([&](const Tensor& x) {
    count.assign_add(ones({1}));
    return reduce_sum(exp(tile(x, {16})));
  });
  const Tensor x = ones({1 << 18});
  GradientTape tape;
  tape.watch(x);
  EXPECT_THROW(f(x), ResourceExhaustedError);
  EXPECT_EQ(count.value().to_vector<float>(), Floats({0}));
  EXPECT_TRUE(f(ones({8})).is_valid());
}

Tensor scaled(const Tensor& x, float factor) {
  return custom_gradient(std::span(&x, 1), [&]() -> CustomStep {
    return {{x}, [factor](std::span<const Tensor> upstream) {
              return std::vector<Tensor>{upstream[0] * factor};
            }};
  })[0];
}

TEST_F(CustomGradientTest, IsTakenInPlaceOfTheOps) {
  const auto run = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(scaled(x * x, 7) * 2.0F, x);
  };
  const Tensor x = constant({3.0F});
  EXPECT_EQ(run(x).to_vector<float>(), Floats({84}));
  EXPECT_EQ(function(run)(x).to_vector<float>(), Floats({84}));
}

TEST_F(CustomGradientTest, InLoopsThatAreDifferentiatedItSaysSo) {
  const auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = map_fn([](const Tensor& row) { return scaled(row, 2); }, x);
    return tape.gradient(y, x);
  });
  EXPECT_THROW(f(ones({3})), UnimplementedError);
  const auto forward = function(
      [](const Tensor& x) { return map_fn([](const Tensor& row) { return scaled(row, 2); }, x); });
  EXPECT_EQ(forward(ones({2})).to_vector<float>(), Floats({1, 1}));
}

TEST_F(CustomGradientTest, ChecksWhatTheGradientGives) {
  const Tensor x = ones({2});
  const auto step = [&](std::vector<Tensor> given) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = custom_gradient(std::span(&x, 1), [&]() -> CustomStep {
      return {{x}, [given](std::span<const Tensor>) { return given; }};
    })[0];
    return tape.gradient(y, x);
  };
  EXPECT_THROW(step({}), InvalidArgumentError);
  EXPECT_THROW(step({ones({3})}), InvalidArgumentError);
  EXPECT_FALSE(step({Tensor()}).is_valid());
}

TEST_F(JacobianTest, HasARowForEachElement) {
  const auto run = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = x * x;
    const GradientTape::Source source{.tensor = x};
    return tape.jacobian(y, std::span(&source, 1))[0];
  };
  const Tensor x = constant({1.0F, 2.0F});
  EXPECT_EQ(run(x).to_vector<float>(), Floats({2, 0, 0, 4}));
  EXPECT_EQ(function(run)(x).to_vector<float>(), Floats({2, 0, 0, 4}));
}

TEST_F(JacobianTest, OfRowsEachByItself) {
  const Tensor x = constant({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const Tensor made = tape.batch_jacobian(y, {.tensor = x});
  EXPECT_EQ(made.shape(), Shape({2, 2, 2}));
  EXPECT_EQ(made.to_vector<float>(), Floats({2, 0, 0, 4, 6, 0, 0, 8}));
}

TEST_F(JacobianTest, KnowsTheVariablesThatWereRead) {
  Variable a(ones({1}), {.name = "a"}), b(ones({1}), {.name = "b"}), c(ones({1}), {.name = "c"});
  GradientTape tape;
  const Tensor y = c.value() * a.value();
  const std::vector<Variable> seen = tape.watched_variables();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].name() + seen[1].name(), "ac");
  EXPECT_EQ(seen[0].state(), a.state());
}

}  // namespace
}  // namespace plimsoll
