#include "plimsoll/memory/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

// The promises are the same on pages of 4 KiB and on granules of 2 MiB.
struct Device {
  const char* name;
  std::uint64_t granule;
  SourcePtr (*make)();
};
const Device kDevices[] = {
    {"host", 4_KiB, [] { return make_host_source(); }},
    {"protected", 4_KiB, [] { return make_host_source({.protect = true}); }},
    {"sim64k", 64_KiB, [] { return make_sim_source({.capacity = 2_GiB, .granularity = 64_KiB}); }},
    {"sim2m", 2_MiB, [] { return make_sim_source({.capacity = 2_GiB, .granularity = 2_MiB}); }},
};

class HeapTest : public testing::TestWithParam<Device> {
 protected:
  explicit HeapTest(std::uint64_t limit = 1_GiB)
      : budget_({.name = "test", .limit = limit}), heap_(GetParam().make(), budget_, {}) {}

  void TearDown() override { EXPECT_TRUE(heap_.is_valid()); }
  Block allocate(std::uint64_t n) { return heap_.allocate(n, Tag::kActivations); }

  Budget budget_;
  Heap heap_;
};
INSTANTIATE_TEST_SUITE_P(Devices, HeapTest, testing::ValuesIn(kDevices),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(HeapTest, BlocksAreAlignedDistinctAndWritable) {
  std::vector<Block> blocks;
  for (const std::uint64_t n : {1, 63, 64, 65, 1000, 8192, 8193, 65535, 65536, 100000, 3000000}) {
    blocks.push_back(allocate(n));
    EXPECT_EQ(blocks.back().address() % 64, 0) << n;
    std::memset(blocks.back().data(), static_cast<int>(blocks.size()), n);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].data());
    EXPECT_EQ(std::count(bytes, bytes + blocks[i].nbytes(), i + 1),
              static_cast<long>(blocks[i].nbytes()));
  }
}

TEST_P(HeapTest, CountsToTheByte) {
  std::uint64_t expected = 0;
  std::vector<Block> blocks;
  for (std::uint64_t n : {1ULL, 100ULL, 5000ULL, 70000ULL, 5000001ULL}) {
    blocks.push_back(allocate(n));
    expected += (n + 63) / 64 * 64;
    EXPECT_EQ(budget_.in_use(), expected);
    EXPECT_EQ(heap_.stats().live_bytes, expected);
  }
  blocks.clear();
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_EQ(heap_.stats().num_blocks, 0);
}

TEST_P(HeapTest, ABlockMayChangeItsOwner) {
  Block small = heap_.allocate(100, Owner(Tag::kActivations, "made"));
  Block large = heap_.allocate(5000001, Owner(Tag::kActivations, "made"));
  const std::uint64_t in_use = budget_.in_use(), peak = budget_.peak();
  for (Block* block : {&small, &large}) {
    EXPECT_TRUE(block->try_change_owner(Owner(Tag::kWeights, "kept")));
    EXPECT_EQ(block->owner().tag(), Tag::kWeights);
  }
  EXPECT_EQ(budget_.in_use(), in_use);
  EXPECT_EQ(budget_.peak(), peak);
  const BudgetStats stats = budget_.stats();
  EXPECT_EQ(stats.by_tag[static_cast<std::size_t>(Tag::kWeights)], in_use);
  EXPECT_EQ(stats.by_tag[static_cast<std::size_t>(Tag::kActivations)], 0U);
  EXPECT_EQ(stats.count, 2U);
  small.release();
  large.release();
  EXPECT_EQ(budget_.in_use(), 0U);
}

TEST_P(HeapTest, ZeroBytesIsABlockWithoutMemory) {
  Block block = allocate(0);
  EXPECT_EQ(block.address(), 0);
  EXPECT_EQ(budget_.in_use(), 0);
  const Claim claims[] = {{0, Tag::kIo}, {10, Tag::kIo}};
  Block out[2];
  EXPECT_TRUE(heap_.try_allocate_all(claims, out));
  EXPECT_EQ(budget_.in_use(), 64);
  EXPECT_EQ(budget_.stats().count, 1);
}

