// fit on pipelines that are put together at random: the plan is kept, whatever they are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "data/node.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::keras {
namespace {

using data::Dataset;
using data::Element;

constexpr std::int64_t kWidth = 64;

struct Pipeline {
  Dataset dataset;
  std::string text;  // as it would be written
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random_);
  }

  // Batches of {x, y}.
  Pipeline make() {
    const std::int64_t num = number(20, 150);
    Pipeline made{Dataset::from_tensor_slices(
                      {random::stateless_normal({num, kWidth}, {1, 2}), zeros({num, 1})}),
                  "rows(" + std::to_string(num) + ")"};
    add_steps(made, number(0, 4));
    const std::int64_t size = number(4, 40);
    const bool drops = number(0, 3) == 0 && made.dataset.cardinality() >= size;
    made.dataset = made.dataset.batch(size, {.drop_remainder = drops});
    made.text += ".batch(" + std::to_string(size) + (drops ? ", drop" : "") + ")";
    add_steps(made, number(0, 3));
    return made;
  }

 private:
  void add_steps(Pipeline& to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) add_step(to);
  }
  void add_step(Pipeline& to) {
    const auto twice = [](const Element& e) { return Element{e[0].leaf() * 2.0F, e[1].leaf()}; };
    const auto both = [](const Element& e) {
      return Element{e[0].leaf() * 2.0F, e[1].leaf() + 1.0F};
    };
    const std::int64_t n = number(1, 50), size = to.dataset.cardinality();
    const std::string in_brackets = "(" + std::to_string(n) + ")";
    switch (number(0, 10)) {
      case 0:
        to = {to.dataset.map(twice), to.text + ".map(twice)"};
        break;
      case 1:
        to = {to.dataset.map(both), to.text + ".map(both)"};
        break;
      case 2:
        to = {to.dataset.map(both, {.num_parallel_calls = 2}), to.text + ".map(both, 2)"};
        break;
      case 3:
        to = {to.dataset.shuffle(n, {.seed = n}), to.text + ".shuffle" + in_brackets};
        break;
      case 4:
      case 5:
        to = {to.dataset.cache(), to.text + ".cache()"};
        break;
      case 6:
        to = {to.dataset.prefetch(1 + n % 4),
              to.text + ".prefetch(" + std::to_string(1 + n % 4) + ")"};
        break;
      case 7:
        to = {to.dataset.take(n), to.text + ".take" + in_brackets};
        break;
      case 8:  // something has to be left
        if (size > n) to = {to.dataset.skip(n), to.text + ".skip" + in_brackets};
        break;
      case 9:
        if (size < 100) to = {to.dataset.repeat(2), to.text + ".repeat(2)"};
        break;
      default:
        if (size > 3)
          to = {to.dataset.shard(2, n % 2), to.text + ".shard(2, " + std::to_string(n % 2) + ")"};
        break;
    }
  }

  std::mt19937 random_;
};

int num_plans = 0, num_bounded = 0;

void expect_plan_kept(unsigned seed) {
  Maker maker(seed);
  const Pipeline training = maker.make();
  FitOptions options{.epochs = maker.number(1, 3), .verbose = Verbose::kSilent};
  std::string text = training.text;
  if (maker.number(0, 1)) {
    const Pipeline validation = maker.make();
    options.validation_dataset = validation.dataset;
    options.validation_freq = maker.number(1, 2);
    text += " | " + validation.text;
    if (maker.number(0, 3) == 0) options.validation_steps = maker.number(1, 6);
  }
  if (maker.number(0, 3) == 0) options.steps_per_epoch = maker.number(1, 8);
  text += " | epochs " + std::to_string(options.epochs) + ", every " +
          std::to_string(options.validation_freq) + ", steps " +
          std::to_string(options.steps_per_epoch.value_or(-1)) + " and " +
          std::to_string(options.validation_steps.value_or(-1));
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
  for (int time = 0; time < 2; ++time) {
    Sequential model({Input({kWidth}), layers::Dense({.units = 16, .activation = "relu"}),
                      layers::Dense({.units = 1})});
    model->compile({.optimizer = "sgd", .loss = "mse"});
    const FitPlan plan = model->plan_fit(training.dataset, options);
    const auto history = model->fit(training.dataset, options);
    ++num_plans;
    if (!plan.is_bounded) continue;  // a smaller batch came first
    ++num_bounded;
    EXPECT_LE(history->measured_peak_bytes, history->planned_peak_bytes) << "time " << time;
    if (plan.is_exact) {
      EXPECT_EQ(history->measured_peak_bytes, history->planned_peak_bytes) << "time " << time;
    }
  }
}

TEST(FitPipelinesTest, PlansOfAllKindsAreKept) {
  const char* given = std::getenv("FIT_PIPELINES_SEEDS");  // more of them: "1000"
  const int num = given ? std::atoi(given) : 60;
  for (int seed = 0; seed < num && !::testing::Test::HasFailure(); ++seed)
    expect_plan_kept(static_cast<unsigned>(seed));
  EXPECT_GT(num_bounded, num_plans * 9 / 10);
}

}  // namespace
}  // namespace plimsoll::keras
