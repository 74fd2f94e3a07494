// Numbers that TensorFlow 2.21 makes, and the shapes of distributions.
#include <cmath>

#include "ops/error_text.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using Ints = std::vector<std::int64_t>;
using testing_ops::error_of;

Ints ints(const Tensor& t) {
  return cast(t, int64).to_vector<std::int64_t>();
}
void expect_near(const Tensor& t, const std::vector<double>& wanted) {
  const auto got = cast(t, float64).to_vector<double>();
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], 2e-6 * std::max(1.0, std::abs(wanted[i]))) << i;
}
Tensor logits() {
  return constant({0.1F, 0.5F, -1.0F, 2.0F, 0.0F, 1.0F}, {2, 3});
}

TEST(RandomDistributionTest, StatelessNumbersAreTensorFlows) {
  using namespace random;
  EXPECT_EQ(ints(stateless_categorical(logits(), 8, {1, 2})),
            (Ints{1, 2, 0, 1, 1, 1, 1, 0, 2, 2, 1, 0, 0, 0, 0, 0}));
  expect_near(
      stateless_gamma({3, 4}, {1, 2}, constant({0.25F, 1.0F, 2.5F, 30.0F})),
      {1.7473431e-03, 1.8935091e+00, 3.7823472e+00, 3.0516413e+01, 2.2884977e-01, 2.2994834e-01,
       2.4927735e+00, 2.8576420e+01, 1.0754383e-02, 1.1978732e+00, 3.4828942e+00, 2.3694963e+01});
  EXPECT_EQ(ints(stateless_poisson({3, 4}, {1, 2}, constant({0.0F, 0.5F, 9.5F, 40.0F}))),
            (Ints{0, 3, 10, 43, 0, 0, 11, 40, 0, 2, 10, 37}));
  EXPECT_EQ(ints(stateless_binomial({6}, {1, 2}, constant(100.0F), constant(0.3F))),
            (Ints{36, 33, 37, 42, 26, 34}));
  EXPECT_EQ(ints(stateless_binomial({4, 3}, {1, 2}, constant({4.0F, 9.0F, 12.0F}),
                                    constant({0.25F, 0.75F, 0.5F}))),
            (Ints{3, 5, 10, 1, 7, 6, 2, 6, 6, 1, 9, 8}));
  EXPECT_EQ(ints(experimental::stateless_shuffle(range(10), {1, 2})),
            (Ints{0, 3, 8, 1, 5, 4, 9, 7, 6, 2}));
  EXPECT_EQ(ints(stateless_uniform({5}, {1, 2}, {}, {}, int32)),
            (Ints{1105988140, 1738052849, -335576002, 370444179, 10670227}));
  EXPECT_EQ(ints(stateless_uniform({3}, {1, 2}, {}, {}, int64)),
            (Ints{7464880146280614444, 1591045637757961278, -1057468755545501549}));
}

