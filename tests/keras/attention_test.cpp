// Attention layers: their memory, and what they refuse.
#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/layers/attention.h"
#include "plimsoll/memory_plan.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using layers::GroupQueryAttention;
using layers::MultiHeadAttention;

constexpr std::int64_t kHeads = 2, kDim = 8, kFeatures = 16;

struct Masks {
  bool causal = false, padded = false;
};

// A training step of a layer on a sequence of this length: what it reserves.
template <class L>
std::uint64_t reserve_bytes(const L& layer, std::int64_t time, const Masks& masks) {
  const auto args = [&](const Tensor& x, const Tensor& mask) {
    CallArgs made{.training = true, .named = Nested::dict({{"value", x}})};
    if (masks.causal) made.options["use_causal_mask"] = true;
    if (masks.padded) made.named["value_mask"] = mask;
    return made;
  };
  const auto step = Function([&](std::span<const Tensor> in) -> std::vector<Tensor> {
    GradientTape tape;
    std::vector<const plimsoll::Variable*> trained;
    for (const VariablePtr& v : layer->trainable_weights()) {
      tape.watch(v->raw());
      trained.push_back(&v->raw());
    }
    const Tensor loss = reduce_mean(square(Tensor(layer(in[0], args(in[0], in[1])))));
    return tape.gradient(loss, trained);
  });
  layer(zeros({1, 4, kFeatures}), args(zeros({1, 4, kFeatures}), ones({1, 4}, bool_)));
  return step.plan({{float32, {1, time, kFeatures}}, {bool_, {1, time}}}).reserve_bytes();
}

TEST(AttentionTest, MemoryIsLinearInTheLength) {
  for (const Masks masks :
       {Masks{}, Masks{.causal = true}, Masks{.padded = true}, Masks{true, true}}) {
    const auto mha = MultiHeadAttention({.num_heads = kHeads, .key_dim = kDim});
    const std::uint64_t at_1024 = reserve_bytes(mha, 1024, masks);
    const std::uint64_t at_2048 = reserve_bytes(mha, 2048, masks);
    EXPECT_LT(at_2048, at_1024 * 11 / 5);
    EXPECT_LT(at_2048, std::uint64_t{2048} * 2048);  // not even a byte for each pair

    const auto gqa =
        GroupQueryAttention({.head_dim = kDim, .num_query_heads = 4, .num_key_value_heads = 2});
    EXPECT_LT(reserve_bytes(gqa, 2048, masks), reserve_bytes(gqa, 1024, masks) * 11 / 5);
  }
}

TEST(AttentionTest, DropoutStaysLinear) {
  const auto mha = MultiHeadAttention({.num_heads = kHeads, .key_dim = kDim, .dropout = 0.1});
  EXPECT_LT(reserve_bytes(mha, 2048, {}), std::uint64_t{2048} * 2048);
}

TEST(AttentionTest, WeightsHaveKerasNames) {
  const auto mha = MultiHeadAttention({.num_heads = kHeads, .key_dim = kDim}, {.name = "mha"});
  const Tensor x = zeros({1, 4, kFeatures});
  mha(x, {.named = Nested::dict({{"value", x}})});
  mha->set_path("");
  std::vector<std::string> paths;
  for (const VariablePtr& v : mha->weights()) paths.push_back(v->path());
  EXPECT_EQ(paths,
            (std::vector<std::string>{"mha/query/kernel", "mha/query/bias", "mha/key/kernel",
                                      "mha/key/bias", "mha/value/kernel", "mha/value/bias",
                                      "mha/attention_output/kernel", "mha/attention_output/bias"}));
}

TEST(AttentionTest, Symbolic) {
  const KerasTensor q = Input({kNone, kFeatures}), v = Input({kNone, kFeatures});
  const KerasTensor y = MultiHeadAttention({.num_heads = kHeads, .key_dim = kDim})(
      q, {.named = Nested::dict({{"value", v}})});
  EXPECT_EQ(y.shape(), PartialShape({kNone, kNone, kFeatures}));
}

TEST(AttentionTest, Refusals) {
  const Tensor x = zeros({1, 4, kFeatures});
  const auto mha = MultiHeadAttention({.num_heads = kHeads, .key_dim = kDim});
  EXPECT_THROW(mha(x), InvalidArgumentError);  // no value
  EXPECT_THROW(MultiHeadAttention({.num_heads = 0, .key_dim = kDim}), InvalidArgumentError);
  EXPECT_THROW(MultiHeadAttention(
                   {.num_heads = 1, .key_dim = kDim, .dropout = 0.1, .flash_attention = true}),
               InvalidArgumentError);
  EXPECT_THROW(
      GroupQueryAttention({.head_dim = kDim, .num_query_heads = 3, .num_key_value_heads = 2}),
      InvalidArgumentError);
  EXPECT_THROW(layers::Attention()(x), InvalidArgumentError);  // no list
  EXPECT_THROW(layers::Attention({.score_mode = "sum"}), InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll::keras
