// Numbers that TensorFlow 2.21 makes, and what else is promised of random ones.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "runtime/backends.h"

namespace plimsoll {
namespace {

template <class T>
std::vector<double> values(const Tensor& t) {
  std::vector<double> v;
  for (const T x : t.to_vector<T>()) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      v.push_back(static_cast<float>(x));
    } else {
      v.push_back(static_cast<double>(x));
    }
  }
  return v;
}
void expect_close(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << i;
}
using Doubles = std::vector<double>;

TEST(RandomTest, StatelessUniformIsTensorFlowsToTheBit) {
  using random::stateless_uniform;
  EXPECT_EQ(values<float>(stateless_uniform({6}, {1, 2})),
            (Doubles{0.8440604209899902, 0.19204533100128174, 0.9962232112884521,
                     0.16038739681243896, 0.27199018001556396, 0.6493459939956665}));
  EXPECT_EQ(values<double>(stateless_uniform({3}, {1, 2}, 0, 1, float64)),
            (Doubles{0.7524837538451801, 0.9697857725627486, 0.17592233912897481}));
  EXPECT_EQ(values<Half>(stateless_uniform({5}, {1, 2}, 0, 1, float16)),
            (Doubles{0.54296875, 0.2353515625, 0.060546875, 0.8935546875, 0.1435546875}));
  EXPECT_EQ(values<BFloat16>(stateless_uniform({5}, {1, 2}, 0, 1, bfloat16)),
            (Doubles{0.34375, 0.8828125, 0.484375, 0.1484375, 0.1484375}));
  EXPECT_EQ(values<float>(stateless_uniform({3}, {1, 2}, 3, 7)),
            (Doubles{6.376241683959961, 3.768181324005127, 6.984892845153809}));
  EXPECT_EQ(values<std::int32_t>(stateless_uniform({5}, {1, 2}, -3, 100, int32)),
            (Doubles{93, 49, 15, 41, 42}));
  EXPECT_EQ(values<std::int64_t>(stateless_uniform({3}, {1, 2}, -3, 1e12, int64)),
            (Doubles{146258219801, 637753188140, 318111882239}));
  const random::Seed other(123456789012, -5);
  EXPECT_EQ(values<float>(stateless_uniform({3}, other)),
            (Doubles{0.9453063011169434, 0.723560094833374, 0.5005135536193848}));
  EXPECT_EQ(values<double>(stateless_uniform({2}, other, 0, 1, float64)),
            (Doubles{0.562451090148762, 0.004109215645714315}));
}

TEST(RandomTest, StatelessNormalsAreTensorFlows) {
  using random::stateless_normal;
  using random::stateless_truncated_normal;
  expect_close(values<float>(stateless_normal({6}, {1, 2})),
               {0.544110119342804, 0.20738030970096588, 0.0735643208026886, 0.04643455147743225,
                -1.301589846611023, -0.9538565278053284});
  expect_close(values<double>(stateless_normal({3}, {1, 2}, 0, 1, float64)),
               {-0.1423118100189212, 0.7406072461585091, -1.469047669443883});
  expect_close(values<Half>(stateless_normal({3}, {1, 2}, 0, 1, float16)),
               {0.5439453125, 0.2073974609375, 0.07354736328125});
  expect_close(values<float>(stateless_truncated_normal({9}, {1, 2})),
               {0.544110119342804, 0.20738030970096588, 0.0735643208026886, 0.04643455147743225,
                0.16820591688156128, -1.6850333213806152, 0.24202857911586761, 1.703450322151184,
                1.1060677766799927});
  expect_close(values<double>(stateless_truncated_normal({5}, {1, 2}, 0, 1, float64)),
               {-0.1423118100189212, 0.7406072461585091, -0.552387756244845, -0.734450092480207,
                -0.39842023956588357});
}

