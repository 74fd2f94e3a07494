// print and asserts: TensorFlow's words, in every run of a function, in order.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "plimsoll/control_flow.h"
#include "plimsoll/device.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

namespace tf = plimsoll;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

template <class F>
std::string printed(F&& f) {
  CaptureStderr();
  f();
  return GetCapturedStderr();
}
Tensor count(const Shape& shape) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0);
  return constant<std::int32_t>(values, shape);
}

class PrintTest : public FreshTest {};

// Each as TensorFlow 2.21 prints it.
TEST_F(PrintTest, LooksAsTensorFlows) {
  const auto shown = [](const Tensor& t, std::int64_t summarize = 3) {
    return printed([&] { tf::print({t}, {.summarize = summarize, .end = ""}); });
  };
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(printed([] {
              tf::print("a", constant<float>({1, 2, 0.1F, 1.0F / 3}), 3, 2.5, true);
            }),
            "a [1 2 0.1 0.333333343] 3 2.5 True\n");
  EXPECT_EQ(shown(tf::range(10)), "[0 1 2 ... 7 8 9]");
  EXPECT_EQ(shown(tf::range(6)), "[0 1 2 3 4 5]");
  EXPECT_EQ(shown(tf::range(7)), "[0 1 2 ... 4 5 6]");
  EXPECT_EQ(shown(tf::range(10), 1), "[0 ... 9]");
  EXPECT_EQ(shown(tf::range(10), -1), "[0 1 2 3 4 5 6 7 8 9]");
  EXPECT_EQ(shown(count({2, 3, 4})),
            "[[[0 1 2 3]\n  [4 5 6 7]\n  [8 9 10 11]]\n\n"
            " [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]");
  EXPECT_EQ(shown(count({10, 10})),
            "[[0 1 2 ... 7 8 9]\n [10 11 12 ... 17 18 19]\n [20 21 22 ... 27 28 29]\n ...\n"
            " [70 71 72 ... 77 78 79]\n [80 81 82 ... 87 88 89]\n [90 91 92 ... 97 98 99]]");
  EXPECT_EQ(shown(tf::zeros({0, 3})), "[]");
  EXPECT_EQ(shown(constant<bool>({true, false})), "[1 0]");
  EXPECT_EQ(shown(constant<float>({std::numeric_limits<float>::quiet_NaN(), inf, -inf, -0.0F})),
            "[nan inf -inf -0]");
  EXPECT_EQ(shown(constant<float>({1e20F, 1e-20F, 123456789.0F, 1e6F, 1234567.0F, 100000.0F})),
            "[1e+20 1e-20 123456792 1e+06 1234567 100000]");
  EXPECT_EQ(shown(constant<double>({1e20, 1e-20, 123456789, 1.0 / 3})),
            "[1e+20 1e-20 123456789 0.33333333333333331]");
  EXPECT_EQ(shown(tf::cast(constant<float>({1.5F, 1.0F / 3}), float16)), "[1.5 0.333251953]");
  EXPECT_EQ(shown(tf::cast(constant<float>({1.5F, 1.0F / 3}), bfloat16)), "[1.5 0.333984375]");
  EXPECT_EQ(shown(constant<std::int8_t>({-3, 127})), "[-3 127]");
  EXPECT_EQ(shown(constant<std::uint8_t>({3, 255})), "[3 255]");
  EXPECT_EQ(shown(constant<std::string>({"a", "b"}, {2})), "[\"a\" \"b\"]");
  EXPECT_EQ(printed([] { tf::print({"x", "y"}, {.sep = "|", .end = "!\n"}); }), "x|y!\n");
}

// In branches and loops too, once for each time that they run; gradients do not print again.
TEST_F(PrintTest, BranchesAndLoopsPrintWhenTheyRun) {
  for (const char* passes : {"all", "none"}) {
    settings::set("passes", passes);
    auto f = tf::function([](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      tf::print("begin");
      const Tensor sums = tf::scan(
          [](const Tensor& sum, const Tensor& e) {
            return tf::cond(
                tf::greater(e, tf::fill({}, 1.0F)),
                [&] {
                  tf::print("large", e);
                  return sum + e * e;
                },
                [&] { return sum + e; });
          },
          x, tf::zeros({}));
      tf::print("end");
      return tape.gradient(tf::reduce_sum(sums), x);
    });
    std::vector<float> gradient;
    EXPECT_EQ(printed([&] {
                gradient = f(constant<float>({1, 2, 0.5F, 4})).to_vector<float>();
              }),
              "begin\nlarge 2\nlarge 4\nend\n")
        << passes;
    EXPECT_EQ(gradient, (std::vector<float>{4, 12, 2, 8}));
  }
}

