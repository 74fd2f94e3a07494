#include "plimsoll/memory/budget.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

Budget make_budget(std::uint64_t limit) {
  return Budget({.name = "test", .limit = limit});
}

TEST(BudgetTest, CountsInUnitsOf64) {
  Budget budget = make_budget(1_MiB);
  Reservation a = budget.reserve(1, Tag::kWeights);
  Reservation b = budget.reserve(65, Tag::kWeights);
  EXPECT_EQ(a.nbytes(), 64);
  EXPECT_EQ(budget.in_use(), 64 + 128);
  b.release();
  EXPECT_EQ(budget.in_use(), 64);
  EXPECT_EQ(budget.peak(), 192);
}

TEST(BudgetTest, RefusesOneByteOverLimit) {
  Budget budget = make_budget(1024);
  Reservation a = budget.reserve(960, Tag::kWeights);
  EXPECT_FALSE(budget.try_reserve(65, Tag::kWeights));
  EXPECT_TRUE(budget.try_reserve(64, Tag::kWeights));
  EXPECT_EQ(budget.in_use(), 960);
  EXPECT_EQ(budget.stats().refused, 1);
}

TEST(BudgetTest, RefusalNamesRequestLimitAndHolders) {
  Budget budget({.name = "GPU:0", .limit = 512_MiB, .origin = "memory_limit of GPU:0"});
  Reservation a = budget.reserve(100_MiB, Owner(Tag::kWeights, "dense"));
  Reservation b = budget.reserve(300_MiB, Owner(Tag::kActivations, "conv"));
  try {
    budget.reserve(200_MiB, Owner(Tag::kWorkspace, "conv2d_3"));
    FAIL() << "400 + 200 MiB fit into 512 MiB?";
  } catch (const ResourceExhaustedError& e) {
    const std::string text = e.what();
    for (const char* part : {"GPU:0", "200.0 MiB asked for workspace 'conv2d_3'",
                             "limit 512.0 MiB (memory_limit of GPU:0)",
                             "in use 400.0 MiB (activations 300.0 MiB, weights 100.0 MiB)",
                             "largest free 112.0 MiB"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << "\nnot in\n" << text;
    }
  }
}

TEST(BudgetTest, BindsAtEveryLevelAndBooksAllOrNone) {
  Budget process({.name = "process", .limit = 1000_KiB});
  Budget gpu(process, {.name = "GPU:0", .limit = 800_KiB});
  Budget scope(gpu, {.name = "scope", .limit = 900_KiB});
  Reservation other = process.reserve(500_KiB, Tag::kIo);
  Refusal why;
  EXPECT_FALSE(scope.try_reserve(600_KiB, Tag::kIo, &why));  // the process is full
  EXPECT_EQ(why.limit, 1000_KiB);
  EXPECT_EQ(gpu.in_use(), 0);
  EXPECT_EQ(gpu.peak(), 0);
  EXPECT_EQ(process.in_use(), 500_KiB);
  other.release();
  EXPECT_FALSE(scope.try_reserve(850_KiB, Tag::kIo, &why));  // the GPU is too small
  EXPECT_EQ(why.limit, 800_KiB);
  Reservation a = scope.reserve(600_KiB, Tag::kIo);
  EXPECT_EQ(process.in_use(), 600_KiB);
  EXPECT_EQ(scope.available(), 200_KiB);
  EXPECT_TRUE(process.is_valid());
}

TEST(BudgetTest, ReservesAllClaimsOrNone) {
  Budget budget = make_budget(1_MiB);
  const Claim claims[] = {{400_KiB, Tag::kWeights}, {500_KiB, Tag::kOptimizer}};
  Reservation out[2];
  ASSERT_TRUE(budget.try_reserve_all(claims, out));
  EXPECT_EQ(budget.in_use(), 900_KiB);
  Reservation more[2];
  EXPECT_FALSE(budget.try_reserve_all(claims, more));
  EXPECT_EQ(budget.in_use(), 900_KiB);
  EXPECT_FALSE(more[0]);
}

TEST(BudgetTest, RejectsSizesThatOverflow) {
  Budget budget = make_budget(kNoLimit);
  for (const std::uint64_t n :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1}) {
    EXPECT_THROW(budget.reserve(n, Tag::kIo), InvalidArgumentError) << n;
  }
  Reservation half = budget.reserve(std::uint64_t{1} << 62, Tag::kIo);
  EXPECT_THROW(budget.reserve(std::uint64_t{1} << 62, Tag::kIo), ResourceExhaustedError);
  const Claim claims[] = {{std::uint64_t{1} << 62, Tag::kIo}, {std::uint64_t{1} << 62, Tag::kIo}};
  Reservation out[2];
  EXPECT_FALSE(budget.try_reserve_all(claims, out));
  EXPECT_EQ(budget.in_use(), std::uint64_t{1} << 62);
}

