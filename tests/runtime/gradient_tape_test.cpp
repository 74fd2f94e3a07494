// What a tape records, what it gives, and what it keeps alive.
#include "plimsoll/gradient_tape.h"

#include "plimsoll/bytes.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

using Floats = std::vector<float>;

class GradientTapeTest : public FreshTest {
 protected:
  static std::uint64_t used() { return config::get_memory_info("CPU:0").current; }
  static Floats floats(const Tensor& t) { return t.to_vector<float>(); }
  static Tensor megabyte() { return fill({1 << 18}, 0.5); }
};

TEST_F(GradientTapeTest, SecondGradientNeedsAPersistentTape) {
  const Tensor x = constant({3.0F});
  GradientTape once;
  GradientTape often({.persistent = true});
  for (GradientTape* tape : {&once, &often}) tape->watch(x);
  const Tensor y = x * x;
  const Tensor z = y * y;
  EXPECT_EQ(floats(once.gradient(z, x)), Floats({108}));
  EXPECT_EQ(message_of<FailedPreconditionError>([&] { once.gradient(y, x); }),
            "A non-persistent GradientTape can only be used to compute one set of gradients (or "
            "jacobians)");
  EXPECT_EQ(floats(often.gradient(z, x)), Floats({108}));
  EXPECT_EQ(floats(often.gradient(y, x)), Floats({6}));
  EXPECT_EQ(floats(often.gradient(z, y)), Floats({18}));
}

TEST_F(GradientTapeTest, HigherOrders) {
  const Tensor x = constant({2.0F});
  GradientTape third;
  third.watch(x);
  Tensor d2;
  {
    GradientTape second;
    second.watch(x);
    Tensor d1;
    {
      GradientTape first;
      first.watch(x);
      d1 = first.gradient(x * x * x * x, x);
    }
    EXPECT_EQ(floats(d1), Floats({32}));
    d2 = second.gradient(d1, x);
  }
  EXPECT_EQ(floats(d2), Floats({48}));
  EXPECT_EQ(floats(third.gradient(d2, x)), Floats({48}));
}

TEST_F(GradientTapeTest, SeveralTargetsAndSources) {
  const Tensor x = constant({1.0F, 2.0F}), y = constant({3.0F, 4.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  const Tensor targets[] = {x * y, x + x};
  const Tensor sources[] = {x, y};
  const auto sum = tape.gradient(targets, sources);
  EXPECT_EQ(floats(sum[0]), Floats({5, 6}));
  EXPECT_EQ(floats(sum[1]), Floats({1, 2}));
  const Tensor weights[] = {constant({10.0F, 100.0F}), constant({1.0F, 0.0F})};
  const auto weighted = tape.gradient(targets, sources, weights);
  EXPECT_EQ(floats(weighted[0]), Floats({32, 400}));
  EXPECT_EQ(floats(weighted[1]), Floats({10, 200}));
}

TEST_F(GradientTapeTest, UnconnectedSources) {
  const Tensor x = constant({1.0F}), other = constant({1.0F, 2.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(other);
  const Tensor y = x * x;
  EXPECT_FALSE(tape.gradient(y, other).is_valid());
  EXPECT_EQ(floats(tape.gradient(y, other, UnconnectedGradients::kZero)), Floats({0, 0}));
  EXPECT_FALSE(tape.gradient(stop_gradient(y), x).is_valid());
}

TEST_F(GradientTapeTest, RecordsOnlyWhileItMay) {
  const Tensor x = constant({3.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor apart;
  {
    const auto paused = tape.stop_recording();
    apart = x * x;
  }
  const Tensor y = x * apart;  // the square counts as a constant
  EXPECT_EQ(floats(tape.gradient(y, x)), Floats({9}));
  tape.stop();
  EXPECT_FALSE(tape.gradient(x * x, x).is_valid());
  tape.reset();
  tape.watch(x);
  EXPECT_FALSE(tape.gradient(y, x).is_valid());
  EXPECT_EQ(floats(tape.gradient(x * x, x)), Floats({6}));
}

TEST_F(GradientTapeTest, FollowsTrainableVariables) {
  const Variable weight(constant({2.0F})), fixed(constant({5.0F}), {.trainable = false});
  GradientTape tape({.persistent = true});
  GradientTape choosy({.persistent = true, .watch_accessed_variables = false});
  const Tensor y = weight * weight * fixed;
  const Variable* const both[] = {&weight, &fixed};
  const auto gradients = tape.gradient(y, both);
  EXPECT_EQ(floats(gradients[0]), Floats({20}));
  EXPECT_FALSE(gradients[1].is_valid());
  EXPECT_FALSE(choosy.gradient(y, both)[0].is_valid());
}

TEST_F(GradientTapeTest, RefusesWhatHasNoGradient) {
  GradientTape tape;
  EXPECT_THROW(tape.watch(constant({1, 2})), InvalidArgumentError);
  EXPECT_THROW(tape.watch(Tensor()), InvalidArgumentError);
}

// The sum of x and a number reads nothing of them; a square reads its input.
TEST_F(GradientTapeTest, KeepsOnlyWhatGradientsRead) {
  const Tensor x = megabyte();
  GradientTape tape;
  tape.watch(x);
  Tensor y = (x + 1.0F) * 2.0F - 3.0F;
  EXPECT_LT(used(), 2_MiB + 4_KiB);  // x, y, and the number that the product reads
  y = square(y);
  EXPECT_LT(used(), 3_MiB + 4_KiB);
  EXPECT_GE(used(), 3_MiB);
  EXPECT_EQ(floats(tape.gradient(y, x))[7], 0.0F);
}

TEST_F(GradientTapeTest, GivesBackOnTheWay) {
  const Tensor x = megabyte();
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 8; ++i) y = tanh(y);  // each keeps its output
  EXPECT_EQ(used(), 9_MiB);
  config::reset_memory_stats("CPU:0");
  const Tensor gradient = tape.gradient(y, x);
  EXPECT_LE(config::get_memory_info("CPU:0").peak, 11_MiB);
  EXPECT_EQ(used(), 3_MiB);  // x, y and the gradient; the tape is still there, and empty
}

TEST_F(GradientTapeTest, OutOfMemoryOnTheWayBackIsAnError) {
  config::set_logical_device_configuration(cpu(), {{.memory_limit = 6}});
  const Tensor x = megabyte();
  {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = tanh(y);
    const Tensor full = megabyte();
    EXPECT_THROW(tape.gradient(y, x), ResourceExhaustedError);
  }
  EXPECT_EQ(used(), 1_MiB);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = tanh(tanh(x));
  EXPECT_NO_THROW(tape.gradient(y, x));
}

}  // namespace
}  // namespace plimsoll
