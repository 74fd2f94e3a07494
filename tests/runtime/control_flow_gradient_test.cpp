// Gradients of branches and loops: in a function they are those of an eager tape.
#include <gtest/gtest.h>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/control_flow_cases.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

class ControlFlowGradientTest : public FreshTest {};

TEST_F(ControlFlowGradientTest, OfCond) {
  Variable w(wave({3}));
  const auto body = [&](std::span<const Tensor> in) -> Tensors {
    GradientTape tape;
    tape.watch(in[0]);
    const Tensor& x = in[0];
    const Tensor y = tf::cond(
        tf::greater(tf::reduce_sum(x), tf::fill({}, 0)), [&] { return tf::sin(x) * w.value(); },
        [&] { return x * x; });
    const Tensor loss = tf::reduce_sum(y * y);
    return tape.gradient(Tensors{loss}, Tensors{x, w.value()}, {}, UnconnectedGradients::kZero);
  };
  expect_near(body, {tf::ones({3})});
  expect_near(body, {tf::negative(tf::ones({3}))});
}

TEST_F(ControlFlowGradientTest, OfScan) {
  // A recurrent network: weights from outside, inputs by row.
  Variable w(wave({4, 4})), u(wave({3, 4}, 0.4));
  for (const bool reverse : {false, true}) {
    const auto body = [&](std::span<const Tensor> in) {
      GradientTape tape;
      tape.watch(in[0]);
      tape.watch(in[1]);
      const Tensor h =
          tf::scan([&](const Tensor& a,
                       const Tensor& x) { return tf::tanh(tf::matmul(a, w) + tf::matmul(x, u)); },
                   in[0], in[1], {.reverse = reverse});
      const Tensor loss = tf::reduce_sum(h * h);
      Tensors out = tape.gradient(Tensors{loss}, Tensors{in[0], in[1], w.value(), u.value()});
      out.push_back(loss);
      return out;
    };
    expect_near(body, {wave({5, 2, 3}), wave({2, 4}, 1.5)});
  }
}

TEST_F(ControlFlowGradientTest, OfWhileNeedAMaximum) {
  const auto make = [](std::optional<std::int64_t> most) {
    return [most](std::span<const Tensor> in) -> Tensors {
      GradientTape tape;
      tape.watch(in[0]);
      const Tensors out =
          tf::while_loop([&](const Tensor& i, const Tensor&) { return tf::less(i, in[1]); },
                         [&](const Tensor& i, const Tensor& y) {
                           return Tensors{i + 1, y * in[0] + tf::cast(i, float32)};
                         },
                         {number(0), in[0]}, {.maximum_iterations = most});
      return {tape.gradient(tf::reduce_sum(out[1]), in[0]), out[1]};
    };
  };
  for (const int num : {0, 1, 3, 8, 20}) expect_near(make(8), {wave({3}), number(num)});
  Function f(make({}));
  const std::string message = message_of<InvalidArgumentError>([&] {
    f(Tensors{wave({3}), number(2)});
  });
  EXPECT_NE(message.find("maximum_iterations"), std::string::npos) << message;
}

TEST_F(ControlFlowGradientTest, OfMapFnAndNests) {
  expect_near(
      [](std::span<const Tensor> in) -> Tensors {
        GradientTape tape;
        tape.watch(in[0]);
        tape.watch(in[1]);
        const Tensor y = tf::map_fn(
            [&](const Tensor& x) {
              return tf::scan(
                  [&](const Tensor& a, const Tensor& e) {
                    return tf::cond(
                        tf::greater(e, tf::fill({}, 0)), [&] { return a * in[1] + e; },
                        [&] { return tf::sin(a) - e; });
                  },
                  x, in[1]);
            },
            in[0]);
        const Tensor loss = tf::reduce_sum(y * y);
        return tape.gradient(Tensors{loss}, Tensors{in[0], in[1]});
      },
      {wave({3, 4}), wave({2}, 1.0)});
}