TEST(BudgetTest, RejectsBadOptions) {
  EXPECT_THROW(Budget({.name = ""}), InvalidArgumentError);
  EXPECT_THROW(Budget({.name = "x", .limit = ~std::uint64_t{0}}), InvalidArgumentError);
  EXPECT_THROW(Budget({.name = "x", .limit = 1, .prepaid = true}), InvalidArgumentError);
}

TEST(BudgetTest, LimitIsRaisedAtOnceAndLoweredWithCare) {
  Budget budget = make_budget(1_MiB);
  Reservation a = budget.reserve(600_KiB, Tag::kIo);
  EXPECT_THROW(budget.set_limit(500_KiB), FailedPreconditionError);
  EXPECT_EQ(budget.limit(), 1_MiB);
  budget.set_limit(2_MiB);
  Reservation b = budget.reserve(1200_KiB, Tag::kIo);
  budget.set_limit(700_KiB, Budget::Lowering::kAsReleased);
  EXPECT_FALSE(budget.try_reserve(1, Tag::kIo));
  b.release();
  EXPECT_EQ(budget.available(), 100_KiB);
  EXPECT_TRUE(budget.try_reserve(100_KiB, Tag::kIo));
}

TEST(BudgetTest, PrepaidTakesItsWholeLimitFromTheParent) {
  Budget process({.name = "process", .limit = 1_MiB});
  {
    Budget gpu(process, {.name = "GPU:0", .limit = 700_KiB, .prepaid = true});
    EXPECT_EQ(process.in_use(), 700_KiB);
    Reservation a = gpu.reserve(600_KiB, Tag::kWeights);
    EXPECT_EQ(process.in_use(), 700_KiB);
    EXPECT_EQ(gpu.in_use(), 600_KiB);
    EXPECT_THROW(Budget(process, {.name = "GPU:1", .limit = 700_KiB, .prepaid = true}),
                 ResourceExhaustedError);
    EXPECT_TRUE(process.is_valid());
  }
  EXPECT_EQ(process.in_use(), 0);
}

TEST(BudgetTest, LedgerRowsAddUpToTotal) {
  Budget process({.name = "process"});
  Budget cpu(process, {.name = "CPU:0"});
  std::vector<Reservation> held;
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const Owner owner(static_cast<Tag>(random() % kNumTags),
                      "layer_" + std::to_string(random() % 40));
    held.push_back((i % 3 ? cpu : process).reserve(random() % 10000, owner));
    if (i % 5 == 4) held.erase(held.begin() + static_cast<long>(random() % held.size()));
  }
  for (const Budget& budget : {process, cpu}) {
    std::uint64_t sum = 0;
    std::uint64_t count = 0;
    for (const LedgerRow& row : budget.ledger()) {
      sum += row.nbytes;
      count += row.count;
    }
    EXPECT_EQ(sum, budget.in_use());
    EXPECT_EQ(count, budget.stats().count);
  }
  EXPECT_TRUE(process.is_valid());
  held.clear();
  EXPECT_TRUE(process.ledger().empty());
}

