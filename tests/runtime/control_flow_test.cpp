// Branches and loops: in a function they compute what they compute eagerly, and errors change
// nothing.
#include "plimsoll/control_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/control_flow_cases.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

class ControlFlowTest : public FreshTest {};

TEST_F(ControlFlowTest, CondTakesABranch) {
  const auto body = [](std::span<const Tensor> in) -> Tensors {
    const Tensor& x = in[0];
    const Tensor y = tf::cond(
        tf::greater(tf::reduce_sum(x), tf::fill({}, 0)), [&] { return x * 2.0F + 1.0F; },
        [&] { return tf::negative(x); });
    const Tensors two = tf::cond(
        tf::less(tf::reduce_sum(x), tf::fill({}, 0)),
        [&] {
          return Tensors{x, x};
        },
        [&] {
          return Tensors{y, x};
        });
    return {y, two[0], two[1]};
  };
  for (const double step : {0.1, 2.0, 3.0, 4.0}) expect_same(body, {wave({3, 5}, step)});
  expect_same(body, {tf::negative(tf::ones({4}))});
  expect_same(body, {tf::ones({4})});
}

TEST_F(ControlFlowTest, WhileLoopRunsUntilItsConditionFails) {
  const auto body = [](std::span<const Tensor> in) {
    const Tensor limit = in[1];
    return tf::while_loop([&](const Tensor& i, const Tensor&) { return tf::less(i, limit); },
                          [&](const Tensor& i, const Tensor& x) {
                            return Tensors{i + 1, tf::sin(x) * 1.5F + in[0]};
                          },
                          {number(0), in[0]});
  };
  for (const int limit : {0, 1, 2, 7}) expect_same(body, {wave({2, 3}), number(limit)});
  expect_same(body, {wave({16, 16}), number(5)});
}

TEST_F(ControlFlowTest, WhileLoopHasAMaximum) {
  const auto body = [](std::span<const Tensor> in) -> Tensors {
    return {tf::while_loop(
        [](const Tensor& x) { return tf::reduce_all(tf::less(x, tf::fill({}, 1e9))); },
        [](const Tensor& x) { return x * 2.0F; }, in[0], {.maximum_iterations = 4})};
  };
  Function f(body);
  EXPECT_EQ(f(Tensors{tf::ones({2})})[0].to_vector<float>(), std::vector<float>(2, 16.0F));
  EXPECT_EQ(body(Tensors{tf::ones({2})})[0].to_vector<float>(), std::vector<float>(2, 16.0F));
}

TEST_F(ControlFlowTest, StatesCanSwapAndStay) {
  expect_same(
      [](std::span<const Tensor> in) {
        return tf::while_loop(
            [](std::span<const Tensor> v) { return tf::less(v[0], number(5)); },
            [](const Tensor& i, const Tensor& a, const Tensor& b, const Tensor& c) {
              return Tensors{i + 1, b, a + c, c};
            },
            {number(0), in[0], in[1], in[2]});
      },
      {wave({4}), wave({4}, 1.3), wave({4}, 2.1)});
}

TEST_F(ControlFlowTest, ScanStacksAccumulators) {
  for (const bool reverse : {false, true}) {
    for (const Shape& shape : {Shape{6, 3}, Shape{5, 16}, Shape{1, 2}, Shape{0, 2}}) {
      const Tensor init = wave(Shape(shape.dims().subspan(1)), 1.1);
      expect_same(
          [&](std::span<const Tensor> in) -> Tensors {
            return {tf::scan([](const Tensor& a, const Tensor& x) { return tf::tanh(a + x); },
                             in[0], in[1], {.reverse = reverse})};
          },
          {wave(shape), init});
    }
    expect_same(
        [&](std::span<const Tensor> in) -> Tensors {
          return {tf::scan([](const Tensor& a, const Tensor& x) { return a + x; }, in[0], {},
                           {.reverse = reverse})};
        },
        {wave({4, 2})});
  }
}