TEST_P(HeapTest, RejectsBadAlignmentAndSize) {
  for (const std::uint64_t a : {0ULL, 3ULL, 96ULL, 1ULL << 31}) {
    EXPECT_THROW(heap_.allocate(10, Tag::kIo, a), InvalidArgumentError) << a;
    Block out;
    EXPECT_FALSE(heap_.try_allocate(10, Tag::kIo, &out, nullptr, a));
  }
  for (const std::uint64_t n : {~0ULL, 1ULL << 63, (1ULL << 63) - 1}) {
    EXPECT_THROW(allocate(n), InvalidArgumentError) << n;
  }
  EXPECT_THROW(allocate(1ULL << 62), ResourceExhaustedError);
  EXPECT_EQ(budget_.in_use(), 0);
}

TEST_P(HeapTest, HonoursAlignment) {
  std::vector<Block> blocks;
  for (std::uint64_t a = 1; a <= 64_MiB; a *= 4) {
    for (const std::uint64_t n : {10ULL, 5000ULL, 300000ULL}) {
      blocks.push_back(heap_.allocate(n, Tag::kIo, a));
      EXPECT_EQ(blocks.back().address() % std::max<std::uint64_t>(a, 64), 0);
    }
  }
}

TEST_P(HeapTest, RefusesOneByteOverTheLimitAndGoesOn) {
  Block all = allocate(1_GiB);
  Refusal why;
  Block out;
  EXPECT_FALSE(heap_.try_allocate(1, Tag::kIo, &out, &why));
  EXPECT_EQ(why.in_use, 1_GiB);
  EXPECT_THROW(allocate(1), ResourceExhaustedError);
  all.release();
  EXPECT_EQ(allocate(1_GiB).nbytes(), 1_GiB);
}

TEST_P(HeapTest, AllOrNone) {
  const Claim claims[] = {{100_MiB, Tag::kIo}, {1_KiB, Tag::kIo}, {1_GiB, Tag::kIo}};
  Block out[3];
  Refusal why;
  EXPECT_FALSE(heap_.try_allocate_all(claims, out, &why));
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_EQ(heap_.stats().num_blocks, 0);
  EXPECT_TRUE(heap_.try_allocate_all({claims, 2}, {out, 2}));
  EXPECT_EQ(budget_.in_use(), 100_MiB + 1_KiB);
}

// Large tensors after any history of small ones: the whole limit stays usable.
TEST_P(HeapTest, WholeLimitIsUsableAfterSmallTensors) {
  std::mt19937 random(11);
  std::vector<Block> kept;
  for (int round = 0; round < 3; ++round) {
    std::vector<Block> small;
    std::uint64_t sum = 0;
    while (sum < 900_MiB) {
      const std::uint64_t n = 1 + random() % (round == 1 ? 2_MiB : 200_KiB);
      small.push_back(allocate(n));
      sum += n + 64;
    }
    std::shuffle(small.begin(), small.end(), random);
    for (int i = 0; i < 100; ++i) {
      if (small.back().nbytes() < 100000) kept.push_back(std::move(small.back()));
      small.pop_back();
    }
    small.clear();
    std::vector<Block> large;
    for (int i = 0; i < 3; ++i) large.push_back(allocate(300_MiB));
    // What a small block pins is its granule: on 4 KiB pages next to nothing.
    EXPECT_LE(heap_.stats().committed_bytes, 1_GiB + GetParam().granule * (1 + kept.size()));
  }
}

TEST_P(HeapTest, WholeLimitIsUsableBetweenBlocks) {
  std::vector<Block> blocks;
  for (int i = 0; i < 1024; ++i) blocks.push_back(allocate(1_MiB));
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].release();
  Block a = allocate(8_MiB);
  Block b = allocate(400_MiB);
  std::memset(a.data(), 1, a.nbytes());
  EXPECT_EQ(budget_.in_use(), 512_MiB + 408_MiB);
  if (GetParam().granule <= 1_MiB) {  // with 2 MiB granules every one is touched by a living block
    EXPECT_LE(heap_.stats().committed_bytes, 1_GiB + GetParam().granule);
  }
}

