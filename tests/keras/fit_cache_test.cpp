// fit on datasets with caches: what they keep stays from one run to the next, and is in the plan.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/node.h"
#include "keras/fit_rows.h"
#include "plimsoll/data/files.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::keras {
namespace {

using data::Dataset;
using data::Element;

constexpr std::uint64_t kRow = kWidth * sizeof(float) + 64;          // bytes of it, with its label
constexpr std::uint64_t kBatch = 32 * (kWidth + 1) * sizeof(float);  // of 32 of them

Element twice(const Element& e) {
  return {e[0].leaf() * 2.0F, e[1].leaf()};
}

struct Case {
  const char* name;
  Dataset training;
  std::optional<Dataset> validation = {};
};

// Without threads the plan is what is measured, the first time and when the caches are full.
TEST(FitCacheTest, PlanWithoutThreadsHolds) {
  const Case cases[] = {
      {"elements", rows(320).map(twice).cache().batch(32)},
      {"rows", rows(320).cache().batch(32)},
      {"batches", rows(320).batch(32).cache()},
      {"made batches", rows(320).batch(32).map(twice).cache()},
      {"shuffled", rows(320).map(twice).cache().shuffle(100).batch(32)},
      {"a map behind it", rows(320).cache().map(twice).batch(32)},
      {"a map of cached batches", rows(320).batch(32).cache().map(twice)},
      {"twice", rows(320).cache().map(twice).cache().batch(32)},
      {"a part", rows(320).map(twice).cache().take(64).batch(32)},
      {"for validation", rows(96).batch(32), rows(320).map(twice).cache().batch(32)},
      {"for both", rows(96).map(twice).cache().batch(32), rows(320).map(twice).cache().batch(32)},
      {"for both, batches", rows(320).batch(32).cache(), rows(96).batch(32).cache()},
  };
  for (const Case& one : cases) {
    for (const char* time : {"first", "second"}) {
      auto model = make_model();
      FitOptions options = silent();
      options.validation_dataset = one.validation;
      const auto history = model->fit(one.training, options);
      EXPECT_GT(history->planned_peak_bytes, 0U) << one.name << ", " << time;
      EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes)
          << one.name << ", " << time;
    }
  }
}

// In one epoch, and with threads, it is the most.
TEST(FitCacheTest, PlanIsTheMost) {
  const Dataset shared = rows(128).map(twice).cache();
  const Case cases[] = {
      {"prefetched batches", rows(320).batch(32).cache().prefetch(2)},
      {"prefetched elements", rows(320).map(twice).cache().batch(32).prefetch(2)},
      {"parallel map", rows(320).map(twice, {.num_parallel_calls = 2}).cache().batch(32)},
      {"parallel map behind it", rows(320).cache().map(twice, {.num_parallel_calls = 2}).batch(32)},
      {"small last batch", rows(330).batch(32).cache()},
      {"elements, small last batch", rows(100).map(twice).cache().batch(32)},
      {"shared", shared.take(96).batch(32), shared.skip(96).batch(32)},
      {"both prefetched", rows(320).map(twice).cache().batch(32).prefetch(2),
       rows(640).map(twice).cache().batch(32).prefetch(2)},
      {"one after the other", rows(64).cache().concatenate(rows(64).cache()).batch(32)},
      {"side by side",
       Dataset::zip(Nest<Dataset>::List{Dataset::from_tensor_slices(zeros({96, kWidth})).cache(),
                                        Dataset::from_tensor_slices(zeros({96, 1})).cache()})
           .batch(32)},
      {"shared, in threads", shared.take(96).batch(32).prefetch(2),
       shared.skip(96).batch(32).prefetch(2)},
      {"repeated", rows(96).map(twice).cache().repeat(3).batch(32)},
  };
  for (const Case& one : cases) {
    for (const std::int64_t epochs : {1, 3}) {
      auto model = make_model();
      FitOptions options = silent(epochs);
      options.validation_dataset = one.validation;
      const auto history = model->fit(one.training, options);
      EXPECT_LE(history->measured_peak_bytes, history->planned_peak_bytes)
          << one.name << ", " << epochs;
      EXPECT_LE(history->planned_peak_bytes, 2 * history->measured_peak_bytes)
          << one.name << ", " << epochs;
    }
  }
}

// In a file: what is read back is in the plan, too.
TEST(FitCacheTest, PlanOfACacheInAFileIsTheMost) {
  const auto folder = std::filesystem::temp_directory_path() / "plimsoll_fit_cache";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Case cases[] = {
      {"elements", data::cache(rows(320).map(twice), folder / "elements").batch(32)},
      {"batches", data::cache(rows(330).batch(32), folder / "batches")},
      {"prefetched", data::cache(rows(330).batch(32), folder / "prefetched").prefetch(2)},
      {"for both", data::cache(rows(320).map(twice), folder / "training").batch(32),
       data::cache(rows(96).batch(32), folder / "validation")},
  };
  for (const Case& one : cases) {
    for (const char* time : {"first", "second"}) {
      auto model = make_model();
      FitOptions options = silent();
      options.validation_dataset = one.validation;
      const auto history = model->fit(one.training, options);
      EXPECT_LE(history->measured_peak_bytes, history->planned_peak_bytes)
          << one.name << ", " << time;
      EXPECT_LE(history->planned_peak_bytes, 2 * history->measured_peak_bytes)
          << one.name << ", " << time;
    }
  }
  std::filesystem::remove_all(folder);
}