TEST_F(ControlFlowGradientTest, OfNothingAndOfMany) {
  for (const Shape& shape : {Shape{0, 3}, Shape{4, 0}}) {
    const Tensor init = wave(Shape(shape.dims().subspan(1)));
    expect_same(
        [](std::span<const Tensor> in) -> Tensors {
          GradientTape tape;
          tape.watch(in[0]);
          tape.watch(in[1]);
          const Tensor y =
              tf::scan([](const Tensor& a, const Tensor& x) { return a * x; }, in[0], in[1]);
          return tape.gradient(Tensors{y}, Tensors{in[0], in[1]}, {}, UnconnectedGradients::kZero);
        },
        {wave(shape), init});
  }
  // More captures than a tape has bits for.
  Tensors in{wave({3, 4})};
  for (int i = 0; i < 80; ++i) in.push_back(wave({4}, 0.1 * i));
  expect_near(
      [](std::span<const Tensor> all) {
        GradientTape tape;
        for (std::size_t i = 1; i < all.size(); i += 2) tape.watch(all[i]);
        const Tensor y = tf::scan(
            [&](const Tensor& a, const Tensor& x) {
              Tensor sum = a * x;
              for (const Tensor& t : all.subspan(1)) sum = tf::sin(sum * t) + t;
              return sum;
            },
            all[0], tf::ones({4}));
        Tensors sources;
        for (std::size_t i = 1; i < all.size(); i += 2) sources.push_back(all[i]);
        return tape.gradient(Tensors{y}, sources);
      },
      in);
}

TEST_F(ControlFlowGradientTest, OfGradients) {
  for (const bool reverse : {false, true}) {
    expect_near(
        [&](std::span<const Tensor> in) -> Tensors {
          GradientTape outer;
          outer.watch(in[0]);
          outer.watch(in[1]);
          Tensors first;
          {
            GradientTape inner;
            inner.watch(in[0]);
            inner.watch(in[1]);
            const Tensor y = tf::scan(
                [&](const Tensor& a, const Tensor& x) { return a * a * x + tf::sin(x) * in[1]; },
                in[0], in[1], {.reverse = reverse});
            first = inner.gradient(Tensors{tf::reduce_sum(y)}, Tensors{in[0], in[1]});
          }
          const Tensor sum = tf::reduce_sum(first[0] * first[0]) + tf::reduce_sum(first[1]);
          return outer.gradient(Tensors{sum}, Tensors{in[0], in[1]});
        },
        {wave({4, 2}), wave({2}, 1.0)});
  }
  expect_near(
      [](std::span<const Tensor> in) -> Tensors {
        GradientTape outer;
        outer.watch(in[0]);
        Tensor first;
        {
          GradientTape inner;
          inner.watch(in[0]);
          const Tensor y =
              tf::while_loop([&](const Tensor& i, const Tensor&) { return tf::less(i, in[1]); },
                             [&](const Tensor& i, const Tensor& a) {
                               return Tensors{i + 1, a * a * in[0]};
                             },
                             {number(0), in[0]}, {.maximum_iterations = 5})[1];
          first = inner.gradient(tf::reduce_sum(y), in[0]);
        }
        return {first, outer.gradient(tf::reduce_sum(first * first), in[0])};
      },
      {wave({3}), number(3)});
}

