// What elementwise ops refuse, and in which words.
#include <cmath>

#include "ops/error_text.h"
#include "ops/op_case.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace testing_ops {
std::vector<OpCase> unary_cases();  // elementwise_unary_cases.cpp
}
namespace {

using testing_ops::error_of;

TEST(ElementwiseErrorsTest, IntegerDivisionByZero) {
  const Tensor x = constant({1, 2}), y = constant({0, 1});
  EXPECT_EQ(error_of([&] { floordiv(x, y); }), "Integer division by zero [Op:FloorDiv]");
  EXPECT_EQ(error_of([&] { floormod(x, y); }), "Integer division by zero [Op:FloorMod]");
  EXPECT_EQ(floordiv(x, constant({2, 1})).to_vector<int>(), (std::vector{0, 2}));
  const Tensor q = floordiv(cast(x, float32), cast(y, float32));
  EXPECT_TRUE(std::isinf(q.to_vector<float>()[0]));
}

TEST(ElementwiseErrorsTest, NegativePowersOfIntegers) {
  EXPECT_EQ(error_of([] {
              pow(constant({1, 2}), constant({-1, 1}));
            }),
            "Integers to negative integer powers are not allowed [Op:Pow]");
}

TEST(ElementwiseErrorsTest, ShapesThatDoNotBroadcast) {
  const Tensor two = constant({1.0F, 2.0F}), three = constant({1.0F, 2.0F, 3.0F});
  EXPECT_EQ(error_of([&] { add(two, three); }), "Incompatible shapes: [2] vs. [3] [Op:AddV2]");
  EXPECT_EQ(error_of([&] { where(equal(two, two), two, three); }),
            "condition [2], then [2], and else [3] must be broadcastable [Op:SelectV2]");
  EXPECT_NE(error_of([&] { clip_by_value(constant(1.0F), two, two); }).find("[2]"),
            std::string::npos);
}

TEST(ElementwiseErrorsTest, TypesThatDiffer) {
  EXPECT_EQ(error_of([] { add(constant({1.0F}), constant({1})); }),
            "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is "
            "a int32 tensor [Op:AddV2]");
}

TEST(ElementwiseErrorsTest, TypesWithoutAMeaning) {
  EXPECT_THROW(math::log(constant({1, 2})), Error);
  EXPECT_THROW(bitwise::bitwise_and(constant({1.0F}), constant({1.0F})), Error);
  EXPECT_THROW(math::logical_xor(constant({1}), constant({1})), InvalidArgumentError);
  EXPECT_THROW(nn::celu(constant({1.0F}), 0), InvalidArgumentError);
}

TEST(ElementwiseTest, IntegersDivideAsFloats) {
  const Tensor q = divide(constant({1, 2}), constant({2, 2}));
  EXPECT_EQ(q.dtype(), float64);
  EXPECT_EQ(q.to_vector<double>(), (std::vector{0.5, 1.0}));
}

TEST(ElementwiseTest, NotANumberPasses) {
  const float nan = std::nanf("");
  const Tensor x = constant({nan, 1.0F}), y = constant({1.0F, nan});
  for (const Tensor& t : {maximum(x, y), minimum(x, y), squared_difference(x, y), nn::relu(x * y),
                          nn::relu6(x * y), nn::hard_sigmoid(x * y), nn::softplus(x * y),
                          nn::gelu(x * y), sign(x * y), clip_by_value(x * y, 0, 1)}) {
    for (const float v : t.to_vector<float>()) EXPECT_TRUE(std::isnan(v));
  }
}

// Zeros, infinities, subnormal and huge numbers: what the functions of cases() make of them.
TEST(ElementwiseTest, SpecialValues) {
  const float inf = HUGE_VALF;
  const std::vector<float> special = {0,       -0.0F, inf,  -inf, std::nanf(""), 1e-40F,
                                      -1e-40F, 88,    -88,  100,  -104,          1e30F,
                                      -1e30F,  0.5F,  1.5F, 2.5F, -0.5F,         1e-10F};
  const Tensor x = constant(std::span<const float>(special), {18});
  for (const testing_ops::OpCase& c : testing_ops::unary_cases()) {
    if (c.name != "plain" || c.dtypes[0] != float32) continue;
    const auto got = testing_ops::to_host(call(c.op, {x})).values;
    const auto host = std::vector{testing_ops::to_host(x)};
    const auto wanted = c.ref({host, c.attrs})[0].values;
    for (std::size_t i = 0; i < special.size(); ++i) {
      const auto w = static_cast<float>(wanted[i]);
      const auto what = std::string(op_name(c.op)) + " of " + std::to_string(special[i]);
      if (std::isnan(w)) {
        EXPECT_TRUE(std::isnan(got[i])) << what << ": " << got[i];
      } else if (std::isinf(w)) {
        EXPECT_EQ(got[i], w) << what;
      } else {
        EXPECT_NEAR(got[i], w, 2e-6 * std::max(1.0F, std::abs(w))) << what;
      }
    }
  }
}

// Second derivatives, through the fused gradients: against differences of the first.
TEST(ElementwiseTest, SecondDerivativesOfActivations) {
  using Fn = Tensor (*)(const Tensor&);
  const Fn fns[] = {[](const Tensor& x) { return sigmoid(x); },
                    [](const Tensor& x) { return tanh(x); },
                    [](const Tensor& x) { return nn::gelu(x); },
                    [](const Tensor& x) { return nn::gelu(x, true); },
                    [](const Tensor& x) { return nn::silu(x); },
                    [](const Tensor& x) { return nn::silu(x, 1.5); },
                    [](const Tensor& x) { return nn::softplus(x); },
                    [](const Tensor& x) { return nn::softsign(x); },
                    [](const Tensor& x) { return nn::elu(x); },
                    [](const Tensor& x) { return nn::selu(x); },
                    [](const Tensor& x) { return nn::celu(x, 0.7); },
                    [](const Tensor& x) { return nn::hard_silu(x); },
                    [](const Tensor& x) { return nn::mish(x); },
                    [](const Tensor& x) { return math::log_sigmoid(x); }};
  const auto first = [](Fn f, double at) {
    const Tensor x = constant(at);
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), x).item<double>();
  };
  for (std::size_t i = 0; i < std::size(fns); ++i) {
    for (const double at : {-1.7, -0.4, 0.3, 2.1}) {
      const Tensor x = constant(at);
      GradientTape outer;
      outer.watch(x);
      GradientTape inner;
      inner.watch(x);
      const Tensor slope = inner.gradient(fns[i](x), x);
      const double got = outer.gradient(slope, x).item<double>();
      const double wanted = (first(fns[i], at + 1e-5) - first(fns[i], at - 1e-5)) / 2e-5;
      EXPECT_NEAR(got, wanted, 1e-7) << "function " << i << " at " << at;
    }
  }
}