// What a user met: both caches are full after the first epoch.
TEST(FitCacheTest, CachesOfBothAreAddedUp) {
  const auto planned = [](std::int64_t epochs, std::optional<Dataset> validation) {
    auto model = make_model();
    FitOptions options = silent(epochs);
    options.validation_dataset = validation;
    return model->fit(rows(320).map(twice).cache().batch(32), options)->planned_peak_bytes;
  };
  const std::uint64_t alone = planned(2, {});
  const std::uint64_t arrays = 640 * (kWidth + 1) * sizeof(float);
  EXPECT_GE(planned(2, rows(640).map(twice).cache().batch(32)), alone + arrays + 640 * kRow);
}

TEST(FitCacheTest, StepsPerEpochFillAPart) {
  const Dataset dataset = rows(320).map(twice).cache().batch(32);
  for (const std::int64_t steps : {2, 4, 10, 13}) {
    FitOptions options = silent(2);
    options.steps_per_epoch = steps;
    options.validation_dataset = rows(64).batch(32);
    auto model = make_model();
    const FitPlan plan = model->plan_fit(dataset, options);
    EXPECT_TRUE(plan.is_bounded);
    const auto history = model->fit(dataset, options);
    EXPECT_LE(history->measured_peak_bytes, history->planned_peak_bytes) << steps;
    if (steps == 2) {
      EXPECT_LE(plan.pipeline_bytes, 4 * 32 * kRow + 2 * kBatch);
    }
  }
}

TEST(FitCacheTest, AnUnknownNumberOfElementsIsSaid) {
  const Dataset some = rows(96).filter([](const Element&) { return true; });
  auto model = make_model();
  const FitPlan plan = model->plan_fit(some.cache().batch(32), silent());
  EXPECT_FALSE(plan.is_bounded);
  EXPECT_FALSE(plan.is_exact);
  EXPECT_TRUE(plan.has_open_cache);
  EXPECT_NE(plan.to_string().find("peak about "), std::string::npos) << plan.to_string();
  EXPECT_NE(plan.to_string().find("what cache() will keep"), std::string::npos) << plan.to_string();
  const FitPlan bounded = model->plan_fit(rows(96).cache().batch(32).prefetch(1), silent());
  EXPECT_TRUE(bounded.is_bounded);
  EXPECT_EQ(bounded.cached_bytes, 96 * kRow);
  EXPECT_NE(bounded.to_string().find("peak at most "), std::string::npos) << bounded.to_string();
  EXPECT_NE(bounded.to_string().find("(cached "), std::string::npos) << bounded.to_string();
}

// It is known how much that will be: an error before the first step.
TEST(FitCacheTest, ACacheThatDoesNotFitIsRefused) {
  const Dataset dataset = rows(2000).map(twice).cache().batch(32);  // 4 MB each
  const std::uint64_t before = Context::get().cpu().budget().in_use();
  auto model = make_model(std::to_string(before + (2U << 20)));
  int num_steps = 0;
  FitOptions options = silent(1);
  options.callbacks = {callbacks::LambdaCallback(
      {.on_train_batch_begin = [&](std::int64_t, const Logs&) { ++num_steps; }})};
  try {
    model->fit(dataset, options);
    FAIL() << "it was trained";
  } catch (const ResourceExhaustedError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("would fit: cache(filename)"), std::string::npos) << text;
  }
  EXPECT_EQ(num_steps, 0);
}

// It is not known: an error when there is no room, which says what would help.
TEST(FitCacheTest, ACacheThatGrowsTooLargeIsAnErrorThatSaysSo) {
  const Dataset dataset =
      rows(2000).filter([](const Element&) { return true; }).cache().batch(32).prefetch(1);
  const std::uint64_t before = Context::get().cpu().budget().in_use();
  auto model = make_model(std::to_string(before + (2U << 20)));
  try {
    model->fit(dataset, silent(1));
    FAIL() << "it was trained";
  } catch (const ResourceExhaustedError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("cache() keeps "), std::string::npos) << text;
    EXPECT_NE(text.find("cache(filename)"), std::string::npos) << text;
  }
  EXPECT_LE(Context::get().cpu().budget().peak(), before + (2U << 20));
}