// Committed memory is what lives, and at most two pages beside each hole.
TEST_P(HeapTest, CommittedIsLivePlusPageRounding) {
  std::mt19937 random(5);
  std::vector<Block> blocks;
  std::uint64_t sum = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t n = 9000 + random() % 400000;
    if (sum + n < 900_MiB) {
      blocks.push_back(allocate(n));
      sum += n;
    }
    if (random() % 3 == 0) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      sum -= blocks.back().nbytes();
      blocks.pop_back();
    }
  }
  heap_.trim();
  const HeapStats stats = heap_.stats();
  EXPECT_EQ(stats.warm_bytes, 0);
  EXPECT_LE(stats.committed_bytes, stats.live_bytes + 2 * GetParam().granule * stats.num_blocks);
  EXPECT_GE(stats.committed_bytes, stats.live_bytes);
}

// Of a slab in which a slot lives here and there, the pages between go back too.
TEST_P(HeapTest, ScatteredSmallBlocksPinOnlyTheirPages) {
  for (const std::uint64_t size : {64ULL, 1000ULL, 3000ULL, 8192ULL}) {
    std::vector<Block> blocks;
    while (blocks.size() < 64_MiB / size) blocks.push_back(allocate(size));
    std::vector<Block> kept;
    const std::size_t every = 65536 / size * 2;  // one in two slabs
    for (std::size_t i = 0; i < blocks.size(); i += every) {
      std::memset(blocks[i].data(), 7, size);
      kept.push_back(std::move(blocks[i]));
    }
    blocks.clear();
    heap_.trim();
    if (GetParam().granule == 4_KiB) {
      EXPECT_LE(heap_.stats().committed_bytes, kept.size() * 12_KiB) << size;
    }
    ASSERT_TRUE(heap_.is_valid());
    ASSERT_TRUE(budget_.is_valid());
    for (int round = 0; round < 2; ++round) {  // the slots on those pages are there again
      while (blocks.size() < 64_MiB / size) {
        blocks.push_back(allocate(size));
        std::memset(blocks.back().data(), 1, size);
      }
      ASSERT_TRUE(heap_.is_valid());
      blocks.clear();
    }
    for (const Block& block : kept) {
      const auto* bytes = static_cast<const char*>(block.data());
      ASSERT_EQ(std::count(bytes, bytes + size, 7), static_cast<long>(size));
    }
  }
}

TEST_P(HeapTest, TrimGivesEverythingBack) {
  for (const std::uint64_t n : {100ULL, 5000ULL, 100000ULL, 10000000ULL}) {
    std::vector<Block> blocks;
    for (int i = 0; i < 50; ++i) blocks.push_back(allocate(n));
    blocks.clear();
    EXPECT_GT(heap_.stats().committed_bytes, 0);
    heap_.trim();
    EXPECT_EQ(heap_.stats().committed_bytes, 0) << n;
    EXPECT_EQ(heap_.stats().address_bytes, 0);
    EXPECT_EQ(budget_.committed(), 0);
  }
}

TEST_P(HeapTest, WarmPagesGoByThemselves) {
  allocate(100_MiB).release();
  allocate(1_KiB).release();
  EXPECT_GT(heap_.stats().committed_bytes, 0);
  for (int i = 0; i < 100 && heap_.stats().committed_bytes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(heap_.stats().committed_bytes, 0);
}

TEST_P(HeapTest, WarmPagesOfOneHeapGoForAnother) {
  Budget other(budget_, {.name = "other"});
  Heap second(GetParam().make(), other, {});
  allocate(700_MiB).release();
  EXPECT_EQ(budget_.committed(), 700_MiB);
  Block block = second.allocate(800_MiB, Tag::kIo);
  EXPECT_LE(budget_.committed(), 1_GiB);
  Reservation plain = budget_.reserve(200_MiB, Tag::kIo);  // pages elsewhere: counted all the same
  EXPECT_LE(budget_.committed(), 824_MiB);
  EXPECT_TRUE(second.is_valid());
}

TEST_P(HeapTest, BlocksOutliveTheHeap) {
  Block a, b;
  {
    Heap heap(GetParam().make(), budget_, {});
    a = heap.allocate(100, Tag::kIo);
    b = heap.allocate(1000000, Tag::kIo);
  }
  std::memset(b.data(), 1, b.nbytes());
  a.release();
  EXPECT_EQ(budget_.in_use(), 1000000);
  b.release();
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_EQ(budget_.committed(), 0);
}

TEST_P(HeapTest, UpFrontTakesTheWholeLimitAndKeepsIt) {
  Budget own({.name = "GPU:0", .limit = 64_MiB});
  Heap heap(GetParam().make(), own, {.up_front = true});
  EXPECT_EQ(heap.stats().committed_bytes, 64_MiB);
  EXPECT_EQ(own.in_use(), 0);
  {
    std::vector<Block> blocks;
    for (int i = 0; i < 64; ++i) blocks.push_back(heap.allocate(1_MiB, Tag::kIo));
    for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].release();
    if (GetParam().granule <= 1_MiB) {
      Block large = heap.allocate(30_MiB, Tag::kIo);  // pages move, bytes do not
      EXPECT_LE(heap.stats().committed_bytes, 64_MiB + GetParam().granule);
    }
  }
  heap.trim();
  EXPECT_GE(heap.stats().committed_bytes, 62_MiB);
  EXPECT_TRUE(heap.is_valid());
  Budget unlimited({.name = "GPU:1"});
  EXPECT_THROW(Heap(GetParam().make(), unlimited, {.up_front = true}), InvalidArgumentError);
}

