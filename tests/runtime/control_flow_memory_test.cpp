// Branches and loops keep the contract: the peak is what the plan says (P2), and a second run
// allocates nothing (P7).
#include <gtest/gtest.h>

#include <algorithm>

#include "base/count_news.h"
#include "memory/rounding.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/arena_check.h"
#include "runtime/control_flow_cases.h"
#include "runtime/fresh.h"
#include "runtime/measure.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

Tensor is_positive(const Tensor& x) {
  return tf::greater(tf::reduce_sum(x), tf::fill({}, 0));
}

struct Case {
  const char* name;
  Function::Body body;
  Tensors inputs;
};

class ControlFlowMemoryTest : public FreshTest {
 protected:
  void SetUp() override {
    FreshTest::SetUp();
    weights_.emplace_back(tf::fill({32, 32}, 0.01), VariableOptions{.name = "w"});
  }

  std::vector<Case> cases() {
    const Tensor x = tf::fill({10, 8, 32}, 0.1), odd = tf::fill({10, 7}, 0.1);
    return {
        {"cond",
         [](std::span<const Tensor> in) -> Tensors {
           return {tf::cond(
               is_positive(in[0]),
               [&] {
                 return tf::reduce_sum(tf::matmul(tf::sin(in[0]), in[0], {.transpose_b = true}));
               },
               [&] { return tf::reduce_sum(in[0]); })};
         },
         {x}},
        {"while",
         [](std::span<const Tensor> in) -> Tensors {
           return {tf::while_loop(
               [](const Tensor& i, const Tensor&) { return tf::less(i, number(9)); },
               [&](const Tensor& i, const Tensor& y) {
                 return Tensors{i + 1,
                                tf::matmul(tf::sin(y), tf::cos(y), {.transpose_a = true}) * 0.1F};
               },
               {number(0), tf::fill({64, 64}, 0.1) * tf::reduce_sum(in[0])})[1]};
         },
         {x}},
        {"train a recurrent network",
         [this](std::span<const Tensor> in) { return train(in[0]); },
         {x}},
        {"rows that are not aligned",
         [](std::span<const Tensor> in) -> Tensors {
           GradientTape tape;
           tape.watch(in[0]);
           const Tensor y =
               tf::scan([](const Tensor& a, const Tensor& e) { return tf::tanh(a * 0.5F + e); },
                        in[0], tf::zeros({7}), {.reverse = true});
           return {tape.gradient(tf::reduce_sum(y), in[0]), y};
         },
         {odd}},
        {"nested",
         [this](std::span<const Tensor> in) -> Tensors {
           return {tf::map_fn(
               [&](const Tensor& e) {
                 return tf::while_loop(
                     [](const Tensor& i, const Tensor&) { return tf::less(i, number(3)); },
                     [&](const Tensor& i, const Tensor& y) {
                       return Tensors{
                           i + 1, tf::cond(
                                      is_positive(y), [&] { return tf::matmul(y, weights_[0]); },
                                      [&] { return tf::nn::dropout(y, 0.5); })};
                     },
                     {number(0), e})[1];
               },
               in[0])};
         },
         {x}},
    };
  }

  Tensors train(const Tensor& x) {
    GradientTape tape;
    Tensor h;
    {
      tf::name_scope scope("rnn");
      h = tf::scan([&](const Tensor& a,
                       const Tensor& e) { return tf::tanh(tf::matmul(a, weights_[0]) + e); },
                   x, tf::zeros({8, 32}));
    }
    const Tensor loss = tf::reduce_sum(h * h);
    weights_[0].assign_sub(tape.gradient(loss, weights_[0].value()) * 0.01F);
    return {loss};
  }

  std::vector<Variable> weights_;
};

std::vector<TensorSpec> specs_of(const Tensors& tensors) {
  std::vector<TensorSpec> specs;
  for (const Tensor& t : tensors) specs.push_back({t.dtype(), t.shape()});
  return specs;
}

// The height that a run writes for sure; of scratch a kernel may leave the end as it was.
std::uint64_t must_be_written(const MemoryPlan& plan) {
  std::uint64_t height = 0;
  for (const PlannedBuffer& b : plan.buffers) {
    if (b.place == PlannedBuffer::Place::kArena) height = std::max(height, b.offset + b.nbytes);
    if (b.place == PlannedBuffer::Place::kScratch) height = std::max(height, b.offset + 1);
  }
  return height;
}

