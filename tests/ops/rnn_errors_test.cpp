// Recurrent layers as they are called: what they refuse, tapes and functions around them, lengths,
// 16-bit tensors.
#include "ops/differences.h"
#include "ops/error_text.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using testing_ops::expect_gradients;
using testing_ops::HostTensor;
using testing_ops::numbers;
using testing_ops::to_device;
using testing_ops::to_host;

// A layer of any kind, with its outputs and last states behind each other.
Tensor joined(const std::vector<Tensor>& in, int kind, const nn::RnnOptions& options) {
  const auto flat = [](const Tensor& t) { return reshape(t, {-1}); };
  if (kind == 0) {
    const auto [y, h, c] = nn::lstm(in[0], in[1], in[2], in[3], options);
    return concat({flat(y), flat(h), flat(c)}, 0);
  }
  const auto [y, h] = kind < 3 ? nn::gru(in[0], in[1], in[2], in[3], options, kind == 1)
                               : nn::simple_rnn(in[0], in[1], in[2], in[3], options);
  return concat({flat(y), flat(h)}, 0);
}
constexpr int kNumKinds = 4;

// x [2, 3, 2], weights of 3 units, bias, h and c.
std::vector<HostTensor> inputs_of(int kind, std::int64_t batch = 2) {
  const std::int64_t columns = kind == 0 ? 12 : (kind < 3 ? 9 : 3);
  return {numbers({batch, 3, 2}, 1), numbers({2, columns}, 2),
          numbers({3, columns}, 3),  numbers(kind == 1 ? Shape{2, columns} : Shape{columns}, 4),
          numbers({batch, 3}, 5),    numbers({batch, 3}, 6)};
}

// As a tape sees it, the op keeps what its gradient reads.
TEST(RnnTest, GradientsThroughATapeMatchDifferences) {
  const Tensor mask = constant({true, false, true, false, true, true}, {2, 3});
  for (int kind = 0; kind < kNumKinds; ++kind) {
    SCOPED_TRACE(kind);
    auto in = inputs_of(kind);
    if (kind != 0) in.pop_back();
    expect_gradients(
        [&](const std::vector<Tensor>& t) {
          nn::RnnOptions options{.initial_state = t[4], .mask = mask};
          if (kind == 0) options.initial_c = t[5];
          return joined(t, kind, options);
        },
        in);
  }
}

// In the body of a loop nothing is kept, and the gradient takes the steps again.
TEST(RnnTest, GradientsThroughABodyMatchThoseOutside) {
  std::vector<Tensor> in;
  for (const HostTensor& t : inputs_of(0)) in.push_back(to_device(t));
  const auto loss = [](std::span<const Tensor> t) {
    const auto made = nn::lstm(t[0], t[1], t[2], t[3]);
    return reduce_sum(square(made.outputs)) + reduce_sum(made.c);
  };
  const auto gradients = [&](auto&& of) {
    return function([&](std::span<const Tensor> given) {
      GradientTape tape;
      for (const Tensor& t : given) tape.watch(t);
      const Tensor target = of(given);
      return tape.gradient(std::span(&target, 1), given.first(4));
    })(std::span<const Tensor>(in));
  };
  const auto plain = gradients(loss);
  const auto branched = gradients([&](std::span<const Tensor> t) {
    return cond(
        greater(reduce_sum(square(t[0])), fill({}, 0.0, float64)), [&] { return loss(t); },
        [&] { return reduce_sum(t[0]); });
  });
  ASSERT_EQ(plain.size(), branched.size());
  for (std::size_t i = 0; i < plain.size(); ++i)
    testing_ops::expect_values(branched[i], to_host(plain[i]));
}

TEST(RnnTest, LengthsAreAMask) {
  for (int kind = 0; kind < kNumKinds; ++kind) {
    std::vector<Tensor> in;
    for (const HostTensor& t : inputs_of(kind, 3)) in.push_back(to_device(t));
    const Tensor lengths = constant({2, 0, 3});
    const Tensor wanted = joined(in, kind, {.mask = sequence_mask(lengths, 3)});
    testing_ops::expect_values(joined(in, kind, {.lengths = lengths}), to_host(wanted), 0);
  }
  // The same with time first.
  std::vector<Tensor> in;
  for (const HostTensor& t : inputs_of(3, 3)) in.push_back(to_device(t));
  const Tensor lengths = constant({2, 0, 3});
  const auto wanted = nn::simple_rnn(in[0], in[1], in[2], in[3], {.lengths = lengths});
  const auto got = nn::simple_rnn(transpose(in[0], {1, 0, 2}), in[1], in[2], in[3],
                                  {.lengths = lengths, .time_major = true});
  testing_ops::expect_values(transpose(got.outputs, {1, 0, 2}), to_host(wanted.outputs), 0);
  testing_ops::expect_values(got.state, to_host(wanted.state), 0);
}

TEST(RnnTest, WithoutATapeNothingIsKept) {
  std::vector<Tensor> in;
  for (const HostTensor& t : inputs_of(0)) in.push_back(cast(to_device(t), float32));
  const auto bytes_of = [&](bool watches) {
    const auto f = function([watches](std::span<const Tensor> t) {
      GradientTape tape;
      if (watches) tape.watch(t[1]);
      return nn::lstm(t[0], t[1], t[2], t[3]).outputs;
    });
    std::vector<TensorSpec> specs;
    for (const Tensor& t : in) specs.push_back({t.dtype(), t.shape()});
    return f.plan(specs).arena_bytes;
  };
  EXPECT_LT(bytes_of(false), bytes_of(true));
}