TEST_F(ControlFlowTest, ScanTakesSeveral) {
  expect_same(
      [](std::span<const Tensor> in) {
        return tf::scan(
            [](std::span<const Tensor> a, std::span<const Tensor> x) {
              return Tensors{a[1] + x[0], a[0] * x[1]};
            },
            Tensors{in[0], in[1]}, Tensors{in[2], in[3]});
      },
      {wave({5, 3}), wave({5, 3}, 0.2), wave({3}), wave({3}, 2.2)});
}

TEST_F(ControlFlowTest, MapFnMapsEachElement) {
  for (const std::int64_t length : {0, 1, 4}) {
    expect_same(
        [](std::span<const Tensor> in) -> Tensors {
          return {tf::map_fn(
              [](const Tensor& x) { return tf::cast(tf::reduce_sum(x * x), float64); }, in[0])};
        },
        {wave({length, 3})});
  }
}

// What TensorFlow 2 gives for the same calls.
TEST_F(ControlFlowTest, AsTensorFlowDoes) {
  const auto x = tf::constant({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, {3, 2});
  const auto step = [](const Tensor& a, const Tensor& e) { return a * 2.0F + e; };
  const auto f = [&](std::span<const Tensor> in) -> Tensors {
    return {tf::scan(step, in[0]), tf::scan(step, in[0], {}, {.reverse = true}),
            tf::scan(step, in[0], tf::ones({2}), {.reverse = true}),
            tf::map_fn([](const Tensor& e) { return tf::reduce_sum(e * e); }, in[0])};
  };
  for (const bool is_traced : {false, true}) {
    const auto out = values_of(f, {x}, is_traced);
    EXPECT_EQ(out[0], (std::vector<float>{1, 2, 5, 8, 15, 22}));
    EXPECT_EQ(out[1], (std::vector<float>{27, 34, 13, 16, 5, 6}));
    EXPECT_EQ(out[2], (std::vector<float>{35, 42, 17, 20, 7, 8}));
    EXPECT_EQ(out[3], (std::vector<float>{5, 25, 61}));
  }
  const auto g = [](std::span<const Tensor> in) -> Tensors {
    GradientTape tape;
    tape.watch(in[0]);
    tape.watch(in[1]);
    const Tensor y = tf::scan(
        [&](const Tensor& a, const Tensor& e) {
          return tf::cond(
              tf::greater(tf::reduce_sum(e), tf::fill({}, 4)), [&] { return a * in[1] + e; },
              [&] { return tf::sin(a) - e; });
        },
        in[0], in[1]);
    Tensors out = tape.gradient(Tensors{y}, Tensors{in[0], in[1]});
    out.push_back(y);
    return out;
  };
  const std::vector<std::vector<float>> expected = {
      {-1.75F, -1.75F, 1.5F, -0.5F, 1.0F, 1.0F},
      {3.49462056F, 10.11878014F},
      {-0.52057445F, -2.99749494F, 2.73971272F, 8.49624252F, 6.36985636F, -6.74436378F}};
  for (const bool is_traced : {false, true}) {
    const auto out = values_of(g, {x, tf::constant({0.5F, -1.5F})}, is_traced);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(out[i].size(), expected[i].size());
      for (std::size_t k = 0; k < expected[i].size(); ++k)
        EXPECT_NEAR(out[i][k], expected[i][k], 1e-5) << i << " " << k;
    }
  }
}

TEST_F(ControlFlowTest, TheyNest) {
  // A cond in a while in a scan, with tensors of every level.
  expect_same(
      [](std::span<const Tensor> in) -> Tensors {
        const Tensor bias = in[1] + 0.25F;
        return {tf::scan(
            [&](const Tensor& a, const Tensor& x) {
              const Tensor both = a + x;
              return tf::while_loop(
                  [&](const Tensor& i, const Tensor&) { return tf::less(i, number(3)); },
                  [&](const Tensor& i, const Tensor& y) {
                    return Tensors{i + 1,
                                   tf::cond(
                                       tf::greater(tf::reduce_sum(y), tf::fill({}, 0)),
                                       [&] { return y - both * 0.5F; }, [&] { return y + bias; })};
                  },
                  {number(0), both})[1];
            },
            in[0], in[1])};
      },
      {wave({6, 4}), wave({4}, 1.9)});
}