// Random requests of all sizes, checked for overlap and for the structures' validity.
TEST_P(HeapTest, RandomHistoryKeepsAllInvariants) {
  std::mt19937_64 random(3);
  std::vector<Block> blocks;
  for (int i = 0; i < 6000; ++i) {
    if (blocks.size() < 300 && random() % 2) {
      const std::uint64_t n = 1 + random() % (1ULL << (random() % 23));
      const std::uint64_t a = 1ULL << (random() % 8 ? 6 : random() % 20);
      Block block = heap_.allocate(n, Tag::kIo, a);
      const auto value = static_cast<unsigned char>(random());
      static_cast<unsigned char*>(block.data())[0] = value;
      static_cast<unsigned char*>(block.data())[n - 1] = value;
      blocks.push_back(std::move(block));
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const auto* bytes = static_cast<const unsigned char*>(blocks.back().data());
      EXPECT_EQ(bytes[0], bytes[blocks.back().nbytes() - 1]);
      blocks.pop_back();
    }
    if (i % 500 == 0) {
      if (i % 1000 == 0) heap_.trim();
      ASSERT_TRUE(heap_.is_valid()) << i;
      ASSERT_TRUE(budget_.is_valid()) << i;
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](auto& a, auto& b) { return a.address() < b.address(); });
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    EXPECT_LE(blocks[i - 1].address() + blocks[i - 1].nbytes(), blocks[i].address());
  }
}

TEST_P(HeapTest, ThreadsShareAHeap) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      std::mt19937_64 random(t);
      std::vector<Block> blocks;
      for (int i = 0; i < 3000; ++i) {
        if (blocks.size() < 50 && random() % 2) {
          const std::uint64_t n = 1 + random() % (1ULL << (random() % 22));
          blocks.push_back(allocate(n));
          std::memset(blocks.back().data(), static_cast<int>(t), std::min<std::uint64_t>(n, 4096));
        } else if (!blocks.empty()) {
          std::swap(blocks[random() % blocks.size()], blocks.back());
          EXPECT_EQ(*static_cast<unsigned char*>(blocks.back().data()), t);
          blocks.pop_back();
        }
        if (i % 1000 == 999) heap_.trim();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(budget_.in_use(), 0);
  EXPECT_TRUE(budget_.is_valid());
}

// What the heap says it holds is what it asked the source for, after any history.
TEST(HeapSourceTest, CommitsAndDecommitsMatch) {
  auto seen = std::make_shared<SourceStatistics>();
  Budget budget({.name = "CPU:0", .limit = 512_MiB});
  Heap heap(make_statistics_source(make_host_source(), seen), budget, {});
  std::mt19937_64 random(17);
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t n = 1 + random() % (1ULL << (6 + random() % 19));
    Block block;
    if (random() % 2 && heap.try_allocate(n, Tag::kIo, &block)) {
      blocks.push_back(std::move(block));
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      blocks.pop_back();
    }
    if (i % 1000) continue;
    heap.trim();  // so that nothing is given back between the two looks
    ASSERT_EQ(seen->committed_bytes, heap.stats().committed_bytes) << i;
  }
  blocks.clear();
  heap.trim();
  EXPECT_EQ(seen->committed_bytes, 0);
  EXPECT_EQ(seen->reserved_bytes, 0);
}

