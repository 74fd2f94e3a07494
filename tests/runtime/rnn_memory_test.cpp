// Training steps with recurrent layers keep the contract: the peak is what the plan says, a second
// run reserves nothing, and a limit of the peak less a line is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"
#include "runtime/measure.h"
#include "runtime/placement.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kBatch = 12, kTime = 9, kIn = 24, kUnits = 40;

class RnnMemoryTest : public FreshTest, public testing::WithParamInterface<const char*> {
 protected:
  std::int64_t gates() const {
    const std::string kind = GetParam();
    return kind == "lstm" ? 4 : (kind == "simple_rnn" ? 1 : 3);
  }
  void SetUp() override {
    FreshTest::SetUp();
    const std::int64_t columns = gates() * kUnits;
    weights_.emplace_back(fill({kIn, columns}, 0.02), VariableOptions{.name = "kernel"});
    weights_.emplace_back(fill({kUnits, columns}, 0.01), VariableOptions{.name = "recurrent"});
    weights_.emplace_back(
        zeros(std::string(GetParam()) == "gru" ? Shape{2, columns} : Shape{columns}),
        VariableOptions{.name = "bias"});
    inputs_ = {fill({kBatch, kTime, kIn}, 0.1), sequence_mask(range(0, kBatch, 1, int32), kTime)};
  }

  Tensor outputs(const Tensor& x, const Tensor& mask) const {
    const Tensor &w = weights_[0].value(), &u = weights_[1].value(), &b = weights_[2].value();
    const std::string kind = GetParam();
    if (kind == "lstm") return nn::lstm(x, w, u, b, {.mask = mask}).outputs;
    if (kind == "simple_rnn") return nn::simple_rnn(x, w, u, b, {.mask = mask}).outputs;
    return nn::gru(x, w, u, b, {.mask = mask}, kind == "gru").outputs;
  }
  Function step() {
    return Function([this](std::span<const Tensor> in) -> std::vector<Tensor> {
      GradientTape tape;
      tape.watch(in[0]);
      const Tensor loss = reduce_mean(square(outputs(in[0], in[1]) - 0.5F));
      const Variable* trained[] = {&weights_[0], &weights_[1], &weights_[2]};
      const auto gradients = tape.gradient(loss, trained);
      for (std::size_t i = 0; i < 3; ++i) weights_[i].assign_sub(gradients[i] * 0.1F);
      return {loss};
    });
  }
  std::vector<TensorSpec> specs() const {
    std::vector<TensorSpec> made;
    for (const Tensor& t : inputs_) made.push_back({t.dtype(), t.shape()});
    return made;
  }

  std::vector<Variable> weights_;
  std::vector<Tensor> inputs_;
};
INSTANTIATE_TEST_SUITE_P(All, RnnMemoryTest,
                         testing::Values("lstm", "gru", "gru_reset_before", "simple_rnn"),
                         [](const auto& c) { return std::string(c.param); });

TEST_P(RnnMemoryTest, ThePeakIsKnownBeforeTheRun) {
  const Function f = step();
  const MemoryPlan plan = f.plan(specs());
  std::vector<Tensor> out = f(inputs_);
  const std::uint64_t written = measure_written_height(f, inputs_, out);
  std::uint64_t surely = 0;  // of scratch a kernel may leave the end as it was
  for (const PlannedBuffer& b : plan.buffers) {
    if (b.place == PlannedBuffer::Place::kArena) surely = std::max(surely, b.offset + b.nbytes);
    if (b.place == PlannedBuffer::Place::kScratch) surely = std::max(surely, b.offset + 1);
  }
  EXPECT_LE(written, plan.arena_bytes);
  EXPECT_GE(written, surely);
}

TEST_P(RnnMemoryTest, ASecondStepReservesNothingAndTheLossFalls) {
  const Function f = step();
  std::vector<Tensor> out = f(inputs_);
  const float first = out[0].item<float>();
  f.run(inputs_, out);
  const std::uint64_t count = memory::stats("CPU:0").count;
  for (int i = 0; i < 20; ++i) f.run(inputs_, out);
  EXPECT_EQ(memory::stats("CPU:0").count, count);
  EXPECT_LT(out[0].item<float>(), first);
}

// The plan's peak is enough, and a line less is not.
TEST_P(RnnMemoryTest, ThePeakIsEnough) {
  const Function f = step();
  const MemoryPlan plan = f.plan(specs());
  memory::Budget budget = Context::get().find_device(parse_device_spec("CPU:0"))->budget();
  const std::uint64_t before = budget.in_use();
  budget.set_limit(before + plan.reserve_bytes() - 64);
  EXPECT_THROW(f(inputs_), ResourceExhaustedError);
  EXPECT_EQ(budget.in_use(), before);
}

}  // namespace
}  // namespace plimsoll