TEST_F(PrintTest, MuchGoesOutInPieces) {
  const Tensor t = tf::range(5000);
  std::string wanted = "[0";
  for (int i = 1; i < 5000; ++i) wanted += " " + std::to_string(i);
  EXPECT_EQ(printed([&] { tf::print({t}, {.summarize = -1}); }), wanted + "]\n");
}

TEST_F(PrintTest, AFunctionPrintsInEveryRunAndInOrder) {
  simulate("rtx-3060-12gb");
  for (const char* device : {"/CPU:0", "/GPU:0"}) {
    for (const char* passes : {"all", "none"}) {
      settings::set("passes", passes);
      const DeviceScope scope = tf::device(device);
      Variable w(tf::zeros({2}));
      auto f = tf::function([&](const Tensor& x) {
        tf::print("x is", x);
        tf::print("x is", x);  // not one, though they are alike
        w.assign_add(x);
        tf::print("w is", w);
        const Tensor y = tf::constant<float>({1, 2}) * 2.0F;
        tf::print("constant", y);  // not when it is traced
        w.assign_add(y);
        tf::print("w is", w);
      });
      const std::string first = "x is [1 1]\nx is [1 1]\nw is [1 1]\nconstant [2 4]\nw is [3 5]\n";
      const std::string again = "x is [1 1]\nx is [1 1]\nw is [4 6]\nconstant [2 4]\nw is [6 10]\n";
      EXPECT_EQ(printed([&] { f(tf::ones({2})); }), first) << device << " " << passes;
      EXPECT_EQ(printed([&] { f(tf::ones({2})); }), again) << device << " " << passes;
      EXPECT_EQ(printed([&] { f.plan({{float32, {2}}}); }), "");
    }
  }
}

class AssertTest : public FreshTest {
 protected:
  // Eagerly and in a function, on the CPU and on a simulated GPU.
  template <class F>
  static void expect_refused(F&& f, const std::string& wanted) {
    simulate("rtx-3060-12gb");
    for (const char* device : {"/CPU:0", "/GPU:0"}) {
      const DeviceScope scope = tf::device(device);
      const Tensor x = constant<std::int32_t>({1, 2, 3, 4, 5});
      const Tensor y = constant<std::int32_t>({1, 9, 3, 4, 5});
      EXPECT_EQ(message_of<InvalidArgumentError>([&] { f(x, y); }), wanted + " [Op:Assert]");
      auto g = tf::function([&](const Tensor& a, const Tensor& b) { f(a, b); });
      EXPECT_EQ(message_of<InvalidArgumentError>([&] { g(x, y); }), wanted + " [Op:Assert]");
    }
  }
};

TEST_F(AssertTest, SaysWhatDidNotHoldInTensorFlowsWords) {
  using namespace tf::debugging;
  const std::string tail =
      "[x (shape=(5,) dtype=int32) = ] [1 2 3...] [y (shape=(5,) dtype=int32) = ] [1 9 3...]";
  const auto condition = [&](const char* relation) {
    return std::string("assertion failed: [Condition x ") + relation +
           " y did not hold element-wise:] " + tail;
  };
  expect_refused([](const Tensor& x, const Tensor& y) { assert_equal(x, y, "msg"); },
                 "assertion failed: [msg] [Condition x == y did not hold element-wise:] " + tail);
  expect_refused([](const Tensor& x, const Tensor& y) { assert_none_equal(x, y); },
                 condition("!="));
  expect_refused([](const Tensor& x, const Tensor& y) { assert_less(x, y); }, condition("<"));
  expect_refused([](const Tensor& x, const Tensor& y) { assert_greater(x, y); }, condition(">"));
  expect_refused([](const Tensor& x, const Tensor& y) { assert_greater_equal(x, y); },
                 condition(">="));
  expect_refused([](const Tensor& x, const Tensor&) { assert_non_negative(tf::negative(x), "m"); },
                 "assertion failed: [m] [Condition x >= 0 did not hold element-wise:] "
                 "[x (shape=(5,) dtype=int32) = ] [-1 -2 -3...]");
  expect_refused([](const Tensor& x, const Tensor&) { assert_non_positive(x); },
                 "assertion failed: [Condition x <= 0 did not hold element-wise:] "
                 "[x (shape=(5,) dtype=int32) = ] [1 2 3...]");
  expect_refused(
      [](const Tensor& x, const Tensor& y) {
        Assert(tf::reduce_all(tf::less(x, y)), {x, "hello", y});
      },
      "assertion failed: [1 2 3...] [hello] [1 9 3...]");
  expect_refused(
      [](const Tensor& x, const Tensor& y) {
        Assert(tf::reduce_all(tf::less(x, y)), {count({2, 3, 4}), constant<float>({1.5F, 0.1F, 1})},
               2);
      },
      "assertion failed: [[[0 1...]]...] [1.5 0.1...]");
  expect_refused(
      [](const Tensor& x, const Tensor& y) {
        assert_near(tf::cast(x, float32), tf::cast(y, float32), 0.5, 1);
      },
      "assertion failed: [x and y not equal to tolerance rtol = 0.5, atol = 1] "
      "[x (shape=(5,) dtype=float32) = ] [1 2 3...] [y (shape=(5,) dtype=float32) = ] [1 9 3...]");
}

