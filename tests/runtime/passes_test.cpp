// Passes: each keeps what is computed, bit for bit, and each pays.
#include "graph/passes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/wave.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

// Convolutions, batch norms, relus and a shortcut, trained with momentum.
class SmallNet {
 public:
  explicit SmallNet(std::size_t num_blocks = 3) : num_blocks_(num_blocks) {
    for (std::size_t i = 0; i < num_blocks; ++i) {
      add(wave({3, 3, i == 0 ? 3 : 8, 8}), "conv");
      add(tf::ones({8}), "scale");
      add(tf::zeros({8}), "offset");
    }
    add(wave({8, 4}), "dense");
  }

  Tensor step(const Tensor& x, const Tensor& labels) {
    GradientTape tape;
    Tensor h = block(x, 0);
    for (std::size_t i = 1; i + 1 < num_blocks_; i += 2)
      h = tf::nn::relu(norm(conv(block(h, i), i + 1), i + 1) + h);
    h = tf::matmul(tf::reduce_mean(h, {1, 2}), variables_.back());
    const Tensor loss =
        tf::reduce_mean(tf::nn::sparse_softmax_cross_entropy_with_logits(labels, h));
    std::vector<const Variable*> all;
    for (const Variable& v : variables_) all.push_back(&v);
    const auto gradients = tape.gradient(loss, all);
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      slots_[i].assign(slots_[i].value() * 0.9F + gradients[i]);
      variables_[i].assign_sub(slots_[i].value() * 0.1F);
    }
    return loss;
  }

  std::vector<float> train(int num_steps) {
    auto f = tf::function([this](const Tensor& x, const Tensor& y) { return step(x, y); });
    std::vector<float> seen;
    for (int i = 0; i < num_steps; ++i)
      seen.push_back(f(wave({4, 16, 16, 3}, 0.3 + i), labels()).item<float>());
    for (const Variable& v : variables_) {
      for (const float value : v.value().to_vector<float>()) seen.push_back(value);
    }
    return seen;
  }
  MemoryPlan plan() {
    auto f = tf::function([this](const Tensor& x, const Tensor& y) { return step(x, y); });
    return f.plan({{float32, {4, 64, 64, 3}}, {int32, {4}}});
  }
  static Tensor labels() { return constant<std::int32_t>({0, 1, 2, 3}); }

 private:
  void add(const Tensor& value, const char* name) {
    variables_.emplace_back(value, VariableOptions{.name = name});
    slots_.emplace_back(tf::zeros_like(value),
                        VariableOptions{.name = name, .tag = memory::Tag::kOptimizer});
  }
  Tensor conv(const Tensor& x, std::size_t i) {
    return tf::nn::conv2d(x, variables_[3 * i], {1}, "SAME");
  }
  Tensor norm(const Tensor& x, std::size_t i) {
    return tf::nn::fused_batch_norm(x, variables_[3 * i + 1], variables_[3 * i + 2]).y;
  }
  Tensor block(const Tensor& x, std::size_t i) { return tf::nn::relu(norm(conv(x, i), i)); }

  std::size_t num_blocks_;
  std::vector<Variable> variables_, slots_;
};

std::vector<float> trained_with(const char* passes) {
  settings::set("passes", passes);
  return SmallNet().train(3);
}
MemoryPlan planned_with(const std::string& passes) {
  settings::set("passes", passes);
  return SmallNet(9).plan();
}
const PassReport& report_of(const MemoryPlan& plan, std::string_view name) {
  for (const PassReport& p : plan.passes) {
    if (p.name == name) return p;
  }
  throw InternalError("no such pass");
}

class PassesTest : public FreshTest {};

TEST_F(PassesTest, EveryPassKeepsEveryBit) {
  const std::vector<float> plain = trained_with("none");
  EXPECT_EQ(trained_with("all"), plain);
  for (const graph::Pass& pass : graph::all_passes()) {
    EXPECT_EQ(trained_with(std::string(pass.name).c_str()), plain) << pass.name;
    EXPECT_EQ(trained_with(("-" + std::string(pass.name)).c_str()), plain)
        << "without " << pass.name;
  }
}

TEST_F(PassesTest, EagerStepsAreTheSame) {
  SmallNet eager;
  std::vector<float> losses;
  for (int i = 0; i < 3; ++i)
    losses.push_back(eager.step(wave({4, 16, 16, 3}, 0.3 + i), SmallNet::labels()).item<float>());
  const std::vector<float> traced = trained_with("all");
  EXPECT_EQ(losses, std::vector<float>(traced.begin(), traced.begin() + 3));
}