TEST(RandomTest, SequencesAfterSetSeedAreTensorFlows) {
  random::set_seed(1);
  expect_close(values<float>(random::uniform({3})),
               {0.1651308536529541, 0.9014812707901001, 0.6309741735458374});
  expect_close(values<float>(random::uniform({3})),
               {0.5101070404052734, 0.44353175163269043, 0.40853309631347656});
  expect_close(values<float>(random::uniform({3}, 0, {}, float32, 5)),
               {0.19560599327087402, 0.029860854148864746, 0.3649308681488037});
  expect_close(values<float>(random::uniform({3}, 0, {}, float32, 5)),
               {0.4430607557296753, 0.8878122568130493, 0.529292106628418});
  expect_close(values<float>(random::normal({3})),
               {-0.45701223611831665, -0.40686726570129395, 0.728577733039856});
  expect_close(values<float>(random::truncated_normal({3})),
               {1.694016695022583, 0.11969316750764847, -1.158460021018982});
  EXPECT_EQ(values<std::int32_t>(random::uniform({3}, 0, 10, int32)), (Doubles{4, 4, 9}));
  const Tensor ten = constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(values<std::int32_t>(random::shuffle(ten)), (Doubles{5, 6, 0, 4, 3, 8, 7, 2, 9, 1}));
  EXPECT_EQ(values<std::int32_t>(random::shuffle(reshape(ten, {5, 2}), 3)),
            (Doubles{4, 5, 6, 7, 8, 9, 2, 3, 0, 1}));
  EXPECT_EQ(values<float>(nn::dropout(ones({8}), 0.5)), (Doubles{2, 2, 2, 2, 0, 2, 2, 2}));
  const double kept = 1.3333333730697632;
  EXPECT_EQ(values<float>(nn::dropout(ones({8}), 0.25, 4)),
            (Doubles{kept, kept, kept, 0, kept, kept, 0, kept}));
}

TEST(RandomTest, StatelessDropoutIsTensorFlows) {
  EXPECT_EQ(values<float>(nn::experimental::stateless_dropout(ones({8}), 0.5, {1, 2})),
            (Doubles{2, 0, 2, 0, 0, 2, 0, 0}));
}

TEST(RandomTest, SetSeedBeginsAnew) {
  random::set_seed(7);
  const auto first = random::normal({100}).to_vector<float>();
  const auto second = random::normal({100}).to_vector<float>();
  EXPECT_NE(first, second);
  random::set_seed(7);
  EXPECT_EQ(random::normal({100}).to_vector<float>(), first);
  EXPECT_EQ(random::normal({100}).to_vector<float>(), second);
}

TEST(RandomTest, NumbersDoNotDependOnThreads) {
  const auto draw = [] {
    const random::Seed seed(3, 4);
    const Shape shape{100003};
    return std::vector{
        random::stateless_uniform(shape, seed).to_vector<float>(),
        random::stateless_normal(shape, seed).to_vector<float>(),
        random::stateless_truncated_normal(shape, seed).to_vector<float>(),
        nn::experimental::stateless_dropout(ones(shape), 0.3, seed).to_vector<float>()};
  };
  set_threads_here(1);
  const auto one = draw();
  set_threads_here(3);
  EXPECT_EQ(draw(), one);
  set_threads_here(2);
  EXPECT_EQ(draw(), one);
}

TEST(RandomTest, MomentsAreAsTheyShould) {
  const auto moments = [](const Tensor& t) {
    double sum = 0, squares = 0;
    for (const float x : t.to_vector<float>()) {
      sum += x;
      squares += double{x} * x;
    }
    const auto n = static_cast<double>(t.num_elements());
    return std::pair(sum / n, squares / n - sum / n * sum / n);
  };
  const auto [mean, variance] = moments(random::stateless_normal({1 << 20}, {1, 1}, 3, 2));
  EXPECT_NEAR(mean, 3, 0.01);
  EXPECT_NEAR(variance, 4, 0.02);
  const auto [tm, tv] = moments(random::stateless_truncated_normal({1 << 20}, {1, 1}));
  EXPECT_NEAR(tm, 0, 0.005);
  EXPECT_NEAR(tv, 0.774, 0.005);
}

TEST(RandomTest, DropoutsGradientHasTheSameMask) {
  const Tensor x = ones({1000});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::dropout(x, 0.4);
  EXPECT_EQ(tape.gradient(y, x).to_vector<float>(), y.to_vector<float>());
}

TEST(RandomErrorsTest, SaysWhatIsWrong) {
  const auto error_of = [](auto f) -> std::string {
    try {
      f();
    } catch (const InvalidArgumentError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of([] { random::uniform({2}, 5, 3, int32); }),
            "Need minval < maxval, got 5 >= 3 [Op:RandomUniformInt]");
  EXPECT_EQ(error_of([] { random::uniform({2}, 0, {}, int32); }),
            "Must specify maxval for integer dtype int32");
  EXPECT_EQ(error_of([] {
              random::stateless_uniform({2}, constant({1, 2, 3}));
            }),
            "seed must have shape [2], not [3]");
  EXPECT_EQ(error_of([] { nn::dropout(ones({2}), 1); }),
            "`rate` must be a scalar tensor or a float in the range [0, 1). "
            "Received: rate=1");
  EXPECT_NE(error_of([] { nn::dropout(constant({1}), 0.5); }), "no error");
  EXPECT_NE(error_of([] { random::normal({2}, 0, 1, int32); }), "no error");
}

}  // namespace
}  // namespace plimsoll