TEST_F(AssertTest, FindsWhatIsNotFinite) {
  using tf::debugging::assert_all_finite;
  const float inf = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [](float a, float b) {
    return message_of<InvalidArgumentError>([&] {
      assert_all_finite(constant<float>({1, a, b}), "msg");
    });
  };
  EXPECT_EQ(refused(nan, 1), "msg : Tensor had NaN values [Op:Assert]");
  EXPECT_EQ(refused(1, -inf), "msg : Tensor had Inf values [Op:Assert]");
  EXPECT_EQ(refused(nan, inf), "msg : Tensor had Inf and NaN values [Op:Assert]");
  EXPECT_EQ(assert_all_finite(constant<float>({1, 2}), "").to_vector<float>(),
            (std::vector<float>{1, 2}));
}

TEST_F(AssertTest, WhatHoldsPasses) {
  using namespace tf::debugging;
  const Tensor x = constant<float>({1, 2, 3});
  assert_equal(x, x);
  assert_less(x, x + 1.0F);
  assert_less_equal(x, x);
  assert_greater(x, x - 1.0F);
  assert_greater_equal(x, x);
  assert_none_equal(x, x + 1.0F);
  assert_positive(x);
  assert_non_negative(x);
  assert_negative(-x);
  assert_non_positive(-x);
  assert_near(x, x + 1e-7F);
  assert_equal(tf::zeros({0}), tf::ones({0}));
}

TEST_F(AssertTest, ARefusedRunLeavesVariablesAsTheyWere) {
  for (const char* passes : {"all", "none"}) {
    settings::set("passes", passes);
    Variable w(tf::zeros({2}));
    auto f = tf::function([&](const Tensor& x) {
      tf::print("before");
      w.assign_add(x);
      tf::debugging::assert_non_negative(x, "x");
      tf::print("after");
      w.assign_add(x);
    });
    EXPECT_EQ(printed([&] { f(tf::ones({2})); }), "before\nafter\n");
    EXPECT_EQ(printed([&] { EXPECT_THROW(f(-tf::ones({2})), InvalidArgumentError); }), "before\n");
    EXPECT_EQ(w.value().to_vector<float>(), std::vector<float>(2, 2.0F));
  }
}

TEST_F(AssertTest, LongMessagesAreCut) {
  const std::string message = message_of<InvalidArgumentError>(
      [] { tf::debugging::Assert(tf::constant(false), {std::string(2000, 'x')}); });
  EXPECT_EQ(message.size(), 1000 + std::string(" [Op:Assert]").size());
}

TEST_F(AssertTest, TakesAScalarOfTypeBool) {
  using tf::debugging::Assert;
  EXPECT_EQ(message_of<InvalidArgumentError>([] {
              Assert(constant<bool>({true, false}), {});
            }),
            "In[0] should be a scalar: [2] [Op:Assert]");
  EXPECT_THROW(Assert(constant(1.0F), {}), InvalidArgumentError);
  EXPECT_THROW(Assert(constant(true), {}, -2), InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll
