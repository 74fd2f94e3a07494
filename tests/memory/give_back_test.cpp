// P4 and P10 as the system sees them: resident memory falls when blocks are freed.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "memory/process_memory.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory/heap.h"

namespace plimsoll::memory {
namespace {

class GiveBackTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  Budget budget_{{.name = "CPU:0", .limit = 1_GiB}};
  Heap heap_{make_host_source(), budget_, {}};

  std::vector<Block> fill(std::uint64_t total) {
    std::vector<Block> blocks;
    blocks.reserve(total / GetParam());
    for (std::uint64_t n = 0; n < total; n += GetParam()) {
      blocks.push_back(heap_.allocate(GetParam(), Tag::kActivations));
      std::memset(blocks.back().data(), 1, GetParam());
    }
    return blocks;
  }
};
INSTANTIATE_TEST_SUITE_P(Sizes, GiveBackTest, testing::Values(1_KiB, 20_KiB, 1_MiB, 40_MiB));

TEST_P(GiveBackTest, FreedMemoryReturnsByItself) {
  const std::uint64_t before = resident_bytes();
  { std::vector<Block> blocks = fill(320_MiB); }
  // A second, as promised; polled, so that a busy machine does not decide the test.
  for (int i = 0; i < 100 && heap_.stats().committed_bytes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(heap_.stats().committed_bytes, 0);
  malloc_trim(0);  // what the vector of handles took
  if (kHasOwnMemory) {
    EXPECT_LE(resident_bytes(), before + 16_MiB);
  }
}

TEST_P(GiveBackTest, TrimReturnsAtOnce) {
  const std::uint64_t before = resident_bytes();
  { std::vector<Block> blocks = fill(320_MiB); }
  heap_.trim();
  malloc_trim(0);
  if (kHasOwnMemory) {
    EXPECT_LE(resident_bytes(), before + 2_MiB);
  }
}

TEST_P(GiveBackTest, HolesReturnWhileNeighboursLive) {
  std::vector<Block> blocks = fill(320_MiB);
  const std::uint64_t full = resident_bytes();
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].release();
  heap_.trim();
  if (GetParam() >= 20_KiB && kHasOwnMemory) {
    EXPECT_LE(resident_bytes(), full - 110_MiB);
  }
  for (std::size_t i = 1; i < blocks.size(); i += 2) {
    const auto* bytes = static_cast<const char*>(blocks[i].data());
    ASSERT_EQ(bytes[0], 1);
    ASSERT_EQ(bytes[GetParam() - 1], 1);
  }
}

// The heap's own books go back as well: no call of malloc_trim here.
TEST(ResidentTest, BooksOfManyBlocksGoBack) {
  Budget budget({.name = "CPU:0", .limit = 1_GiB});
  Heap heap(make_host_source(), budget, {});
  std::vector<Block> blocks;
  blocks.reserve(200000);
  const std::uint64_t before = resident_bytes();
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 200000; ++i) blocks.push_back(heap.allocate(i % 2 ? 2000 : 70, Tag::kIo));
    blocks.clear();
    heap.trim();
  }
  if (kHasOwnMemory) {
    EXPECT_LE(resident_bytes(), before + 200000 * sizeof(Block) + 2_MiB);
  }
}

// The process stays under its budget plus a small overhead, whatever the sizes (P10).
TEST(ResidentTest, StaysUnderTheBudget) {
  Budget budget({.name = "CPU:0", .limit = 256_MiB});
  Heap heap(make_host_source(), budget, {});
  const std::uint64_t before = resident_bytes();
  std::mt19937_64 random(9);
  std::vector<Block> blocks;
  std::uint64_t worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t n = 1 + random() % (1ULL << (10 + random() % 17));
    Block block;
    while (!heap.try_allocate(n, Tag::kActivations, &block)) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      blocks.pop_back();
    }
    std::memset(block.data(), 1, n);
    blocks.push_back(std::move(block));
    if (i % 50 == 0) worst = std::max(worst, resident_bytes());
  }
  if (kHasOwnMemory) {
    EXPECT_LE(worst, before + 256_MiB + 16_MiB);
  }
}

// Sanitizers cannot do this: ThreadSanitizer supports no threads in the child of a fork, and
// AddressSanitizer's malloc does not hold its own locks across fork().
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST(ForkTest, ChildOfABusyProcessWorks) {
  Budget budget({.name = "CPU:0", .limit = 1_GiB});
  Heap heap(make_host_source(), budget, {});
  std::vector<std::jthread> threads;  // which stop and join on every way out
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t](std::stop_token stop) {
      for (std::uint64_t n = 1; !stop.stop_requested(); n = n * 5 % 300007) {
        heap.allocate(n, Owner(Tag::kIo, "t" + std::to_string((n + t) % 50)));
        if (n % 97 == 0) heap.trim();
      }
    });
  }
  Block kept = heap.allocate(1_MiB, Tag::kIo);
  std::memset(kept.data(), 3, kept.nbytes());
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // a lock left behind would be waited for without end
      if (!heap.is_valid() || !budget.is_valid()) _exit(1);
      { Block block = heap.allocate(5_MiB, Owner(Tag::kIo, "child")); }
      kept.release();
      for (int k = 0; k < 1500 && heap.stats().warm_bytes; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      _exit(heap.stats().warm_bytes == 0 ? 0 : 2);  // the child has a purger of its own
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  threads.clear();
  EXPECT_EQ(static_cast<char*>(kept.data())[0], 3);
  kept.release();
  EXPECT_EQ(budget.in_use(), 0);
}
#endif

}  // namespace
}  // namespace plimsoll::memory
