// Attention as users call it: what it refuses, what it equals, and what it takes.
#include <cmath>

#include "ops/error_text.h"
#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using nn::scaled_dot_product_attention;
using testing_ops::error_of;

Tensor some(const Shape& shape, std::int64_t seed, DType dtype = float32) {
  return random::stateless_uniform(shape, {seed, 7}, -1, 1, dtype);
}
void expect_near(const Tensor& got, const Tensor& wanted, double tolerance) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const auto a = cast(got, float64).to_vector<double>(),
             b = cast(wanted, float64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << i;
}
// The definition, with all probabilities at once: [batch, time, heads, dim], as many heads of keys.
Tensor plain(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) {
  const std::vector<std::int64_t> by_heads{0, 2, 1, 3};
  const double scale = 1 / std::sqrt(static_cast<double>(q.shape().dim(3)));
  const Tensor scores =
      matmul(transpose(q, by_heads), transpose(k, by_heads), {.transpose_b = true}) * scale + bias;
  return transpose(matmul(nn::softmax(scores), transpose(v, by_heads)), by_heads);
}

std::vector<Tensor> gradients_of(GradientTape& tape, const Tensor& y,
                                 const std::vector<Tensor>& sources) {
  return tape.gradient(std::span(&y, 1), std::span(sources));
}

TEST(AttentionErrorsTest, ShapesAndTypesThatDoNotFit) {
  const Tensor q = some({2, 3, 4, 8}, 1), k = some({2, 5, 4, 8}, 2);
  EXPECT_EQ(error_of([&] {
              scaled_dot_product_attention(q, k, some({2, 6, 4, 8}, 3));
            }),
            "query [batch, tq, heads, dim], key [batch, tk, kv_heads, dim] and value [batch, tk, "
            "kv_heads, dv] do not go together. Received: query.shape=[2,3,4,8], "
            "key.shape=[2,5,4,8], value.shape=[2,6,4,8]");
  EXPECT_EQ(error_of([&] {
              scaled_dot_product_attention(q, some({2, 5, 8}, 1), k);
            }),
            "scaled_dot_product_attention takes [batch, time, heads, dim], or [batch, time, dim] "
            "throughout. Received: query.shape=[2,3,4,8], key.shape=[2,5,8], "
            "value.shape=[2,5,4,8]");
  const Tensor three = some({2, 5, 3, 8}, 1);
  EXPECT_EQ(error_of([&] { scaled_dot_product_attention(q, three, three); }),
            "heads of the query must be a multiple of those of key and value, received 4 and 3");
  EXPECT_EQ(error_of([&] { scaled_dot_product_attention(q, k, cast(k, float64)); }),
            "query, key and value must have the same floating type, received float32, float32 and "
            "float64");
  EXPECT_EQ(error_of([&] {
              scaled_dot_product_attention(q, k, k, {.mask = fill({3, 4}, 1, bool_)});
            }),
            "mask must broadcast to the scores [batch, heads, tq, tk] = [2,4,3,5], received shape "
            "[1,1,3,4]");
  EXPECT_EQ(error_of([&] { scaled_dot_product_attention(q, k, k, {.mask = constant({1})}); }),
            "mask must be bool, received int32");
  EXPECT_EQ(error_of([&] { scaled_dot_product_attention(q, k, k, {.dropout_rate = 1.0}); }),
            "`dropout_rate` must be in the range [0, 1). Received: 1");
}

TEST(AttentionErrorsTest, NoGradientsOfGradients) {
  const Tensor q = some({1, 4, 2, 8}, 1);
  GradientTape outer;
  outer.watch(q);
  Tensor slope;
  {
    GradientTape tape;
    tape.watch(q);
    slope = tape.gradient(scaled_dot_product_attention(q, q, q), q);
  }
  EXPECT_THROW(outer.gradient(slope, q), UnimplementedError);
}

TEST(AttentionTest, EqualsItsDefinitionWithEveryOption) {
  const Tensor q = some({2, 70, 4, 24}, 1), k = some({2, 110, 4, 24}, 2);
  const Tensor v = some({2, 110, 4, 40}, 3), bias = some({4, 70, 110}, 4);
  const Tensor mask = greater(some({2, 1, 1, 110}, 5), fill({}, -0.5));
  const Tensor masked = where(mask, bias, fill({}, -1e9));
  expect_near(scaled_dot_product_attention(q, k, v, {.bias = bias, .mask = mask}),
              plain(q, k, v, masked), 1e-5);
  // A floating mask is a bias.
  expect_near(scaled_dot_product_attention(q, k, v, {.mask = masked}), plain(q, k, v, masked),
              1e-5);
}

TEST(AttentionTest, WithoutHeads) {
  const Tensor q = some({2, 7, 8}, 1), k = some({2, 9, 8}, 2), v = some({2, 9, 5}, 3);
  const Tensor mask = greater(some({2, 7, 9}, 5), fill({}, -0.5));
  const Tensor out = scaled_dot_product_attention(q, k, v, {.mask = mask});
  EXPECT_EQ(out.shape(), Shape({2, 7, 5}));
  const Tensor with = scaled_dot_product_attention(
      expand_dims(q, 2), expand_dims(k, 2), expand_dims(v, 2), {.mask = expand_dims(mask, 1)});
  expect_near(out, squeeze(with, {2}), 0);
}