// A validation is looked at before the plan is made, unless its batches would be lost.
TEST(FitCacheTest, AValidationThatNobodyHasSeenIsLookedAt) {
  const Dataset training = rows(96).batch(32).cache();
  { training.make_iterator(); }
  int num_begun = 0, num_given = 0;
  const auto batches = [&](bool is_one_shot) {
    return Dataset::from_generator(
        [&] {
          ++num_begun;
          return [&num_given, i = 0]() mutable -> std::optional<Element> {
            if (i++ == 4) return std::nullopt;
            ++num_given;
            return Element{zeros({128, kWidth}), zeros({128, 1})};
          };
        },
        {.is_one_shot = is_one_shot});
  };
  FitOptions options = silent(1);
  options.validation_dataset = batches(false).map(twice);
  auto model = make_model();
  const auto history = model->fit(training, options);
  EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes);
  EXPECT_EQ(num_begun, 2);
  num_begun = num_given = 0;
  options.validation_dataset = batches(true);
  EXPECT_FALSE(model->plan_fit(training, options).is_bounded);
  EXPECT_EQ(num_begun, 0);
  model->fit(training, options);
  EXPECT_EQ(num_begun, 1);
  EXPECT_EQ(num_given, 4);
  EXPECT_THROW(model->plan_fit(batches(true), silent(1)), InvalidArgumentError);
}

// Validations that come late, and rarely.
TEST(FitCacheTest, PlanKnowsWhichEpochsAreValidated) {
  for (const std::int64_t epochs : {2, 3, 4, 6}) {
    FitOptions options = silent(epochs);
    options.validation_freq = 2;
    options.validation_dataset = rows(512).map(twice).cache().batch(256);
    auto model = make_model();
    const auto history = model->fit(rows(96).map(twice).cache().batch(32), options);
    EXPECT_EQ(history->planned_peak_bytes, history->measured_peak_bytes) << epochs;
  }
}

// Exact is what comes to the byte, bounded what is no less; and plan_fit says what fit will.
TEST(FitCacheTest, PlanSaysNoMoreThanItKnows) {
  using Make = std::function<Dataset()>;
  const auto first_half = [](const Element& e) { return e[1].leaf().item<float>() < 1.0F; };
  const auto both = [](const Element& e) {
    return Element{e[0][0].leaf() + e[1][0].leaf(), e[0][1].leaf()};
  };
  const std::pair<const char*, Make> cases[] = {
      {"batches of two sizes", [] { return rows(100).batch(32).cache(); }},
      {"filled by the first batch", [] { return rows(96).cache().shuffle(96).batch(32); }},
      {"in turns", [] { return rows(96).batch(32).concatenate(rows(80).batch(40)); }},
      {"caches in turns",
       [] { return rows(96).batch(32).cache().concatenate(rows(80).batch(40).cache()); }},
      {"filtered rows", [&] { return rows(100).filter(first_half).batch(32); }},
      {"a part", [] { return rows(100).batch(32).take(3); }},
      {"shuffled batches", [] { return rows(96).batch(32).shuffle(3); }},
      {"batches side by side",
       [&] {
         return Dataset::zip({rows(96).batch(32), rows(96).batch(32)}).map(both);
       }},
      {"threads", [] { return rows(96).map(twice, {.num_parallel_calls = 3}).batch(32); }},
  };
  for (const auto& [name, make] : cases) {
    for (const std::int64_t steps : {0, 2, 3}) {
      for (const bool is_validated : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} steps, validation {}", name, steps, is_validated));
        const Dataset training = make();
        FitOptions options = silent(3);
        if (steps > 0) options.steps_per_epoch = steps;
        if (is_validated) options.validation_dataset = make();
        auto model = make_model();
        for (int time = 0; time < 2; ++time) {
          const FitPlan plan = model->plan_fit(training, options);
          const auto history = model->fit(training, options);
          EXPECT_EQ(plan.peak_bytes, history->planned_peak_bytes);
          if (plan.is_exact) {
            EXPECT_EQ(plan.peak_bytes, history->measured_peak_bytes);
          }
          if (plan.is_bounded) {
            EXPECT_GE(plan.peak_bytes, history->measured_peak_bytes);
          }
        }
      }
    }
  }
}

TEST(FitCacheTest, PlanFitOfADatasetIsThatOfFit) {
  const Dataset dataset = rows(320).map(twice).batch(32).cache().prefetch(2);
  auto model = make_model();
  const std::uint64_t before = Context::get().cpu().budget().in_use();
  const FitPlan plan = model->plan_fit(dataset, silent());
  EXPECT_FALSE(plan.is_exact);
  EXPECT_EQ(model->optimizer()->iterations(), 0);
  // Kernels and constants of the step stay, no data does.
  EXPECT_LT(Context::get().cpu().budget().in_use(), before + 3 * kBatch);
  EXPECT_EQ(model->fit(dataset, silent())->planned_peak_bytes, plan.peak_bytes);
}

}  // namespace
}  // namespace plimsoll::keras