TEST_F(ControlFlowGradientTest, NoGradientFlowsThroughAnAssignment) {
  const auto run = [](bool is_traced) {
    Variable w(wave({3})), v(wave({3}, 1.2));
    const auto body = [&](const Tensor& x) {
      GradientTape tape;
      const Tensor w0 = w.value(), v0 = v.value();
      const Tensor y = tf::scan(
          [&](const Tensor& a, const Tensor& e) {
            const Tensor before = a * w.value();
            w.assign(w.value() * 2.0F + v.value());
            return before + w.value() * e * v.value();
          },
          x, tf::ones({3}));
      const Tensor z = tf::cond(
          tf::constant(true),
          [&] {
            v.assign(v.value() * 3.0F);
            return y * v.value() + v0;
          },
          [&] { return y; });
      return tape.gradient(Tensors{tf::reduce_sum(z)}, Tensors{w0, v0});
    };
    auto f = tf::function(body);
    std::vector<float> seen;
    for (const Tensor& t : is_traced ? f(wave({4, 3})) : body(wave({4, 3}))) {
      for (const float value : t.to_vector<float>()) seen.push_back(value);
    }
    return seen;
  };
  const std::vector<float> traced = run(true), eager = run(false);
  ASSERT_EQ(traced.size(), eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_NEAR(traced[i], eager[i], 1e-5) << i;
}

TEST_F(ControlFlowGradientTest, ATrainingLoopIsOneNode) {
  const auto run = [](bool is_traced) {
    Variable w(wave({3, 1}));
    const auto body = [&](const Tensor& x, const Tensor& y) {
      return tf::scan(
          [&](const Tensor&, const Tensor& batch) {
            GradientTape tape;
            const Tensor loss = tf::reduce_mean(tf::square(tf::matmul(batch, w) - y));
            w.assign_sub(tape.gradient(loss, w.value()) * 0.1F);
            return loss;
          },
          x, tf::zeros({}));
    };
    auto f = tf::function(body);
    const Tensor x = wave({6, 2, 3}), y = wave({2, 1});
    std::vector<float> seen = (is_traced ? f(x, y) : body(x, y)).to_vector<float>();
    for (const float v : w.value().to_vector<float>()) seen.push_back(v);
    return seen;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(ControlFlowGradientTest, DropoutAndItsGradientAgree) {
  auto f = tf::function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = tf::scan(
        [](const Tensor&, const Tensor& e) {
          return tf::cond(
              tf::constant(true), [&] { return tf::nn::dropout(e, 0.5); }, [&] { return e; });
        },
        x, tf::zeros({64}));
    return Tensors{y, tape.gradient(tf::reduce_sum(y), x)};
  });
  const Tensors out = f(tf::ones({5, 64}));
  EXPECT_EQ(out[0].to_vector<float>(), out[1].to_vector<float>());
  const auto y = out[0].to_vector<float>();
  EXPECT_NE(std::vector<float>(y.begin(), y.begin() + 64),
            std::vector<float>(y.begin() + 64, y.begin() + 128));
}

TEST_F(ControlFlowGradientTest, ActivationsThatALoopCapturesMayBeComputedAgain) {
  const auto run = [](const char* passes, std::uint64_t& arena) {
    settings::set("passes", passes);
    Variable w(wave({64, 64}) * 0.1F);
    auto f = tf::function([&](const Tensor& x) {
      GradientTape tape;
      Tensor h = tf::nn::relu(tf::matmul(x, w) + 0.1F);
      for (int i = 0; i < 4; ++i) {
        const Tensor y =
            tf::while_loop([](const Tensor& k, const Tensor&) { return tf::less(k, number(2)); },
                           [&](const Tensor& k, const Tensor& s) {
                             return Tensors{k + 1, s * 0.5F + h};
                           },
                           {number(0), tf::zeros({256, 64})}, {.maximum_iterations = 2})[1];
        h = tf::nn::relu(tf::matmul(h * y, w) + 0.1F);
      }
      const Tensor loss = tf::reduce_sum(h);
      w.assign_sub(tape.gradient(loss, w.value()) * 1e-6F);
      return loss;
    });
    arena = f.plan({{float32, {256, 64}}}).arena_bytes;
    std::vector<float> seen;
    for (int i = 0; i < 2; ++i) seen.push_back(f(wave({256, 64})).item<float>());
    for (const float v : w.value().to_vector<float>()) seen.push_back(v);
    return seen;
  };
  std::uint64_t with = 0, without = 0;
  EXPECT_EQ(run("all", with), run("-recompute", without));
  EXPECT_LE(with, without);
}

}  // namespace
}  // namespace plimsoll
