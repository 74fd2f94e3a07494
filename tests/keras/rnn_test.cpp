// Recurrent layers: what a comparison with Keras, one call at a time, does not see.
#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/layers/rnn.h"
#include "plimsoll/memory_plan.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::GRU;
using layers::LSTM;
using layers::RNN;

constexpr std::int64_t kBatch = 3, kTime = 6, kIn = 4, kUnits = 5;

Tensor sequence(std::int64_t seed, std::int64_t time = kTime) {
  return random::stateless_normal({kBatch, time, kIn}, {seed, 1});
}
Nested initial_state(const Nested& states) {
  return Nested::dict({{"initial_state", states}});
}
void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
}
void expect_near(const Tensor& a, const Tensor& b, float tolerance = 1e-5F) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.to_vector<float>(), y = b.to_vector<float>();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tolerance) << "at " << i;
}

template <class Layer>
void check_stateful(const Layer& stateful, const Layer& plain) {
  const Tensor first = sequence(1), second = sequence(2);
  stateful(first);
  plain(first);
  plain->set_weights(stateful->get_weights());
  stateful->reset_state();

  const Nested a = plain(first);
  Nested::List states;
  for (std::size_t i = 1; i < a.size(); ++i) states.push_back(a[i]);
  const Nested b = plain(second, {.named = initial_state(states)});
  expect_equal(stateful(first)[0], a[0]);
  expect_equal(stateful(second)[0], b[0]);
  stateful->reset_states();
  expect_equal(stateful(first)[0], a[0]);
}

TEST(RnnTest, StatefulGoesOnWhereTheBatchBeforeEnded) {
  check_stateful(LSTM({.units = kUnits, .return_state = true, .stateful = true}),
                 LSTM({.units = kUnits, .return_state = true}));
  check_stateful(
      GRU({.units = kUnits, .activation = "elu", .return_state = true, .stateful = true}),
      GRU({.units = kUnits, .activation = "elu", .return_state = true}));
}

TEST(RnnTest, StatefulInAFunctionToo) {
  const auto lstm = LSTM({.units = kUnits, .stateful = true});
  const Tensor first = sequence(1), second = sequence(2);
  const Tensor a = lstm(first), b = lstm(second);
  lstm->reset_state();
  const auto f =
      Function([&](std::span<const Tensor> in) -> std::vector<Tensor> { return {lstm(in[0])}; });
  expect_equal(f(std::vector{first})[0], a);
  expect_equal(f(std::vector{second})[0], b);
}

TEST(RnnTest, StatefulRefusesAnotherBatch) {
  const auto lstm = LSTM({.units = kUnits, .stateful = true});
  lstm(sequence(1));
  EXPECT_THROW(lstm(zeros({kBatch + 1, kTime, kIn})), InvalidArgumentError);
}

// A running sum of the projected inputs, and how many there were.
class SumCell : public RnnCell {
 public:
  std::string class_name() const override { return "SumCell"; }
  std::vector<std::int64_t> state_sizes() const override { return {kUnits, 1}; }
  void build(const Shapes& input) override {
    w_ = add_weight({.name = "w", .shape = {input.leaf()[-1], kUnits}});
  }
  RnnStep step(const Tensor& x, std::span<const Tensor> states, const CallArgs&) override {
    const Tensor sum = matmul(x, *w_) + states[0], count = states[1] + 1.0;
    return {sum / count, {sum, count}};
  }
  VariablePtr w_;
};

TEST(RnnTest, TakesACellOfOnesOwn) {
  const auto cell = std::make_shared<SumCell>();
  const auto rnn = RNN({.cell = cell, .return_sequences = true, .return_state = true});
  const Tensor x = sequence(3);
  const Nested made = rnn(x);
  ASSERT_EQ(made.size(), 3U);
  ASSERT_EQ(rnn->weights().size(), 1U);
  EXPECT_EQ(rnn->weights()[0]->name(), "w");
  const Tensor sums = cumsum(matmul(x, *cell->w_), 1);
  expect_near(made[1], getitem(sums, {Index(), Index(-1)}));
  expect_near(made[0], sums / reshape(cast(range(1, kTime + 1), float32), {1, kTime, 1}));
  expect_near(made[2], fill({kBatch, 1}, kTime));

  const auto f = Function([&](std::span<const Tensor> in) -> std::vector<Tensor> {
    const Nested traced = rnn(in[0]);
    return {traced[0], traced[1], traced[2]};
  });
  const auto traced = f(std::vector{x});
  for (std::size_t i = 0; i < 3; ++i) expect_near(traced[i], made[i]);
}