TEST(AttentionTest, SharedHeadsOfKeysServeNeighbours) {
  const Tensor q = some({1, 9, 6, 8}, 1), k = some({1, 12, 2, 8}, 2), v = some({1, 12, 2, 8}, 3);
  const Tensor wide_k = repeat(k, 3, 2), wide_v = repeat(v, 3, 2);
  expect_near(scaled_dot_product_attention(q, k, v),
              scaled_dot_product_attention(q, wide_k, wide_v), 0);
}

// A row without keys: zeros, and gradients that are numbers.
TEST(AttentionTest, RowsWithoutKeysAreZerosForwardAndBackward) {
  const Tensor q = some({1, 4, 2, 8}, 1), k = some({1, 5, 2, 8}, 2), v = some({1, 5, 2, 8}, 3);
  const Tensor bias = fill({1, 1, 4, 5}, -INFINITY);
  GradientTape tape;
  for (const Tensor& x : {q, k, v}) tape.watch(x);
  const Tensor out = scaled_dot_product_attention(q, k, v, {.bias = bias});
  const auto gradients = gradients_of(tape, out, {q, k, v});
  expect_near(out, zeros({1, 4, 2, 8}), 0);
  for (const Tensor& g : gradients) expect_near(g, zeros(g.shape()), 0);
}

// 16-bit types compute in float32 tiles, forward and backward.
TEST(AttentionTest, NarrowTypesComputeInFloat) {
  for (const DType dtype : {float16, bfloat16}) {
    const Tensor x[] = {some({1, 60, 2, 16}, 1, dtype), some({1, 100, 2, 16}, 2, dtype),
                        some({1, 100, 2, 16}, 3, dtype), some({1, 2, 60, 100}, 4, dtype)};
    const auto run = [&](DType as) {
      std::vector<Tensor> in;
      for (const Tensor& t : x) in.push_back(identity(cast(t, as)));
      GradientTape tape;
      for (const Tensor& t : in) tape.watch(t);
      const Tensor y =
          scaled_dot_product_attention(in[0], in[1], in[2], {.bias = in[3], .is_causal = true});
      auto all = gradients_of(tape, y, in);
      all.push_back(y);
      return all;
    };
    const auto narrow = run(dtype), wide = run(float32);
    for (std::size_t i = 0; i < narrow.size(); ++i)
      expect_near(narrow[i], wide[i], dtype == float16 ? 2e-3 : 2e-2);
  }
}

TEST(AttentionTest, DropoutDrawsTheSameAgainForTheGradient) {
  const Tensor q = some({1, 20, 2, 8}, 1), k = some({1, 30, 2, 8}, 2);
  // With values that are rows of the unit matrix, the result is the dropped probabilities, and the
  // gradient by the values of their sum is the sum of each column.
  const Tensor v = broadcast_to(reshape(eye(30), {1, 30, 1, 30}), {1, 30, 2, 30});
  random::set_seed(3);
  GradientTape tape;
  tape.watch(v);
  const Tensor p = scaled_dot_product_attention(q, k, v, {.dropout_rate = 0.5});
  const Tensor by_v = tape.gradient(p, v);
  const Tensor columns = reduce_sum(p, {1});  // [1, heads, keys]
  expect_near(slice(by_v, {0, 0, 0, 0}, {1, 30, 2, 1}),
              reshape(transpose(columns, {0, 2, 1}), {1, 30, 2, 1}), 1e-5);
  const auto values = p.to_vector<float>();
  const auto dropped = std::count(values.begin(), values.end(), 0.0F);
  EXPECT_GT(dropped, 450);
  EXPECT_LT(dropped, 750);
}

// 8192 places, 4 heads of 64: the probabilities alone would be 1 GiB.
TEST(AttentionTest, MemoryGrowsWithTheSequenceNotItsSquare) {
  const Shape shape{1, 8192, 4, 64};
  const std::uint64_t tensor = 8_MiB;
  const Tensor q = some(shape, 1), k = some(shape, 2), v = some(shape, 3);
  const auto now = [] { return config::get_memory_info("CPU:0"); };
  const std::uint64_t before = now().current;
  config::reset_memory_stats("CPU:0");
  GradientTape tape;
  for (const Tensor& x : {q, k, v}) tape.watch(x);
  const Tensor out = scaled_dot_product_attention(q, k, v, {.is_causal = true});
  EXPECT_LE(now().peak - before, tensor + 64_MiB);  // beyond inputs and output
  const std::uint64_t held = now().current;
  config::reset_memory_stats("CPU:0");
  const auto gradients = gradients_of(tape, out, {q, k, v});
  EXPECT_LE(now().peak - held, 3 * tensor + 64_MiB);
  EXPECT_EQ(gradients.size(), 3U);
}

}  // namespace
}  // namespace plimsoll
