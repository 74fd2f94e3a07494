// Random programs of nested branches, loops and assigns: as functions they compute what they do
// eagerly, their gradients agree, and no run writes beyond its plan.
#include <gtest/gtest.h>

#include <random>

#include "plimsoll/gradient_tape.h"
#include "plimsoll/variable.h"
#include "runtime/control_flow_cases.h"
#include "runtime/fresh.h"
#include "runtime/measure.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;

struct Instruction {
  enum Kind { kAdd, kMul, kSin, kRead, kAssign, kCond, kWhile, kScan, kNumKinds };
  Kind kind = kAdd;
  std::size_t a = 0, b = 0;  // operands, counted modulo what there is
  std::vector<std::vector<Instruction>> bodies;
};
using Block = std::vector<Instruction>;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Block block(int depth) {
    Block made;
    for (std::size_t n = 2 + draw(3); n-- > 0;) {
      Instruction i;
      i.kind = static_cast<Instruction::Kind>(
          draw(depth > 0 ? Instruction::kNumKinds : Instruction::kCond));
      i.a = draw(100);
      i.b = draw(100);
      const std::size_t num_bodies = i.kind == Instruction::kCond  ? 2
                                     : i.kind > Instruction::kCond ? 1
                                                                   : 0;
      for (std::size_t k = 0; k < num_bodies; ++k) i.bodies.push_back(block(depth - 1));
      made.push_back(std::move(i));
    }
    return made;
  }

 private:
  std::size_t draw(int limit) { return random_() % static_cast<unsigned>(limit); }
  std::mt19937 random_;
};

class Program {
 public:
  Program(unsigned seed, std::int64_t width) : block_(Generator(seed).block(3)) {
    for (int i = 0; i < 2; ++i) variables_.emplace_back(wave({width}, 0.4 + i));
  }

  // Its value, and the gradients of the inputs.
  Tensors run(std::span<const Tensor> in) {
    GradientTape tape;
    for (const Tensor& t : in) tape.watch(t);
    const Tensor y = run(block_, {in.begin(), in.end()});
    Tensors out = tape.gradient(Tensors{y * y}, in, {}, UnconnectedGradients::kZero);
    out.push_back(y);
    return out;
  }
  std::vector<float> variables() const {
    std::vector<float> all;
    for (const Variable& v : variables_) {
      for (const float value : v.value().to_vector<float>()) all.push_back(value);
    }
    return all;
  }

 private:
  Tensor run(const Block& block, Tensors seen) {
    for (const Instruction& i : block) seen.push_back(run(i, seen));
    return seen.back();
  }
  Tensor run(const Instruction& i, const Tensors& seen) {
    const Tensor &a = seen[i.a % seen.size()], &b = seen[i.b % seen.size()];
    Variable& variable = variables_[i.b % variables_.size()];
    const auto with = [&](const Tensor& more) {
      Tensors all = seen;
      all.push_back(more);
      return all;
    };
    switch (i.kind) {
      case Instruction::kMul:
        return a * b;
      case Instruction::kSin:
        return tf::sin(a) - 0.1F;
      case Instruction::kRead:
        return tf::tanh(a + variable.value());
      case Instruction::kAssign:
        variable.assign(tf::sin(a + variable.value()));
        return a + variable.value() * 0.5F;
      case Instruction::kCond:
        return tf::cond(
            tf::greater(tf::reduce_sum(a), tf::fill({}, 0.1)),
            [&] { return run(i.bodies[0], seen); }, [&] { return run(i.bodies[1], seen); });
      case Instruction::kWhile:
        return tf::while_loop(
            [&](const Tensor& k, const Tensor&) {
              return tf::less(k, number(static_cast<int>(i.b % 4)));
            },
            [&](const Tensor& k, const Tensor& s) {
              return Tensors{k + 1, tf::tanh(run(i.bodies[0], with(s)))};
            },
            {number(0), a}, {.maximum_iterations = 3})[1];
      case Instruction::kScan: {
        const Tensor rows = tf::scan(
            [&](const Tensor& s, const Tensor& e) {
              return tf::tanh(run(i.bodies[0], with(s + e)) + s * 0.5F);
            },
            tf::stack({a, b, a}), b, {.reverse = i.a % 2 == 0});
        return tf::reduce_mean(rows, {0});
      }
      default:
        return tf::tanh(a + b);
    }
  }

  Block block_;
  std::vector<Variable> variables_;
};

class ControlFlowFuzzTest : public FreshTest {};

TEST_F(ControlFlowFuzzTest, FunctionsAreAsEager) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::int64_t width = seed % 2 ? 5 : 16;  // rows that are aligned, and that are not
    const Tensors in{wave({width}), wave({width}, 1.7)};
    Program eager(seed, width), traced(seed, width);
    Function f([&](std::span<const Tensor> x) { return traced.run(x); });
    const MemoryPlan plan = f.plan({{float32, {width}}, {float32, {width}}});
    Tensors out(in.size() + 1);
    for (int round = 0; round < 2; ++round) {
      const Tensors expected = eager.run(in);
      const std::uint64_t written = measure_written_height(f, in, out);
      EXPECT_LE(written, plan.arena_bytes);
      EXPECT_EQ(out.back().to_vector<float>(), expected.back().to_vector<float>());
      for (std::size_t i = 0; i < in.size(); ++i) {
        const auto a = out[i].to_vector<float>(), b = expected[i].to_vector<float>();
        for (std::size_t k = 0; k < a.size(); ++k)
          EXPECT_NEAR(a[k], b[k], 1e-4 * (1 + std::abs(b[k])));
      }
      EXPECT_EQ(traced.variables(), eager.variables());
    }
  }
}

}  // namespace
}  // namespace plimsoll
