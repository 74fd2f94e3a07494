#include "plimsoll/memory/source.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "memory/process_memory.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

struct Kind {
  const char* name;
  SourcePtr (*make)();
};
const Kind kKinds[] = {
    {"host", [] { return make_host_source(); }},
    {"small_pages", [] { return make_host_source({.huge_pages = false}); }},
    {"protect", [] { return make_host_source({.protect = true}); }},
    {"sim", [] { return make_sim_source({.capacity = 1_GiB, .granularity = 2_MiB}); }},
    {"sim_coarse", [] { return make_sim_source({.capacity = 1_GiB, .granularity = 32_MiB}); }},
    {"limited", [] { return make_limit_source(make_host_source(), 1_GiB); }},
};

// What every source has to do; a new backend adds a row above.
class SourceTest : public testing::TestWithParam<Kind> {
 protected:
  SourcePtr source_ = GetParam().make();
};
INSTANTIATE_TEST_SUITE_P(Kinds, SourceTest, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(SourceTest, ReservesAlignedAddressesWithoutMemory) {
  const std::uint64_t before = resident_bytes();
  const Address a = source_->try_reserve(64_GiB);
  ASSERT_NE(a, 0);
  EXPECT_EQ(a % source_->granularity(), 0);
  EXPECT_EQ(a % 2_MiB, 0);
  EXPECT_LT(resident_bytes(), before + 4_MiB);
  source_->release(a, 64_GiB);
}

TEST_P(SourceTest, DecommitLowersResidentMemoryAndLosesContents) {
  const std::uint64_t size = 256_MiB;
  const Address a = source_->try_reserve(size);
  ASSERT_TRUE(source_->try_commit(a, size));
  const std::uint64_t before = resident_bytes();
  std::memset(reinterpret_cast<void*>(a), 7, size);
  const std::uint64_t held = resident_bytes();
  source_->decommit(a, size / 2);
  if (kHasOwnMemory) {
    EXPECT_GE(held, before + size - 4_MiB);
    EXPECT_LE(resident_bytes(), before + size / 2 + 4_MiB);
  }
  EXPECT_EQ(reinterpret_cast<unsigned char*>(a)[size / 2], 7);
  ASSERT_TRUE(source_->try_commit(a, size / 2));
  EXPECT_EQ(reinterpret_cast<unsigned char*>(a)[100], 0);
  source_->decommit(a, size);
  source_->release(a, size);
}

TEST_P(SourceTest, RefusesAddressesThatDoNotExist) {
  EXPECT_EQ(source_->try_reserve(1ULL << 62), 0);
  EXPECT_EQ(source_->try_reserve(~0ULL), 0);
}

TEST(SimSourceTest, CommitsUpToItsCapacity) {
  SourcePtr sim = make_sim_source({.capacity = 5_MiB, .granularity = 2_MiB});
  EXPECT_EQ(sim->capacity(), 4_MiB);
  const Address a = sim->try_reserve(16_MiB);
  EXPECT_TRUE(sim->try_commit(a, 4_MiB));
  EXPECT_FALSE(sim->try_commit(a + 4_MiB, 2_MiB));
  sim->decommit(a, 2_MiB);
  EXPECT_TRUE(sim->try_commit(a + 4_MiB, 2_MiB));
  sim->decommit(a + 2_MiB, 4_MiB);
  sim->release(a, 16_MiB);
}

TEST(SimSourceTest, RejectsBadOptions) {
  EXPECT_THROW(make_sim_source({.capacity = 1_GiB, .granularity = 3000}), InvalidArgumentError);
  EXPECT_THROW(make_sim_source({.capacity = 1_GiB, .granularity = 64}), InvalidArgumentError);
  EXPECT_THROW(make_sim_source({.capacity = 10, .granularity = 2_MiB}), InvalidArgumentError);
}

TEST(HostSourceTest, ProtectedPagesCannotBeTouchedBeforeCommit) {
  SourcePtr host = make_host_source({.protect = true});
  const Address a = host->try_reserve(1_MiB);
  const pid_t child = fork();
  if (child == 0) {
    *reinterpret_cast<volatile char*>(a) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  host->release(a, 1_MiB);
}

TEST(AdaptorTest, StatisticsCountCallsAndBytes) {
  auto stats = std::make_shared<SourceStatistics>();
  SourcePtr source = make_statistics_source(make_limit_source(make_host_source(), 1_MiB), stats);
  const Address a = source->try_reserve(4_MiB);
  EXPECT_TRUE(source->try_commit(a, 1_MiB));
  EXPECT_FALSE(source->try_commit(a + 1_MiB, 4_KiB));
  source->decommit(a, 512_KiB);
  EXPECT_EQ(stats->committed_bytes, 512_KiB);
  EXPECT_EQ(stats->peak_committed_bytes, 1_MiB);
  EXPECT_EQ(stats->refused, 1);
  source->decommit(a + 512_KiB, 512_KiB);
  source->release(a, 4_MiB);
  EXPECT_EQ(stats->reserved_bytes, 0);
  EXPECT_EQ(stats->commits, 2);
  EXPECT_EQ(stats->decommits, 2);
}

TEST(AdaptorTest, TraceTellsOfEveryCall) {
  std::vector<SourceCall> calls;
  SourcePtr source = make_trace_source(
      make_host_source(),
      [&](SourceCall call, Address, std::uint64_t, bool) { calls.push_back(call); });
  const Address a = source->try_reserve(1_MiB);
  source->try_commit(a, 64_KiB);
  source->decommit(a, 64_KiB);
  source->release(a, 1_MiB);
  using enum SourceCall;
  EXPECT_EQ(calls, (std::vector{kReserve, kCommit, kDecommit, kRelease}));
}

TEST(AdaptorTest, FailsAfterNCalls) {
  auto plan = std::make_shared<FailPlan>();
  plan->calls_left = 2;
  plan->failures = 1;
  SourcePtr source = make_fail_after_source(make_host_source(), plan);
  const Address a = source->try_reserve(1_MiB);
  EXPECT_TRUE(source->try_commit(a, 64_KiB));
  EXPECT_FALSE(source->try_commit(a + 64_KiB, 64_KiB));
  EXPECT_TRUE(source->try_commit(a + 64_KiB, 64_KiB));
  EXPECT_EQ(plan->calls_seen, 4);
  source->decommit(a, 128_KiB);
  source->release(a, 1_MiB);
}

TEST(AdaptorTest, RejectsNull) {
  EXPECT_THROW(make_limit_source(nullptr, 1), InvalidArgumentError);
  EXPECT_THROW(make_trace_source(make_host_source(), nullptr), InvalidArgumentError);
  EXPECT_THROW(make_statistics_source(make_host_source(), nullptr), InvalidArgumentError);
  EXPECT_THROW(make_fail_after_source(make_host_source(), nullptr), InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll::memory