TEST(BudgetTest, PeakRemembersWhoHeldWhat) {
  Budget budget = make_budget(kNoLimit);
  Reservation weights = budget.reserve(1000_KiB, Tag::kWeights);
  budget.reserve(500_KiB, Tag::kWorkspace).release();
  const BudgetStats stats = budget.stats();
  EXPECT_EQ(stats.peak, 1500_KiB);
  EXPECT_EQ(stats.by_tag_at_peak[static_cast<int>(Tag::kWorkspace)], 500_KiB);
  EXPECT_EQ(stats.by_tag[static_cast<int>(Tag::kWorkspace)], 0);
  budget.reset_peak();
  EXPECT_EQ(budget.peak(), 1000_KiB);
}

TEST(BudgetTest, ReservationResizesInPlace) {
  Budget budget = make_budget(1_MiB);
  Reservation a = budget.reserve(100_KiB, Tag::kDataset);
  EXPECT_TRUE(a.try_resize(900_KiB));
  EXPECT_FALSE(a.try_resize(1025_KiB));
  EXPECT_EQ(budget.in_use(), 900_KiB);
  EXPECT_TRUE(a.try_resize(10));
  EXPECT_EQ(budget.in_use(), 64);
  EXPECT_EQ(budget.stats().count, 1);
  EXPECT_TRUE(budget.is_valid());
}

TEST(BudgetTest, ReservationOutlivesTheHandles) {
  Reservation kept;
  {
    Budget process({.name = "process"});
    Budget child(process, {.name = "child"});
    kept = child.reserve(1_MiB, Tag::kIo);
  }
  EXPECT_EQ(kept.nbytes(), 1_MiB);
}

TEST(BudgetTest, WaitsForAReleaseAndGivesUpInTime) {
  Budget budget = make_budget(1_MiB);
  Reservation a = budget.reserve(1_MiB, Tag::kIo);
  EXPECT_THROW(budget.reserve_for(64, Tag::kIo, std::chrono::milliseconds(20)),
               ResourceExhaustedError);
  EXPECT_THROW(budget.reserve_for(2_MiB, Tag::kIo, std::chrono::hours(1)), ResourceExhaustedError);
  std::thread waiter([&] {
    Reservation b = budget.reserve_for(512_KiB, Tag::kIo, std::chrono::seconds(60));
    EXPECT_EQ(b.nbytes(), 512_KiB);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  a.release();
  waiter.join();
  EXPECT_EQ(budget.in_use(), 0);
}

// Eight threads on a tree of three levels. A watcher never sees a limit passed; and since half the
// limit is always free for the one who asks for less, nothing that fits is refused.
TEST(BudgetTest, NeverPassesALimitUnderThreads) {
  Budget process({.name = "process", .limit = 8 * 1000_KiB + 500_KiB});
  Budget gpu(process, {.name = "GPU:0", .limit = 8 * 1000_KiB + 250_KiB});
  std::atomic<bool> stop{false};
  std::atomic<int> wrongly_refused{0};
  std::thread watcher([&] {
    while (!stop) {
      for (const Budget& b : {process, gpu}) {
        const BudgetStats s = b.stats();
        EXPECT_LE(s.in_use, s.limit);
        EXPECT_LE(s.peak, s.limit);
      }
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<Reservation> held;
      std::uint64_t own = 0;  // this thread keeps within 1000 KiB, so every request fits
      for (int i = 0; i < 20000; ++i) {
        const std::uint64_t n = (random() % 100 + 1) * 1024;
        while (own + n > 1000_KiB) {
          own -= held.back().nbytes();
          held.pop_back();
        }
        Reservation r = gpu.try_reserve(n, Owner(static_cast<Tag>(t)));
        if (!r) ++wrongly_refused;
        own += r.nbytes();
        held.push_back(std::move(r));
        gpu.try_reserve(9000_KiB, Tag::kIo);  // a request that never fits disturbs nobody
      }
    });
  }
  for (auto& thread : threads) thread.join();
  stop = true;
  watcher.join();
  EXPECT_EQ(wrongly_refused, 0);
  EXPECT_EQ(process.in_use(), 0);
  EXPECT_TRUE(process.is_valid());
}

}  // namespace
}  // namespace plimsoll::memory
