// Runs that are watched: sound plans pass, and every plan that is broken on purpose is found.
#include "runtime/arena_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <list>

#include "ops/wave.h"
#include "plimsoll/device.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/broken_plan.h"
#include "runtime/compile.h"
#include "runtime/fresh.h"
#include "runtime/measure.h"
#include "runtime/placement.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

// A training step with its variables.
class Model {
 public:
  explicit Model(std::string name) : name_(std::move(name)) {
    if (name_ == "mlp") {
      x_ = wave({6, 10});
      add({10, 16});
      add({16});
      add({16, 3});
    } else if (name_ == "conv") {
      x_ = wave({2, 8, 8, 3});
      add({3, 3, 3, 5});
      add({5});
      add({5});
      add({80, 3});
    } else {
      x_ = wave({2, 5, 8});
      for (int i = 0; i < 3; ++i) add({8, 8});
      add({8});
      add({8});
    }
  }

  std::vector<Tensor> step(const Tensor& x) {
    GradientTape tape;
    const Tensor loss = tf::reduce_mean(tf::square(forward(x)));
    std::vector<const Variable*> all;
    for (const Variable& w : weights_) all.push_back(&w);
    const auto gradients = tape.gradient(loss, all);
    auto gradient = gradients.begin();
    auto slot = slots_.begin();
    for (Variable& w : weights_) {
      slot->assign(slot->value() * 0.9F + *gradient++);
      w.assign_sub((slot++)->value() * 0.1F);
    }
    return {loss, tf::sqrt(loss)};
  }

  CompiledGraph compiled() {
    Trace trace;
    {
      const TracingScope scope(&trace);
      const Tensor x = trace.add_input({x_.dtype(), x_.shape()});
      trace.set_outputs(step(x));
    }
    return compile(std::move(trace), *owner_of(x_), name_);
  }
  const Tensor& x() const { return x_; }

 private:
  void add(const Shape& shape) {
    weights_.emplace_back(wave(shape, 0.1 * static_cast<double>(weights_.size() + 3)));
    slots_.emplace_back(tf::zeros(shape));
  }
  const Variable& w(int i) const { return *std::next(weights_.begin(), i); }

  Tensor forward(const Tensor& x) const {
    if (name_ == "mlp") {
      const Tensor h = tf::nn::gelu(tf::matmul(x, w(0)) + w(1).value());
      return tf::nn::log_softmax(tf::matmul(tf::nn::dropout(h, 0.3), w(2)));
    }
    if (name_ == "conv") {
      const Tensor h = tf::nn::conv2d(x, w(0), {1}, "SAME");
      const Tensor y = tf::nn::relu(tf::nn::fused_batch_norm(h, w(1), w(2)).y);
      return tf::matmul(tf::reshape(tf::nn::max_pool2d(y, {2}, {2}, "SAME"), {2, 80}), w(3));
    }
    const Tensor q = tf::matmul(x, w(0)), k = tf::matmul(x, w(1)), v = tf::matmul(x, w(2));
    const Tensor a = tf::nn::softmax(tf::matmul(q, k, {.transpose_b = true}) * 0.35F);
    return tf::nn::layer_norm(tf::matmul(a, v) + x, w(3), w(4));
  }

  std::string name_;
  Tensor x_;
  std::list<Variable> weights_, slots_;
};

constexpr const char* kModels[] = {"mlp", "conv", "attention"};

std::vector<Tensor> run(const CompiledGraph& c, const Tensor& x) {
  Executable executable(c);
  ArenaPool arenas;
  std::vector<Tensor> out(c.graph.outputs.size());
  executable.run(std::span(&x, 1), out, arenas);
  return out;
}

class ArenaCheckTest : public FreshTest {
 protected:
  void SetUp() override {
    FreshTest::SetUp();
    settings::set("check_arena", "on");
    simulate("rtx-3060-12gb");
  }
  // Calls f for each model, compiled with all passes and with none, on the CPU and a simulated GPU.
  static void for_each_plan(const std::function<void(Model&, const CompiledGraph&)>& f) {
    for (const char* device : {"/CPU:0", "/GPU:0"}) {
      for (const char* passes : {"none", "all"}) {
        settings::set("passes", passes);
        for (const char* name : kModels) {
          SCOPED_TRACE(std::string(name) + " on " + device + " with passes " + passes);
          const DeviceScope scope = tf::device(device);
          Model model(name);
          f(model, model.compiled());
        }
      }
    }
  }
};