// Computed in float32, and rounded on the way out.
TEST(RnnTest, SixteenBitsAreNear) {
  for (const DType dtype : {float16, bfloat16}) {
    const double tolerance = dtype == float16 ? 4e-3 : 3e-2;
    for (int kind = 0; kind < kNumKinds; ++kind) {
      SCOPED_TRACE(kind);
      const auto host = inputs_of(kind, 5);
      const auto run = [&](DType as) {
        std::vector<Tensor> in;
        for (const HostTensor& t : host) in.push_back(cast(cast(to_device(t), dtype), as));
        GradientTape tape;
        for (const Tensor& t : in) tape.watch(t);
        const Tensor y = joined(in, kind, {});
        const Tensor sum = reduce_sum(square(y));
        auto all = tape.gradient(std::span(&sum, 1), std::span(in).first(4));
        all.push_back(y);
        for (Tensor& t : all) t = cast(t, float64);
        return all;
      };
      const auto got = run(dtype), wanted = run(float32);
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto a = to_host(got[i]).values, b = to_host(wanted[i]).values;
        for (std::size_t k = 0; k < a.size(); ++k)
          ASSERT_NEAR(a[k], b[k], tolerance * std::max(1.0, std::abs(b[k]))) << i << " " << k;
      }
    }
  }
}

TEST(RnnErrorsTest, SaysWhatIsWrong) {
  const Tensor x = ones({2, 3, 4}), kernel = ones({4, 20}), recurrent = ones({5, 20});
  EXPECT_INVALID(nn::lstm(ones({2, 3}), kernel, recurrent),
                 "Lstm needs x of shape [batch, time, features], got shape [2,3]");
  EXPECT_INVALID(nn::lstm(cast(x, int32), kernel, recurrent),
                 "Lstm needs floating point x, got int32");
  EXPECT_INVALID(nn::lstm(x, ones({3, 20}), recurrent),
                 "Lstm of x float32 [2,3,4] and recurrent_kernel [5,20] needs a kernel of type "
                 "float32 and shape [4,20], got float32 of shape [3,20]");
  EXPECT_INVALID(nn::gru(x, kernel, recurrent),
                 "Gru of x float32 [2,3,4] and recurrent_kernel [5,20] needs a kernel of type "
                 "float32 and shape [4,15], got float32 of shape [4,20]");
  EXPECT_INVALID(
      nn::gru(x, ones({4, 15}), ones({5, 15}), ones({15})),
      "Gru of x float32 [2,3,4] and recurrent_kernel [5,15] needs a bias of type float32 "
      "and shape [2,15], got float32 of shape [15]");
  EXPECT_INVALID(nn::lstm(x, kernel, recurrent, cast(ones({20}), float64)),
                 "Lstm of x float32 [2,3,4] and recurrent_kernel [5,20] needs a bias of type "
                 "float32 and shape [20], got float64 of shape [20]");
  EXPECT_INVALID(nn::lstm(x, kernel, recurrent, {}, {.mask = ones({2, 3})}),
                 "Lstm of x float32 [2,3,4] and recurrent_kernel [5,20] needs a mask of type bool "
                 "and shape [2,3], got float32 of shape [2,3]");
  EXPECT_INVALID(nn::lstm(ones({2, 0, 4}), kernel, recurrent),
                 "Lstm needs at least one unit, feature and step, got x of shape [2,0,4]");
  EXPECT_INVALID(nn::lstm(x, kernel, recurrent, {}, {.initial_state = ones({2, 5})}),
                 "lstm needs both initial_state and initial_c, or neither");
  EXPECT_INVALID(nn::simple_rnn(x, ones({4, 5}), ones({5, 5}), {}, {.initial_c = ones({2, 5})}),
                 "simple_rnn has one state only; got an initial_c");
  EXPECT_INVALID(nn::simple_rnn(x, ones({4, 5}), ones({5, 5}), {}, {}, "gelu"),
                 "simple_rnn has the activations \"tanh\" and \"relu\", got \"gelu\"");
  EXPECT_INVALID(
      nn::lstm(x, kernel, recurrent, {}, {.lengths = constant({1, 2, 3})}),
      "lstm of x [2,3,4] needs an integer length for each row of the batch, got int32 of "
      "shape [3]");
  EXPECT_INVALID(nn::lstm({}, kernel, recurrent), "lstm needs x, kernel and recurrent_kernel");
}

TEST(RnnErrorsTest, HasNoSecondDerivatives) {
  const Tensor x = ones({1, 2, 2}), kernel = ones({2, 2}), recurrent = ones({2, 2});
  GradientTape outer({.persistent = true});
  outer.watch(x);
  Tensor dx;
  {
    GradientTape inner;
    inner.watch(x);
    dx = inner.gradient(reduce_sum(nn::simple_rnn(x, kernel, recurrent).outputs), x);
  }
  EXPECT_THROW(outer.gradient(dx, x), UnimplementedError);
}

}  // namespace
}  // namespace plimsoll