TEST(HeapNameTest, RefusalNamesDeviceAndOwner) {
  Budget budget({.name = "GPU:0", .limit = 1_MiB, .origin = "memory_limit of GPU:0"});
  Heap heap(make_host_source(), budget, {.name = "GPU:0"});
  try {
    heap.allocate(2_MiB, Owner(Tag::kActivations, "conv2d_3/Relu"));
    FAIL();
  } catch (const ResourceExhaustedError& e) {
    EXPECT_STREQ(
        e.what(),
        "OOM when allocating 2.0 MiB on GPU:0\n"
        "  2.0 MiB asked for activations 'conv2d_3/Relu'; limit 1.0 MiB (memory_limit of GPU:0)\n"
        "  in use 0 B; largest free 1.0 MiB");
  }
}

TEST(HeapOptionsTest, RejectsNonsense) {
  Budget budget({.name = "b"});
  EXPECT_THROW(Heap(nullptr, budget, {}), InvalidArgumentError);
  EXPECT_THROW(Heap(make_host_source(), budget, {.warm = std::chrono::milliseconds(-1)}),
               InvalidArgumentError);
  EXPECT_THROW(Heap(make_host_source(), budget, {.warm = std::chrono::hours(1)}),
               InvalidArgumentError);
}

// Pages of the host, of which 512 at a time may be huge, whatever the system says.
struct HugeSource final : Source {
  const SourcePtr host = make_host_source({.huge_pages = false});
  int num_melted = 0;  // times that huge pages were to be small again

  std::string name() const override { return "huge"; }
  std::uint64_t capacity() const noexcept override { return host->capacity(); }
  std::uint64_t granularity() const noexcept override { return host->granularity(); }
  std::uint64_t huge_granularity() const noexcept override { return 2_MiB; }
  Address try_reserve(std::uint64_t nbytes) noexcept override { return host->try_reserve(nbytes); }
  bool try_commit(Address at, std::uint64_t nbytes) noexcept override {
    return host->try_commit(at, nbytes);
  }
  void decommit(Address at, std::uint64_t nbytes) noexcept override { host->decommit(at, nbytes); }
  void release(Address at, std::uint64_t nbytes) noexcept override { host->release(at, nbytes); }
  void advise_huge(Address, std::uint64_t, bool on) noexcept override { num_melted += !on; }
};

TEST(HugePagesTest, SmallBlocksLeaveThoseOfFreedOnesWhole) {
  const auto source = std::make_shared<HugeSource>();
  const Budget budget({.name = "test", .limit = 1_GiB});
  Heap heap(source, budget, {});
  const auto allocate = [&](std::uint64_t n) { return heap.allocate(n, Tag::kDataset); };
  Block large[] = {allocate(9_MiB), allocate(9_MiB), allocate(9_MiB)};
  const Address place = large[1].address();
  large[1].release();
  std::vector<Block> small;
  for (int i = 0; i < 20; ++i) small.push_back(allocate(600_KiB));
  EXPECT_EQ(source->num_melted, 0);
  large[1] = allocate(9_MiB);
  EXPECT_EQ(large[1].address(), place);

  // Also where all is free and joined: they find the places that small ones had.
  for (Block& block : large) block.release();
  small.clear();
  for (int i = 0; i < 20; ++i) small.push_back(allocate(600_KiB));
  EXPECT_EQ(source->num_melted, 0);
  EXPECT_TRUE(heap.is_valid());
}

// Where there is no other place, they go there.
TEST(HugePagesTest, SmallBlocksTakeThemInTheEnd) {
  const auto source = std::make_shared<HugeSource>();
  const Budget budget({.name = "test", .limit = 8_MiB});
  Heap heap(source, budget, {});
  heap.allocate(8_MiB, Tag::kDataset).release();
  std::vector<Block> small;
  for (int i = 0; i < 13; ++i) small.push_back(heap.allocate(600_KiB, Tag::kDataset));
  EXPECT_LE(heap.stats().committed_bytes, 8_MiB);
  EXPECT_TRUE(heap.is_valid());
}

}  // namespace
}  // namespace plimsoll::memory