// Float functions stay within a few units in the last place of the double result.
TEST(ElementwiseTest, FloatFunctionsAreAccurate) {
  std::vector<float> values;
  for (int i = -40000; i <= 40000; ++i) values.push_back(static_cast<float>(i) * 5e-4F);
  const Tensor x = constant(std::span<const float>(values), {80001});
  using Fn = Tensor (*)(const Tensor&);
  const struct {
    Fn f;
    double ulps;
    double (*ref)(double);
  } rows[] = {
      {[](const Tensor& t) { return exp(t); }, 2, [](double v) { return std::exp(v); }},
      {[](const Tensor& t) { return math::expm1(t); }, 2, [](double v) { return std::expm1(v); }},
      {[](const Tensor& t) { return math::log(abs(t)); }, 2,
       [](double v) { return std::log(std::abs(v)); }},
      {[](const Tensor& t) { return math::log1p(abs(t)); }, 3,
       [](double v) { return std::log1p(std::abs(v)); }},
      {[](const Tensor& t) { return tanh(t); }, 2, [](double v) { return std::tanh(v); }},
      {[](const Tensor& t) { return math::erf(t); }, 2, [](double v) { return std::erf(v); }},
      {[](const Tensor& t) { return sin(t); }, 2, [](double v) { return std::sin(v); }},
      {[](const Tensor& t) { return cos(t * 64); }, 2, [](double v) { return std::cos(v * 64); }},
      {[](const Tensor& t) { return sin(t * 0x1p20); }, 2,
       [](double v) { return std::sin(v * 0x1p20); }},
      {[](const Tensor& t) { return sigmoid(t); }, 3,
       [](double v) { return 1 / (1 + std::exp(-v)); }},
      {[](const Tensor& t) { return nn::softplus(t); }, 3,
       [](double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); }},
  };
  for (std::size_t r = 0; r < std::size(rows); ++r) {
    const auto got = rows[r].f(x).to_vector<float>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double wanted = rows[r].ref(values[i]);
      if (std::isinf(wanted)) {
        ASSERT_EQ(got[i], wanted);
        continue;
      }
      const double ulp =
          std::max(1.4e-45, std::ldexp(1.0, std::ilogb(wanted == 0 ? 1e-40 : wanted) - 23));
      ASSERT_LE(std::abs(got[i] - wanted) / ulp, rows[r].ulps)
          << "function " << r << " at " << values[i] << ": " << got[i] << " for " << wanted;
    }
  }
}

}  // namespace
}  // namespace plimsoll
