// fit on datasets: the plan has what the pipeline holds, and the pipeline keeps to it.
#include <gtest/gtest.h>

#include <algorithm>

#include "data/node.h"
#include "keras/fit_rows.h"
#include "plimsoll/bytes.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::keras {
namespace {

using data::Dataset;
using data::Element;
using layers::Dense;

struct Named {
  const char* name;
  Dataset dataset;
};

// Pipelines without threads: what is planned is what is measured, to the byte.
TEST(FitDatasetTest, PlanOfAPipelineWithoutThreadsHolds) {
  const auto twice = [](const Element& e) { return Element{e[0].leaf() * 2.0F, e[1].leaf()}; };
  const Named cases[] = {
      {"batch", rows(96).batch(32)},
      {"shuffle", rows(96).shuffle(50).batch(32)},
      {"small last batch", rows(100).batch(32)},
      {"dropped last batch", rows(100).batch(32, {.drop_remainder = true})},
      {"map", rows(96).map(twice).batch(32)},
      {"map of batches", rows(96).batch(32).map(twice)},
      {"two maps", rows(96).batch(32).map(twice).map(twice)},
      {"shuffled elements", rows(96).map(twice).shuffle(40).batch(16)},
      {"filter", rows(96).batch(16).filter([](const Element&) { return true; })},
  };
  for (const Named& one : cases) {
    auto model = make_model();
    const auto history = model->fit(one.dataset, silent());
    EXPECT_GT(history->planned_peak_bytes, 0U) << one.name;
    EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes) << one.name;
  }
}

// With threads it is the most that they may come to hold.
TEST(FitDatasetTest, PlanOfThreadsIsTheMost) {
  const auto twice = [](const Element& e) { return Element{e[0].leaf() * 2.0F, e[1].leaf()}; };
  const Named cases[] = {
      {"prefetch", rows(640).batch(32).prefetch(4)},
      {"parallel map", rows(320).map(twice, {.num_parallel_calls = 2}).batch(32)},
      {"both", rows(320).map(twice, {.num_parallel_calls = 2}).shuffle(64).batch(32).prefetch(2)},
      {"cache", rows(320).map(twice).cache().batch(32).prefetch(2)},
      {"zip",
       Dataset::zip(Nest<Dataset>::List{
                        Dataset::from_tensor_slices(zeros({96, kWidth})).map([](const Element& e) {
                          return Element(e.leaf() + 1.0F);
                        }),
                        Dataset::from_tensor_slices(zeros({96, 1}))})
           .batch(32)
           .prefetch(1)},
  };
  for (const Named& one : cases) {
    auto model = make_model();
    const auto history = model->fit(one.dataset, silent());
    EXPECT_LE(history->measured_peak_bytes, history->planned_peak_bytes) << one.name;
    // And not out of all proportion.
    EXPECT_LE(history->planned_peak_bytes, 4 * history->measured_peak_bytes) << one.name;
  }
}

TEST(FitDatasetTest, PrefetchIsInThePlan) {
  const std::uint64_t batch = 32 * kWidth * sizeof(float) + 32 * sizeof(float);
  const auto planned = [](const Dataset& dataset) {
    auto model = make_model();
    return model->fit(dataset, silent(1))->planned_peak_bytes;
  };
  const std::uint64_t without = planned(rows(640).batch(32));
  EXPECT_EQ(planned(rows(640).batch(32).prefetch(4)), without + 4 * batch);
  EXPECT_EQ(planned(rows(640).batch(32).prefetch(8)), without + 8 * batch);
}

// The pipeline gets what steps leave: it holds fewer batches, and steps never want for memory.
TEST(FitDatasetTest, APipelineShrinksToWhatStepsLeave) {
  const std::uint64_t batch = 32 * kWidth * sizeof(float);
  std::uint64_t least = 0;
  {
    auto model = make_model();
    least = model->fit(rows(640).batch(32), silent(1))->planned_peak_bytes;
  }
  const Dataset deep = rows(1280).batch(32).prefetch(64);
  const std::uint64_t rows_bytes = 640 * (kWidth + 1) * sizeof(float);  // of twice as many
  const std::uint64_t limit = least + rows_bytes + 5 * batch;
  auto model = make_model(std::to_string(limit));
  const auto history = model->fit(deep, silent(3));
  EXPECT_EQ(history->planned_peak_bytes, limit);
  EXPECT_LE(history->measured_peak_bytes, limit);
  EXPECT_GE(history->measured_peak_bytes, least + rows_bytes);
  EXPECT_EQ(history->epoch.size(), 3U);
}