TEST_F(ControlFlowTest, TenThousandIterations) {
  auto f = tf::function([](const Tensor& x) {
    return tf::while_loop([](const Tensor& i, const Tensor&) { return tf::less(i, number(10000)); },
                          [](const Tensor& i, const Tensor& s) {
                            return Tensors{i + 1, s + 1.0F};
                          },
                          {number(0), x})[1];
  });
  EXPECT_EQ(f(tf::zeros({3})).to_vector<float>(), std::vector<float>(3, 10000.0F));
}

TEST_F(ControlFlowTest, VariablesAreAssignedInBodies) {
  const auto run = [](bool is_traced) {
    Variable w(tf::ones({3})), total(tf::zeros({3}));
    const auto body = [&](const Tensor& x) {
      tf::cond(
          tf::greater(tf::reduce_sum(x), tf::fill({}, 0)), [&] { w.assign_add(x); },
          [&] { w.assign(w.value() * 3.0F); });
      const Tensor old = total.value();
      const Tensor rows = tf::scan(
          [&](const Tensor& a, const Tensor& e) {
            total.assign_add(w.value() * e);
            return a + total.value() + old;
          },
          tf::ones({4, 3}), x);
      return Tensors{rows, w.value(), total.value()};
    };
    auto f = tf::function(body);
    std::vector<float> seen;
    for (const float scale : {1.0F, -1.0F, 0.5F}) {
      const Tensor x = tf::ones({3}) * scale;
      for (const Tensor& t : is_traced ? f(x) : body(x)) {
        for (const float v : t.to_vector<float>()) seen.push_back(v);
      }
    }
    for (const float v : total.value().to_vector<float>()) seen.push_back(v);
    for (const float v : w.value().to_vector<float>()) seen.push_back(v);
    return seen;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(ControlFlowTest, RandomNumbersAreFreshInEachIteration) {
  auto f = tf::function([](const Tensor& x) {
    return tf::map_fn(
        [](const Tensor& e) {
          const Tensor rows = tf::scan(
              [](const Tensor&, const Tensor& i) { return tf::random::uniform({4}) + 0.0F * i; }, e,
              tf::zeros({4}));
          const Tensor more = tf::while_loop(
              [](const Tensor& i, const Tensor&) { return tf::less(i, number(2)); },
              [](const Tensor& i, const Tensor& all) {
                return Tensors{
                    i + 1,
                    tf::concat({tf::getitem(all, {Index(4, {})}), tf::random::uniform({4})}, 0)};
              },
              {number(0), tf::zeros({8})})[1];
          return tf::concat({tf::reshape(rows, {-1}), more}, 0);
        },
        x);
  });
  std::vector<float> all;
  for (int i = 0; i < 3; ++i) {
    for (const float v : f(tf::zeros({3, 5, 4})).to_vector<float>()) all.push_back(v);
  }
  std::sort(all.begin(), all.end());
  // 252 numbers of 23 bits: two of them may be alike by chance, hardly four.
  EXPECT_GE(std::unique(all.begin(), all.end()) - all.begin(), 250);
}

TEST_F(ControlFlowTest, MistakesAreNamed) {
  const Tensor x = wave({2, 3});
  const auto message = [&](auto body) {
    auto f = tf::function(body);
    return message_of<InvalidArgumentError>([&] { f(x); });
  };
  const auto has = [](const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const Tensor yes = constant(true);
  has(message([&](const Tensor& t) {
        return tf::cond(
            yes, [&] { return t; }, [&] { return tf::reduce_sum(t); });
      }),
      {"cond", "result 0 is float32[2,3] from true_fn and float32[] from false_fn"});
  has(message([&](const Tensor& t) {
        return tf::cond(
            yes, [&] { return Tensors{t}; },
            [&] {
              return Tensors{t, t};
            });
      }),
      {"the same number of tensors, got 1 and 2"});
  has(message([&](const Tensor& t) {
        return tf::cond(
            t, [&] { return t; }, [&] { return t; });
      }),
      {"pred must be one bool, got float32[2,3]"});
  has(message([&](const Tensor& t) {
        return tf::while_loop([&](const Tensor&) { return yes; },
                              [](const Tensor& y) { return tf::reduce_sum(y); }, t);
      }),
      {"loop variable 0 enters the loop as float32[2,3] and is float32[] after one iteration"});
  has(message([&](const Tensor& t) {
        return tf::while_loop([&](const Tensor& y) { return y; }, [](const Tensor& y) { return y; },
                              t);
      }),
      {"what cond returns must be one bool, got float32[2,3]"});
  has(message([&](const Tensor& t) {
        return tf::scan([](const Tensor& a, const Tensor&) { return tf::cast(a, float64); }, t,
                        tf::zeros({}));
      }),
      {"scan: loop variable 0 enters the loop as float32[] and is float64[]"});
  has(message([&](const Tensor& t) {
        Tensor leaked;
        tf::cond(
            yes, [&] { return leaked = t + 1.0F; }, [&] { return t; });
        return leaked + 1.0F;
      }),
      {"outside of the function, branch or loop that made it"});
  has(message_of<InvalidArgumentError>(
          [&] { tf::map_fn([](const Tensor& t) { return t; }, tf::zeros({})); }),
      {"map_fn: elements in elems must be 1+ dimensional"});
}

TEST_F(ControlFlowTest, AnErrorInAnIterationChangesNothing) {
  Variable w(tf::zeros({3})), seen(tf::zeros({3}));
  auto f = tf::function([&](const Tensor& x, const Tensor& indices) {
    seen.assign_add(tf::ones({3}));
    return tf::scan(
        [&](const Tensor& a, const Tensor& i) {
          w.assign_add(tf::ones({3}));
          return a + tf::gather(x, i);
        },
        indices, tf::zeros({2}));
  });
  const Tensor x = wave({4, 2});
  f(x, constant<std::int32_t>({0, 1, 2, 3}));
  const auto before = tf::memory::stats("CPU:0").in_use;
  const std::string message = message_of<InvalidArgumentError>([&] {
    f(x, constant<std::int32_t>({0, 1, 9, 3}));
  });
  EXPECT_NE(message.find("Gather in iteration 2 of Scan"), std::string::npos) << message;
  EXPECT_LE(tf::memory::stats("CPU:0").in_use, before);
  EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(3, 4.0F));
  EXPECT_EQ(seen.value().to_vector<float>(), std::vector<float>(3, 1.0F));
  f(x, constant<std::int32_t>({3, 2, 1, 0}));
  EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(3, 8.0F));
}

TEST_F(ControlFlowTest, ABodyThatDoesNotFitIsAnErrorBeforeTheRun) {
  settings::set("cpu_limit", "4MiB");
  Variable num_runs(tf::zeros({}));
  auto f = tf::function([&](const Tensor& x) {
    num_runs.assign_add(tf::ones({}));
    tf::name_scope scope("power");
    return tf::while_loop([](const Tensor& i, const Tensor&) { return tf::less(i, number(3)); },
                          [](const Tensor& i, const Tensor& y) {
                            const Tensor wide = tf::matmul(y, y, {.transpose_a = true});
                            return Tensors{i + 1, tf::matmul(y, tf::sin(wide))};
                          },
                          {number(0), x})[1];
  });
  const std::string message = message_of<ResourceExhaustedError>([&] { f(wave({8, 1024})); });
  EXPECT_NE(message.find("MatMul in While [1024,1024] power"), std::string::npos) << message;
  EXPECT_EQ(num_runs.value().item<float>(), 0.0F);
  f(wave({8, 128}));
  EXPECT_EQ(num_runs.value().item<float>(), 1.0F);
}

TEST_F(ControlFlowTest, RunsAtTheSameTime) {
  auto f = tf::function([](const Tensor& x) {
    return tf::scan(
        [](const Tensor& a, const Tensor& e) {
          return tf::cond(
              tf::greater(tf::reduce_sum(a), tf::fill({}, 0)), [&] { return tf::sin(a) - e; },
              [&] { return a + e; });
        },
        x, tf::ones({5}));
  });
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(f(wave({50, 5}, 0.1 * i)).to_vector<float>());
  std::vector<std::thread> threads;
  std::atomic<int> num_wrong = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const Tensor x = wave({50, 5}, 0.1 * static_cast<double>(i));
      for (int k = 0; k < 20; ++k) num_wrong += f(x).to_vector<float>() != expected[i];
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(num_wrong, 0);
}

TEST_F(ControlFlowTest, PassesKeepEveryBit) {
  const auto train = [](const char* passes) {
    settings::set("passes", passes);
    Variable w(wave({4, 4})), b(wave({4}));
    auto f = tf::function([&](const Tensor& x) {
      GradientTape tape;
      const Tensor h = tf::scan(
          [&](const Tensor& a, const Tensor& e) {
            const Tensor y = tf::matmul(a, w) + b.value();
            return tf::cond(
                tf::greater(tf::reduce_sum(y), tf::fill({}, 0)), [&] { return tf::tanh(y) + e; },
                [&] { return tf::nn::relu(y) * 0.5F - e; });
          },
          x, tf::zeros({2, 4}));
      const Tensor loss = tf::reduce_sum(h * h);
      const Variable* const all[] = {&w, &b};
      const auto gradients = tape.gradient(loss, all);
      w.assign_sub(gradients[0] * 0.01F);
      b.assign_sub(gradients[1] * 0.01F);
      return loss;
    });
    std::vector<float> seen;
    for (int i = 0; i < 4; ++i) seen.push_back(f(wave({5, 2, 4}, 0.3 + i)).item<float>());
    for (const float v : w.value().to_vector<float>()) seen.push_back(v);
    return seen;
  };
  const std::vector<float> plain = train("none");
  for (const char* passes : {"all", "-fold", "-cse", "-dce", "-in_place", "dce", "in_place",
                             "fuse_elementwise", "recompute"})
    EXPECT_EQ(train(passes), plain) << passes;
}

TEST_F(ControlFlowTest, WhatNobodyNeedsGoes) {
  // The unused cond goes; so do the states that were saved for a gradient that nobody asked for.
  auto f = tf::function([](const Tensor& x) {
    tf::cond(
        tf::constant(true), [&] { return x * 2.0F; }, [&] { return x; });
    GradientTape tape;
    tape.watch(x);
    return tf::while_loop([](const Tensor& i, const Tensor&) { return tf::less(i, number(3)); },
                          [](const Tensor& i, const Tensor& y) {
                            return Tensors{i + 1, y + 1.0F};
                          },
                          {number(0), x}, {.maximum_iterations = 1000})[1];
  });
  const TensorSpec x{float32, {256}};
  const std::string text = f.graph_text({&x, 1});
  EXPECT_EQ(text.find("Cond"), std::string::npos) << text;
  EXPECT_NE(text.find("While"), std::string::npos) << text;
  EXPECT_NE(text.find("condition (state 0"), std::string::npos) << text;
  EXPECT_LT(f.plan({x}).arena_bytes, 10U << 10);
}

TEST_F(ControlFlowTest, RunsOnASimulatedDevice) {
  simulate("jetson-nano-4gb");
  auto f = tf::function([](const Tensor& x) {
    const Tensor y =
        tf::scan([](const Tensor& a, const Tensor& e) { return a + e; }, x, tf::zeros({3}));
    return tf::cond(
        tf::greater(tf::reduce_sum(y), tf::fill({}, 0)), [&] { return y; },
        [&] { return tf::negative(y); });
  });
  const Tensor out = f(tf::ones({2, 3}));
  EXPECT_NE(out.device().find("GPU:0"), std::string::npos);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

}  // namespace
}  // namespace plimsoll
