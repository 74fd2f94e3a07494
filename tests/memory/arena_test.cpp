#include "plimsoll/memory/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "memory/process_memory.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/memory/heap.h"

namespace plimsoll::memory {
namespace {

class ArenaTest : public testing::Test {
 protected:
  SourcePtr source_ = make_host_source();
  Budget budget_{{.name = "CPU:0", .limit = 100_MiB}};
  const Owner owner_{Tag::kActivations, "step"};
};

TEST_F(ArenaTest, BooksOnAcquireAndGivesBackAtTheEnd) {
  {
    Arena arena(source_, budget_, 60_MiB + 1, owner_);
    EXPECT_EQ(budget_.in_use(), 0);
    EXPECT_FALSE(arena.acquire());
    EXPECT_EQ(budget_.in_use(), 60_MiB + 64);
    std::memset(arena.data(), 1, arena.nbytes());
    EXPECT_THROW(budget_.reserve(50_MiB, Tag::kIo), ResourceExhaustedError);
  }
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_EQ(budget_.committed(), 0);
}

TEST_F(ArenaTest, IdleArenaKeepsItsContents) {
  Arena arena(source_, budget_, 1_MiB, owner_);
  arena.acquire();
  static_cast<char*>(arena.data())[5] = 42;
  arena.rest();
  EXPECT_EQ(budget_.in_use(), 1_MiB);
  EXPECT_TRUE(arena.acquire());
  EXPECT_EQ(static_cast<char*>(arena.data())[5], 42);
}

TEST_F(ArenaTest, IdleArenaGoesFirstWhenSomebodyNeedsRoom) {
  Arena arena(source_, budget_, 60_MiB, owner_);
  arena.acquire();
  arena.rest();
  Reservation other = budget_.reserve(50_MiB, Tag::kIo);
  EXPECT_FALSE(arena.is_held());
  EXPECT_EQ(budget_.in_use(), 50_MiB);
  EXPECT_THROW(arena.acquire(), ResourceExhaustedError);
  EXPECT_EQ(budget_.in_use(), 50_MiB);
  other.release();
  EXPECT_FALSE(arena.acquire());
}

TEST_F(ArenaTest, ArenaInUseIsNotTaken) {
  Arena arena(source_, budget_, 60_MiB, owner_);
  arena.acquire();
  EXPECT_THROW(budget_.reserve(50_MiB, Tag::kIo), ResourceExhaustedError);
  EXPECT_TRUE(arena.is_held());
}

TEST_F(ArenaTest, IdleArenaDoesNotSaveARequestThatCannotFit) {
  Arena arena(source_, budget_, 60_MiB, owner_);
  arena.acquire();
  arena.rest();
  EXPECT_THROW(budget_.reserve(101_MiB, Tag::kIo), ResourceExhaustedError);
  EXPECT_TRUE(arena.is_held());  // nothing changed
}

TEST_F(ArenaTest, WarmPagesOfAHeapGoForAnArena) {
  Heap heap(source_, budget_, {});
  heap.allocate(80_MiB, Tag::kIo).release();
  Arena arena(source_, budget_, 60_MiB, owner_);
  arena.acquire();
  EXPECT_LE(budget_.committed(), 100_MiB);
}

TEST_F(ArenaTest, TrimLowersResidentMemory) {
  Arena arena(source_, budget_, 64_MiB, owner_);
  arena.acquire();
  const std::uint64_t before = resident_bytes();
  std::memset(arena.data(), 1, arena.nbytes());
  arena.rest();
  const std::uint64_t held = resident_bytes();
  arena.trim();
  if (kHasOwnMemory) {
    EXPECT_GE(held, before + 60_MiB);
    EXPECT_LE(resident_bytes(), before + 4_MiB);
  }
  EXPECT_EQ(budget_.in_use(), 0);
}

TEST_F(ArenaTest, FindsTheHighestByteWritten) {
  Arena arena(source_, budget_, 1_MiB, owner_);
  arena.acquire();
  arena.fill_pattern();
  EXPECT_EQ(arena.written_height(), 0);
  auto* bytes = static_cast<unsigned char*>(arena.data());
  for (const std::uint64_t height : {1ULL, 100ULL, 65536ULL, 1048576ULL}) {
    bytes[height - 1] = static_cast<unsigned char>(bytes[height - 1] + 1);
    EXPECT_EQ(arena.written_height(), height);
  }
}

TEST_F(ArenaTest, NoBytesIsAnArenaWithoutMemory) {
  Arena arena(source_, budget_, 0, owner_);
  arena.acquire();
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_THROW(Arena(source_, budget_, ~0ULL, owner_), InvalidArgumentError);
}

TEST_F(ArenaTest, FailedCommitChangesNothing) {
  auto plan = std::make_shared<FailPlan>();
  Arena arena(make_fail_after_source(source_, plan), budget_, 1_MiB, owner_);
  plan->calls_left = 0;
  EXPECT_THROW(arena.acquire(), ResourceExhaustedError);
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_EQ(budget_.committed(), 0);
  plan->calls_left = 10;
  arena.acquire();
  EXPECT_EQ(budget_.in_use(), 1_MiB);
}

// Two arenas that fit only one at a time, taken by two threads in turn.
TEST_F(ArenaTest, ThreadsTakeTurns) {
  std::atomic<int> runs{0};
  auto work = [&] {
    Arena arena(source_, budget_, 60_MiB, owner_);
    for (int i = 0; i < 2000; ++i) {
      try {
        arena.acquire();
        static_cast<char*>(arena.data())[i] = 1;
        arena.rest();
        ++runs;
      } catch (const ResourceExhaustedError&) {
      }
    }
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  EXPECT_GT(runs, 1000);
  EXPECT_LE(budget_.peak(), 100_MiB);
  EXPECT_EQ(budget_.in_use(), 0);
}

}  // namespace
}  // namespace plimsoll::memory