TEST_F(PassesTest, EachPays) {
  const MemoryPlan all = planned_with("all");
  // What is traced once for each use is computed once; what nobody reads is not computed.
  EXPECT_LT(report_of(all, "cse").num_nodes, planned_with("none").num_steps);
  EXPECT_LT(report_of(all, "dce").num_nodes, report_of(all, "cse").num_nodes);
  EXPECT_LT(report_of(all, "fuse_elementwise").num_nodes, report_of(all, "recompute").num_nodes);
  EXPECT_LT(report_of(all, "fuse_norm").num_nodes, report_of(all, "recompute").num_nodes);
  EXPECT_LT(all.arena_bytes, planned_with("-recompute").arena_bytes);
  EXPECT_LT(planned_with("in_place").arena_bytes, planned_with("none").arena_bytes);
}

// Relu6 and shortcuts too; the moving averages read the statistics.
TEST_F(PassesTest, NormsTakeAdditionsAndActivationsIn) {
  Variable scale(wave({8}, 0.3)), offset(wave({8}, 0.9)), average(tf::zeros({8}));
  const auto trained = [&](const char* passes) {
    settings::set("passes", passes);
    scale.assign(wave({8}, 0.3));
    offset.assign(wave({8}, 0.9));
    average.assign(tf::zeros({8}));
    auto f = tf::function([&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      const auto a = tf::nn::fused_batch_norm(x, scale, offset);
      average.assign(average.value() * 0.9F + a.mean * 0.1F);
      const Tensor h = tf::nn::relu6(a.y * 1.0F);
      const Tensor b = tf::nn::relu6(tf::nn::fused_batch_norm(h * x, scale, offset).y);
      const Tensor c = tf::nn::fused_batch_norm(b * b, scale, offset).y + x;
      const Tensor d = tf::nn::relu(tf::nn::fused_batch_norm(c * b, scale, offset).y + c);
      const Tensor loss = tf::reduce_sum(d * d);
      const Tensor gradient = tape.gradient(loss, x);
      return std::vector<Tensor>{loss, d, gradient};
    });
    std::vector<float> seen;
    for (const Tensor& t : f(wave({3, 4, 5, 8}))) {
      for (const float v : t.to_vector<float>()) seen.push_back(v);
    }
    for (const float v : average.value().to_vector<float>()) seen.push_back(v);
    return seen;
  };
  EXPECT_EQ(trained("all"), trained("none"));
  EXPECT_EQ(trained("fuse_norm"), trained("none"));
}

TEST_F(PassesTest, BiasAndActivationJoinTheProduct) {
  Variable w(wave({3, 3, 3, 8})), b(wave({8}, 2)), dense(wave({8, 24})), c(wave({24}, 3));
  const auto body = [&](const Tensor& x) {
    const Tensor h = tf::nn::relu(tf::nn::bias_add(tf::nn::conv2d(x, w, {1}, "SAME"), b));
    return tf::nn::relu6(tf::matmul(h, dense) + c);  // of a batch, which it sees as rows
  };
  auto f = tf::function(body), g = tf::function(body);
  const std::vector<TensorSpec> specs{{float32, {2, 16, 16, 3}}};
  settings::set("passes", "none");
  const auto plain = f(wave({2, 16, 16, 3})).to_vector<float>();
  const int num_plain = f.plan(specs).num_steps;
  settings::set("passes", "fuse_bias");
  const auto fused = g(wave({2, 16, 16, 3})).to_vector<float>();
  EXPECT_EQ(g.plan(specs).num_steps, num_plain - 4);
  ASSERT_EQ(fused.size(), plain.size());
  for (std::size_t i = 0; i < fused.size(); ++i) ASSERT_NEAR(fused[i], plain[i], 1e-6);
}

// A nan that an activation met on the way out would be lost without a trace.
TEST_F(PassesTest, NotANumberIsNotActivatedAway) {
  const float nan = std::nanf("");
  for (const std::int64_t n : {2, 200}) {
    std::vector<float> values(static_cast<std::size_t>(n * n), 1);
    values[0] = nan;
    const Tensor a = constant<float>(values, {n, n});
    auto f = tf::function([n](const Tensor& x) {
      return tf::nn::relu(tf::matmul(x, tf::ones({n, n})) + tf::ones({n}));
    });
    EXPECT_TRUE(std::isnan(f(a).to_vector<float>()[0])) << n;
    auto g = tf::function([n](const Tensor& x) {
      return tf::nn::relu6(
          tf::nn::conv2d(tf::reshape(x, {1, n, n, 1}), tf::ones({1, 1, 1, 16}), {1}, "SAME") +
          tf::ones({16}));
    });
    EXPECT_TRUE(std::isnan(g(a).to_vector<float>()[0])) << n;
  }
}