TEST_F(ControlFlowMemoryTest, ThePeakIsKnownBeforeTheRun) {
  for (const Case& c : cases()) {
    Function f(c.body);
    const MemoryPlan plan = f.plan(specs_of(c.inputs));
    Tensors out = f(c.inputs);
    const std::uint64_t written = measure_written_height(f, c.inputs, out);
    EXPECT_LE(written, plan.arena_bytes) << c.name;
    EXPECT_GE(written, must_be_written(plan)) << c.name;
    const std::uint64_t live = *std::ranges::max_element(plan.live_bytes);  // rounded up to 64
    EXPECT_LE(live, memory::round_up(plan.arena_bytes, memory::kGrain)) << c.name;
  }
}

TEST_F(ControlFlowMemoryTest, ASecondRunAllocatesNothing) {
  for (const Case& c : cases()) {
    Function f(c.body);
    Tensors out = f(c.inputs);
    f.run(c.inputs, out);
    const std::uint64_t count = memory::stats("CPU:0").count;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t before = num_news;
      f.run(c.inputs, out);
      if (is_checking_arenas()) continue;  // the watch keeps books
      EXPECT_EQ(num_news - before, 0) << c.name;
    }
    EXPECT_EQ(memory::stats("CPU:0").count, count) << c.name;
  }
}

TEST_F(ControlFlowMemoryTest, ThePlanNamesWhatIsInside) {
  Function f([this](std::span<const Tensor> in) { return train(in[0]); });
  const MemoryPlan plan = f.plan({{float32, {10, 8, 32}}});
  bool has_inner = false;
  for (const PlannedBuffer& b : plan.buffers)
    has_inner |= b.op.ends_with(" in Scan") && b.layer == "rnn";
  EXPECT_TRUE(has_inner) << plan.to_string();
}

// A loop costs one body, however often it runs; a scan that is differentiated one row more for
// each.
TEST_F(ControlFlowMemoryTest, LoopsCostOneBody) {
  const auto arena = [&](std::int64_t length, bool is_loop) {
    Function f([&](std::span<const Tensor> in) -> Tensors {
      GradientTape tape;
      Tensor h = tf::zeros({8, 32});
      const auto cell = [&](const Tensor& a, const Tensor& e) {
        const Tensor gate = tf::sigmoid(tf::matmul(a, weights_[0]) + e);
        return tf::tanh(tf::matmul(a * gate, weights_[0]) + e) * gate + a;
      };
      if (is_loop) {
        const Tensor all = tf::scan(cell, in[0], h);
        h = tf::getitem(all, {-1});
      } else {
        for (const Tensor& e : tf::unstack(in[0])) h = cell(h, e);
      }
      return {tape.gradient(tf::reduce_sum(h), weights_[0].value())};
    });
    return f.plan({{float32, {length, 8, 32}}}).arena_bytes;
  };
  const std::uint64_t row = 8 * 32 * 4;
  // Saved states, and their gradients by row.
  EXPECT_LE(arena(64, true) - arena(32, true), 2 * 32 * row);
  EXPECT_LT(2 * arena(64, true), arena(64, false));
}

TEST_F(ControlFlowMemoryTest, AnErrorGivesAllMemoryBack) {
  Function f([this](std::span<const Tensor> in) -> Tensors {
    return {tf::map_fn([&](const Tensor& i) { return tf::gather(weights_[0], i); }, in[0])};
  });
  const Tensor good = constant<std::int32_t>({0, 1, 2}), bad = constant<std::int32_t>({0, 1, 99});
  Tensors out = f(Tensors{good});
  out.clear();
  const auto before = memory::stats("CPU:0").in_use;
  EXPECT_THROW(f(Tensors{bad}), InvalidArgumentError);
  EXPECT_LE(memory::stats("CPU:0").in_use, before);
  out = f(Tensors{good});
  out.clear();
  EXPECT_EQ(memory::stats("CPU:0").in_use, before);
}

}  // namespace
}  // namespace plimsoll