TEST(RandomDistributionTest, SequencesAfterSetSeedAreTensorFlows) {
  using namespace random;
  set_seed(1);
  EXPECT_EQ(ints(categorical(logits(), 5)), (Ints{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  const Tensor alpha = constant({0.5F, 2.0F}), rates = constant({2.0F, 20.0F});
  expect_near(gamma({2}, alpha), {0.23622692, 0.6124646, 0.10030753, 0.35962763});
  EXPECT_EQ(ints(poisson({3}, rates)), (Ints{0, 22, 1, 20, 1, 19}));
  EXPECT_EQ(ints(categorical(logits(), 5, int64, 3)), (Ints{0, 1, 1, 0, 1, 1, 0, 0, 0, 2}));
  EXPECT_EQ(ints(categorical(logits(), 5, int64, 3)), (Ints{0, 1, 0, 1, 1, 0, 0, 0, 0, 0}));
  expect_near(gamma({2}, alpha, {}, float32, 4), {0.02409871, 1.2594936, 2.3997135, 0.5291341});
  expect_near(gamma({2}, alpha, {}, float32, 4), {0.0993256, 1.7715408, 0.1733784, 1.6777544});
  EXPECT_EQ(ints(poisson({3}, rates, float32, 5)), (Ints{3, 16, 2, 22, 2, 18}));
  EXPECT_EQ(ints(poisson({3}, rates, float32, 5)), (Ints{3, 21, 3, 17, 3, 17}));
}

TEST(RandomDistributionTest, MeansAndVariances) {
  const auto moments = [](const Tensor& t) {
    const auto values = cast(t, float64).to_vector<double>();
    double sum = 0, squares = 0;
    for (const double x : values) sum += x, squares += x * x;
    const double n = static_cast<double>(values.size()), mean = sum / n;
    return std::pair(mean, squares / n - mean * mean);
  };
  using namespace random;
  const auto check = [&](const Tensor& t, double mean, double variance) {
    const auto [m, v] = moments(t);
    EXPECT_NEAR(m, mean, 0.02 * std::max(1.0, mean));
    EXPECT_NEAR(v, variance, 0.05 * std::max(1.0, variance));
  };
  const Shape many{40000};
  check(stateless_gamma(many, {1, 2}, constant(3.0F), constant(2.0F)), 1.5, 0.75);
  check(stateless_gamma(many, {1, 3}, constant(0.3F)), 0.3, 0.3);
  check(stateless_poisson(many, {1, 2}, constant(4.0F)), 4, 4);
  check(stateless_poisson(many, {1, 2}, constant(200.0F)), 200, 200);
  check(stateless_binomial(many, {1, 2}, constant(10.0F), constant(0.3F)), 3, 2.1);
  check(stateless_binomial(many, {1, 2}, constant(400.0F), constant(0.8F)), 320, 64);
  check(bernoulli(many, 0.3), 0.3, 0.21);
}

// E(x) = alpha / beta: the gradient of the mean of many samples is that of the expectation.
TEST(RandomDistributionTest, GammaIsDifferentiable) {
  const Tensor alpha = constant({0.5F, 3.0F}), beta = constant({2.0F});
  GradientTape tape;
  tape.watch(alpha);
  tape.watch(beta);
  const Tensor mean = reduce_mean(random::stateless_gamma({40000, 2}, {1, 2}, alpha, beta), {0});
  const Tensor sources[] = {alpha, beta};
  const auto slopes = tape.gradient(std::span(&mean, 1), std::span(sources));
  for (const float x : slopes[0].to_vector<float>()) EXPECT_NEAR(x, 0.5, 0.02);
  EXPECT_NEAR(slopes[1].to_vector<float>()[0], -(0.5 + 3) / 4, 0.03);
}

TEST(RandomDistributionTest, NoGradientsOfTheGradientOfGamma) {
  const Tensor alpha = constant(2.0F);
  GradientTape outer;
  outer.watch(alpha);
  Tensor slope;
  {
    GradientTape tape;
    tape.watch(alpha);
    slope = tape.gradient(random::stateless_gamma({}, {1, 2}, alpha), alpha);
  }
  EXPECT_THROW(outer.gradient(slope, alpha), UnimplementedError);
}

TEST(RandomDistributionTest, ZeroProbabilityIsNeverDrawn) {
  const Tensor rows = constant({-INFINITY, 0.0F, -INFINITY, 1.0F}, {1, 4});
  for (const std::int64_t k : ints(random::stateless_categorical(rows, 1000, {5, 6})))
    EXPECT_TRUE(k == 1 || k == 3) << k;
}

TEST(RandomDistributionTest, ShapesThatDoNotFit) {
  using namespace random;
  EXPECT_EQ(error_of([&] {
              stateless_gamma({3, 2}, {1, 2}, constant({1.0F, 2.0F, 3.0F}));
            }),
            "RandomGamma: shape [3,2] must end with the shape of the parameters, [3]");
  EXPECT_EQ(error_of([&] { categorical(constant({1.0F}), 3); }),
            "logits should be a matrix, got [1]");
  EXPECT_EQ(error_of([&] {
              stateless_categorical(logits(), -1, {1, 2});
            }),
            "num_samples should be nonnegative, got -1");
  EXPECT_EQ(error_of([&] { bernoulli({2}, 1.5); }), "p must be in [0, 1]. Received: p=1.5");
}

}  // namespace
}  // namespace plimsoll