TEST_F(PassesTest, EarlyUpdatesLetGradientsGo) {
  // Eight layers of 1 MiB: in the end all gradients are alive, or one or two.
  std::vector<Variable> layers, slots;
  for (int i = 0; i < 8; ++i) {
    layers.emplace_back(wave({512, 512}));
    slots.emplace_back(tf::zeros({512, 512}));
  }
  auto f = tf::function([&](const Tensor& x) {
    GradientTape tape;
    Tensor h = x;
    for (const Variable& w : layers) h = tf::nn::relu(tf::matmul(h, w));
    const Tensor loss = tf::reduce_sum(h);
    std::vector<const Variable*> all;
    for (const Variable& w : layers) all.push_back(&w);
    const auto gradients = tape.gradient(loss, all);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      slots[i].assign(slots[i].value() * 0.9F + gradients[i]);
      layers[i].assign_sub(slots[i].value() * 0.1F);
    }
    return loss;
  });
  const TensorSpec x{float32, {8, 512}};
  settings::set("passes", "-early_update");
  EXPECT_GE(f.plan({x}).arena_bytes, 8U << 20);
  settings::set("passes", "all");
  EXPECT_LE(f.plan({x}).arena_bytes, 3U << 20);
}

// All updates read the rate and the count of steps, and are scaled by a norm of their own gradient;
// they are left out where a condition does not hold.
TEST_F(PassesTest, EarlyUpdatesMayShareScalars) {
  std::vector<Variable> layers;
  for (int i = 0; i < 8; ++i) layers.emplace_back(wave({512, 512}));
  Variable rate(tf::fill({}, 0.1)), steps(tf::zeros({})), twice(tf::ones({}));
  auto f = tf::function([&](const Tensor& x) {
    GradientTape tape;
    Tensor h = x;
    for (const Variable& w : layers) h = tf::nn::relu(tf::matmul(h, w));
    const Tensor loss = tf::reduce_sum(h);
    std::vector<const Variable*> all;
    for (const Variable& w : layers) all.push_back(&w);
    const auto gradients = tape.gradient(loss, all);
    const Tensor step = steps.value() + 1.0;
    const Tensor scaled = rate.value() * tf::sqrt(step);
    const Tensor is_due = tf::greater(step, tf::zeros({}));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Tensor norm = tf::sqrt(tf::reduce_sum(tf::square(gradients[i])));
      const Tensor next = layers[i].value() - gradients[i] / norm * scaled;
      layers[i].assign(tf::where(is_due, next, layers[i].value()));
    }
    steps.assign(step);
    twice.assign(twice.value() * 0.5);
    twice.assign(twice.value() + (loss - loss) + 1);
    return loss;
  });
  const TensorSpec x{float32, {8, 512}};
  settings::set("passes", "-early_update,-order");
  EXPECT_GE(f.plan({x}).arena_bytes, 8U << 20);
  settings::set("passes", "all");
  auto g = tf::function([&](const Tensor& y) { return f(y); });
  EXPECT_LE(g.plan({x}).arena_bytes, 3U << 20);
  g(tf::ones({8, 512}) * 1e-9);
  EXPECT_EQ(steps.value().item<float>(), 1);
  EXPECT_EQ(twice.value().item<float>(), 1.5F);
}

TEST_F(PassesTest, AnotherOrderNeedsLess) {
  // Eight tensors of 1 MiB, all made before the first is reduced to one number.
  auto f = tf::function([](const Tensor& x) {
    std::vector<Tensor> wide;
    for (int i = 0; i < 8; ++i)
      wide.push_back(tf::matmul(x, x, {.transpose_b = true}) * (1.0F + static_cast<float>(i)));
    Tensor sum = tf::reduce_max(wide[0]);
    for (int i = 1; i < 8; ++i)
      sum = sum + tf::reduce_max(tf::cumsum(wide[static_cast<std::size_t>(i)]));
    return sum;
  });
  const TensorSpec x{float32, {512, 64}};
  settings::set("passes", "-order");
  const auto plain = f(wave({512, 64})).item<float>();
  EXPECT_GE(f.plan({x}).arena_bytes, 8U << 20);
  settings::set("passes", "all");
  auto g = tf::function([&](const Tensor& y) { return f(y); });
  EXPECT_LE(g.plan({x}).arena_bytes, 4U << 20);
  EXPECT_EQ(g(wave({512, 64})).item<float>(), plain);
}

TEST_F(PassesTest, PlansMeetTheLowerBound) {
  const MemoryPlan plan = planned_with("all");
  EXPECT_LE(static_cast<double>(plan.arena_bytes),
            1.01 * static_cast<double>(plan.lower_bound_bytes));
}

TEST_F(PassesTest, AnUnknownPassIsAnError) {
  const std::string message =
      message_of<InvalidArgumentError>([] { planned_with("fuse_elementwize"); });
  EXPECT_NE(message.find("did you mean 'fuse_elementwise'"), std::string::npos) << message;
}

}  // namespace
}  // namespace plimsoll