// The room beside a step is another one in validation: what training may hold ahead would be too
// much there.
TEST(FitDatasetTest, AValidationLeavesRoomForItsOwnSteps) {
  const Dataset training = rows(32)
                               .map([](const Element& e) {
                                 const Tensor wide = zeros({1 << 19}) + 1.0F;  // 2 MiB
                                 return Element{e[0].leaf() * reduce_sum(wide), e[1].leaf()};
                               })
                               .batch(8);
  const auto make_wide = [](const std::string& memory_budget) {
    Sequential model({Input({kWidth}), Dense({.units = 4096}), Dense({.units = 1})});
    model->compile({.optimizer = "sgd", .loss = "mse", .memory_budget = memory_budget});
    return model;
  };
  const Dataset tested = rows(2560);
  FitOptions options = silent(2);
  options.validation_dataset = tested.take(256).batch(256);
  std::uint64_t limit = 0;
  {
    auto model = make_wide("");
    limit = model->fit(training, options)->planned_peak_bytes + (1 << 18);
  }
  options.validation_dataset = tested.batch(256).prefetch(8);
  auto model = make_wide(std::to_string(limit));
  const auto history = model->fit(training, options);
  EXPECT_EQ(history->planned_peak_bytes, limit);
  EXPECT_LE(history->measured_peak_bytes, limit);
  EXPECT_EQ(history->epoch.size(), 2U);
}

TEST(FitDatasetTest, ABatchThatDoesNotFitIsRefusedBeforeTheFirstStep) {
  auto model = make_model("256KiB");
  const std::uint64_t before = Context::get().cpu().budget().in_use();
  const Dataset dataset = rows(1024).batch(1024);
  const std::uint64_t with_rows = Context::get().cpu().budget().in_use();
  EXPECT_GT(with_rows, before);
  try {
    model->fit(dataset, silent(1));
    FAIL() << "it was trained";
  } catch (const ResourceExhaustedError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("of 256.0 KiB (memory_budget of compile)"), std::string::npos) << text;
    EXPECT_NE(text.find("first batch of its dataset"), std::string::npos) << text;
  }
}

// The batch that was taken to make the plan is trained with, and a generator is begun once.
TEST(FitDatasetTest, LookingAtTheFirstBatchLosesNothing) {
  int num_begun = 0, num_given = 0;
  const Dataset dataset = Dataset::from_generator([&] {
    ++num_begun;
    return [&num_given, i = 0]() mutable -> std::optional<Element> {
      if (i++ == 5) return std::nullopt;
      ++num_given;
      return Element{zeros({8, kWidth}), zeros({8, 1})};
    };
  });
  auto model = make_model();
  model->fit(dataset, silent(2));
  EXPECT_EQ(num_begun, 2);
  EXPECT_EQ(num_given, 10);
  EXPECT_EQ(model->optimizer()->iterations(), 10);
}

TEST(FitDatasetTest, StepsPerEpochGoOnWhereTheyEnded) {
  int num_given = 0;
  const Dataset dataset = Dataset::from_generator([&] {
    return [&]() -> std::optional<Element> {
      ++num_given;
      return Element{zeros({8, kWidth}), zeros({8, 1})};
    };
  });
  FitOptions options = silent(3);
  options.steps_per_epoch = 4;
  auto model = make_model();
  model->fit(dataset, options);
  EXPECT_EQ(num_given, 12);
}

TEST(FitDatasetTest, ValidationOnADatasetIsInThePlan) {
  FitOptions options = silent(2);
  options.validation_dataset = rows(200).batch(64);
  auto model = make_model();
  const auto history = model->fit(rows(96).batch(32), options);
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
}

// Threads count against the scope in which the iteration began.
TEST(DatasetScopeTest, ThreadsKeepToTheScopeOfWhoIterates) {
  const std::uint64_t element = (kWidth << 6) * sizeof(float);
  const Dataset dataset = Dataset::range(40)
                              .map(
                                  [](const Element& i) {
                                    return Element(cast(i.leaf(), float32) + zeros({kWidth << 6}));
                                  },
                                  {.num_parallel_calls = 2})
                              .prefetch(100);
  const memory::BudgetScope scope(12 * element);
  double sum = 0;
  for (const Element& e : dataset) sum += e.leaf().to_vector<float>()[0];
  EXPECT_EQ(sum, 780.0);
  EXPECT_LE(scope.peak(), 12 * element);
  EXPECT_GT(scope.peak(), 2 * element);
}

TEST(DatasetScopeTest, AScopeMayEndBeforeTheIteration) {
  std::unique_ptr<data::Iterator> run;
  {
    const memory::BudgetScope scope("8MiB");
    run = rows(64).batch(8).prefetch(2).make_iterator();
    EXPECT_TRUE(run->next());
  }
  int num = 1;
  while (run->next()) ++num;
  EXPECT_EQ(num, 8);
}

}  // namespace
}  // namespace plimsoll::keras
