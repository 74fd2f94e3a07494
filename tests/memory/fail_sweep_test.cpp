// A scenario in which every reserve and commit of the source fails once, in turn: each failure is a
// ResourceExhaustedError, all invariants hold, nothing is lost, and the same call works afterwards.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/memory/arena.h"
#include "plimsoll/memory/heap.h"

namespace plimsoll::memory {
namespace {

struct World {
  explicit World(SourcePtr source)
      : budget({.name = "CPU:0", .limit = 72_MiB}),
        heap(source, budget, {}),
        arena(source, budget, 8_MiB, {}) {}

  Budget budget;
  Heap heap;
  Arena arena;
  std::vector<Block> blocks;
};

// Steps that each leave the world as it was when they throw.
const std::vector<std::function<void(World&)>> kScenario = {
    [](World& w) { w.blocks.push_back(w.heap.allocate(100, Tag::kIo)); },
    [](World& w) { w.blocks.push_back(w.heap.allocate(5000, Tag::kIo)); },
    [](World& w) { w.blocks.push_back(w.heap.allocate(100000, Tag::kIo)); },
    [](World& w) { w.blocks.push_back(w.heap.allocate(20_MiB, Tag::kIo)); },
    [](World& w) { w.arena.acquire(); },
    [](World& w) { w.blocks.push_back(w.heap.allocate(3_MiB, Tag::kIo, 1_MiB)); },
    [](World& w) { w.blocks.erase(w.blocks.begin() + 2); },
    [](World& w) {
      const Claim claims[] = {
          {200, Tag::kIo}, {1_MiB, Tag::kIo}, {7000, Tag::kIo}, {4_MiB, Tag::kIo}};
      Block out[4];
      Refusal why;
      if (!w.heap.try_allocate_all(claims, out, &why)) throw ResourceExhaustedError(describe(why));
      for (Block& block : out) w.blocks.push_back(std::move(block));
    },
    [](World& w) {
      w.arena.rest();
      w.heap.trim();
    },
    [](World& w) { w.blocks.push_back(w.heap.allocate(30_MiB, Tag::kIo)); },
    [](World& w) { w.arena.acquire(); },
};

void sweep(const std::function<SourcePtr()>& make_source, std::int64_t failures) {
  for (std::int64_t fail_at = 0;; ++fail_at) {
    auto plan = std::make_shared<FailPlan>();
    plan->failures = 0;  // none while the world is made
    World world(make_fail_after_source(make_source(), plan));
    plan->calls_seen = 0;
    plan->calls_left = fail_at;
    plan->failures = failures;
    int num_errors = 0;
    for (std::size_t step = 0; step < kScenario.size(); ++step) {
      const std::uint64_t in_use = world.budget.in_use();
      const std::size_t num_blocks = world.blocks.size();
      try {
        kScenario[step](world);
      } catch (const ResourceExhaustedError& e) {
        ++num_errors;
        EXPECT_NE(std::string(e.what()).find("the limit has room, but"), std::string::npos)
            << e.what();
        EXPECT_EQ(world.budget.in_use(), in_use) << "step " << step;
        EXPECT_EQ(world.blocks.size(), num_blocks);
        plan->failures = 0;
        kScenario[step](world);  // the same call works when memory is there
      }
      ASSERT_TRUE(world.heap.is_valid()) << "step " << step << ", failure at call " << fail_at;
      ASSERT_TRUE(world.budget.is_valid());
      for (const Block& block : world.blocks) std::memset(block.data(), 1, block.nbytes());
    }
    std::uint64_t expected = world.arena.nbytes();
    for (const Block& block : world.blocks) expected += (block.nbytes() + 63) / 64 * 64;
    EXPECT_EQ(world.budget.in_use(), expected);
    world.blocks.clear();
    world.arena.trim();
    world.heap.trim();
    EXPECT_EQ(world.budget.in_use(), 0);
    EXPECT_EQ(world.budget.committed(), 0);
    if (plan->calls_seen <= fail_at) {
      EXPECT_GT(fail_at, 5);  // the scenario does call the source
      EXPECT_EQ(num_errors, 0);
      return;
    }
  }
}

TEST(FailSweepTest, HostFailsOnce) {
  sweep([] { return make_host_source(); }, 1);
}
TEST(FailSweepTest, HostFailsForGood) {
  sweep([] { return make_host_source(); }, INT64_MAX);
}
TEST(FailSweepTest, ProtectedHost) {
  sweep([] { return make_host_source({.protect = true}); }, INT64_MAX);
}
TEST(FailSweepTest, Sim) {
  sweep([] { return make_sim_source({.capacity = 1_GiB}); }, INT64_MAX);
}

}  // namespace
}  // namespace plimsoll::memory