TEST_F(ArenaCheckTest, SoundPlansPassAndComputeTheSame) {
  for_each_plan([](Model& model, const CompiledGraph& c) {
    ASSERT_TRUE(c.has_canaries);
    Executable executable(c);
    ArenaPool arenas;
    std::vector<Tensor> out(2);
    for (int i = 0; i < 3; ++i) executable.run(std::span(&model.x(), 1), out, arenas);
    EXPECT_TRUE(std::isfinite(out[0].item<float>()));
    EXPECT_EQ(out[1].item<float>(), std::sqrt(out[0].item<float>()));
  });
}

TEST_F(ArenaCheckTest, EveryLifeThatIsTooShortIsFound) {
  int num_broken = 0;
  for_each_plan([&](Model& model, const CompiledGraph& c) {
    const std::vector<int> last = last_reads(c);
    for (std::size_t s = 0; s < last.size(); ++s) {
      if (last[s] < 0) continue;
      const std::string message =
          message_of<InternalError>([&] { run(with_short_life(c, s, last[s]), model.x()); });
      const std::string reader = "step " + std::to_string(last[s]) + " (";
      EXPECT_NE(message.find(reader), std::string::npos) << message;
      EXPECT_NE(message.find("is dead"), std::string::npos) << message;
      ++num_broken;
    }
    run(c, model.x());  // and what is sound still runs
  });
  EXPECT_GT(num_broken, 100);
}

// As a planner would do it that knew the wrong lifetime: another buffer lies there by then.
TEST_F(ArenaCheckTest, EveryBufferOverOneThatIsAliveIsFound) {
  int num_broken = 0;
  for_each_plan([&](Model& model, const CompiledGraph& c) {
    const std::vector<int> last = last_reads(c);
    const auto& storages = c.storage.storages;
    for (std::size_t a = 0; a < storages.size(); ++a) {
      for (std::size_t b = 0; b < storages.size(); ++b) {
        if (a == b || storages[b].place != graph::Place::kArena || !storages[b].nbytes) continue;
        if (storages[b].first <= storages[a].first || storages[b].first > last[a]) continue;
        if (c.offsets[a] + storages[b].nbytes + ArenaCheck::kCanaryBytes > c.plan.arena_bytes)
          continue;
        const std::string message =
            message_of<InternalError>([&] { run(with_overlap(c, b, a), model.x()); });
        EXPECT_TRUE(message.find("belongs to") != std::string::npos ||
                    message.find("is dead") != std::string::npos)
            << message;
        ++num_broken;
        break;
      }
    }
  });
  EXPECT_GT(num_broken, 100);
}

TEST_F(ArenaCheckTest, WritesBehindABufferAreFound) {
  int num_broken = 0;
  for_each_plan([&](Model& model, const CompiledGraph& c) {
    for (std::size_t s = 0; s < c.storage.storages.size(); ++s) {
      const graph::Storage& storage = c.storage.storages[s];
      if (storage.place != graph::Place::kArena || storage.nbytes < 8) continue;
      const std::string message =
          message_of<InternalError>([&] { run(with_small_buffer(c, s, 4), model.x()); });
      EXPECT_NE(message.find("behind the buffer of"), std::string::npos) << message;
      EXPECT_NE(message.find("at offset " + std::to_string(c.offsets[s])), std::string::npos)
          << message;
      ++num_broken;
    }
  });
  EXPECT_GT(num_broken, 100);
}

TEST_F(ArenaCheckTest, CanariesAreCountedInThePlan) {
  const auto body = [](const Tensor& x) {
    return tf::reduce_sum(tf::matmul(x, x, {.transpose_b = true}));
  };
  const Tensor x = wave({33, 7});
  auto f = tf::function(body);
  const MemoryPlan plan = f.plan({{float32, {33, 7}}});
  std::vector<Tensor> out(1);
  EXPECT_EQ(measure_written_height(f, std::span(&x, 1), out), plan.arena_bytes);
  EXPECT_EQ(plan.arena_bytes, 33U * 33 * 4 + ArenaCheck::kCanaryBytes);
#ifndef PLIMSOLL_WALKERS
  settings::set("check_arena", "off");
  auto g = tf::function(body);
  EXPECT_EQ(g.plan({{float32, {33, 7}}}).arena_bytes, 33U * 33 * 4);
  EXPECT_EQ(measure_written_height(g, std::span(&x, 1), out), 33U * 33 * 4);
#endif
}

}  // namespace
}  // namespace plimsoll