TEST(RnnTest, ALoopIsOneNodeHoweverLongTheSequence) {
  const auto gru = GRU({.units = kUnits, .activation = "elu"});
  gru(sequence(1));
  const auto f =
      Function([&](std::span<const Tensor> in) -> std::vector<Tensor> { return {gru(in[0])}; });
  const MemoryPlan shorter = f.plan({{float32, {kBatch, kTime, kIn}}});
  const MemoryPlan longer = f.plan({{float32, {kBatch, 50 * kTime, kIn}}});
  EXPECT_EQ(shorter.num_steps, longer.num_steps);
}

TEST(RnnTest, LstmInAFunctionGivesTheSameBitsWithoutASecondCopyOfTheSequence) {
  for (const bool sequences : {true, false}) {
    const auto lstm = LSTM({.units = kUnits, .return_sequences = sequences});
    const Tensor x = sequence(4);
    const Tensor eager = lstm(x);
    const auto f =
        Function([&](std::span<const Tensor> in) -> std::vector<Tensor> { return {lstm(in[0])}; });
    expect_equal(f(std::vector{x})[0], eager);

    constexpr std::int64_t kLong = 2000;
    const MemoryPlan plan = f.plan({{float32, {kBatch, kLong, kIn}}});
    const std::uint64_t outputs = kBatch * kLong * kUnits * 4, input = kBatch * kLong * kIn * 4;
    for (const PlannedBuffer& b : plan.buffers) {
      EXPECT_FALSE(b.place == PlannedBuffer::Place::kArena && b.nbytes >= input && sequences)
          << b.op << " in the arena";
    }
    // The outputs of all steps are made, the sequence is not copied.
    EXPECT_LT(plan.reserve_bytes(), outputs + input / 2);
  }
}

TEST(RnnTest, DropoutOfASequenceIsOneMask) {
  const auto lstm = LSTM({.units = kUnits, .dropout = 0.5, .seed = 7, .return_sequences = true});
  const Tensor x = ones({kBatch, kTime, kIn});
  const Tensor still = lstm(x), first = lstm(x, {.training = true});
  const auto a = still.to_vector<float>(), b = first.to_vector<float>();
  EXPECT_NE(a, b);
  // Recurrent dropout goes through the cells, eagerly and in a function.
  const auto both =
      GRU({.units = kUnits, .dropout = 0.3, .recurrent_dropout = 0.5, .return_sequences = true});
  EXPECT_EQ(Tensor(both(x, {.training = true})).shape(), Shape({kBatch, kTime, kUnits}));
  const auto f = Function([&](std::span<const Tensor> in) -> std::vector<Tensor> {
    return {both(in[0], {.training = true})};
  });
  EXPECT_NE(f(std::vector{x})[0].to_vector<float>(), f(std::vector{x})[0].to_vector<float>());
}

TEST(RnnTest, ACellKeepsItsMaskUntilItIsReset) {
  const auto cell = layers::SimpleRNNCell({.units = 64, .dropout = 0.5});
  const Tensor x = ones({2, 16});
  const Nested states = {zeros({2, 64})};
  const CallArgs args{.training = true, .named = Nested::dict({{"states", states}})};
  const Tensor a = cell(x, args)[0], b = cell(x, args)[0];
  expect_equal(a, b);
  cell->reset_dropout_mask();
  EXPECT_NE(Tensor(cell(x, args)[0]).to_vector<float>(), a.to_vector<float>());
}

TEST(RnnTest, SymbolicShapes) {
  const KerasTensor x = Input({kNone, kIn});
  const KerasTensor y = LSTM({.units = kUnits, .return_sequences = true})(x);
  EXPECT_EQ(y.shape(), PartialShape({kNone, kNone, kUnits}));
  const KerasTensor z = GRU({.units = kUnits, .activation = "elu"})(x);
  EXPECT_EQ(z.shape(), PartialShape({kNone, kUnits}));
  EXPECT_THROW(LSTM({.units = kUnits, .unroll = true})(x), InvalidArgumentError);
  EXPECT_THROW(LSTM({.units = kUnits, .stateful = true})(x), InvalidArgumentError);
}

TEST(RnnTest, Refusals) {
  EXPECT_THROW(LSTM({.units = 0}), InvalidArgumentError);
  EXPECT_THROW(LSTM({.units = 2})(zeros({2, 3})), InvalidArgumentError);
  EXPECT_THROW(LSTM({.units = 2})(zeros({2, 3, 4}), {.named = initial_state(zeros({2, 2}))}),
               InvalidArgumentError);
  EXPECT_THROW(RNN(RNNConfig{}), InvalidArgumentError);
  EXPECT_THROW(layers::Bidirectional({.layer = LSTM({.units = 2}), .merge_mode = "both"}),
               InvalidArgumentError);
  EXPECT_THROW(Layer::get(Json::parse(R"({"class_name": "Lambda", "config": {}})")),
               InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll::keras
