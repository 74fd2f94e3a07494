#include "plimsoll/memory/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/memory/heap.h"

namespace plimsoll::memory {
namespace {

class TraceTest : public testing::Test {
 protected:
  TraceTest() {
    char name[] = "/tmp/plimsoll_trace_XXXXXX";
    close(mkstemp(name));
    path_ = name;
  }
  ~TraceTest() override { std::filesystem::remove(path_); }

  std::string read_bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write_bytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  void write_sample() const {
    TraceWriter writer(path_);
    const std::uint32_t heap = writer.add_heap("CPU:0");
    writer.step(1);
    const auto a = writer.allocate(heap, 300_MiB, Owner(Tag::kWeights, "dense_1/kernel"));
    const auto b = writer.reserve(5, Owner(Tag::kIo));
    writer.free(a);
    writer.free(b);
    writer.allocate(heap, 1, Owner(Tag::kWeights, "dense_1/kernel"));
  }

  std::string path_;
};

TEST_F(TraceTest, ReadsWhatWasWritten) {
  write_sample();
  const Trace trace = read_trace(path_);
  using enum TraceEvent::Kind;
  ASSERT_EQ(trace.events.size(), 6);
  EXPECT_EQ(trace.events[0].kind, kStep);
  EXPECT_EQ(trace.events[1].kind, kAllocate);
  EXPECT_EQ(trace.events[1].nbytes, 300_MiB);
  EXPECT_EQ(trace.owners[trace.events[1].owner].name, "dense_1/kernel");
  EXPECT_EQ(trace.owners[trace.events[1].owner].tag, Tag::kWeights);
  EXPECT_EQ(trace.heaps[trace.events[1].heap], "CPU:0");
  EXPECT_EQ(trace.events[2].kind, kReserve);
  EXPECT_EQ(trace.events[3].id, trace.events[1].id);
  EXPECT_EQ(trace.events[4].id, trace.events[2].id);
  EXPECT_EQ(trace.events[5].owner, trace.events[1].owner);
  EXPECT_LE(trace.events[1].time_us, trace.events[5].time_us);
}

TEST_F(TraceTest, IsCompact) {
  {
    TraceWriter writer(path_);
    const std::uint32_t heap = writer.add_heap("CPU:0");
    for (int i = 0; i < 100000; ++i) writer.free(writer.allocate(heap, 4096, Tag::kActivations));
  }
  EXPECT_LT(read_bytes().size(), 200000 * 6);
  EXPECT_EQ(read_trace(path_).events.size(), 200000);
}

TEST_F(TraceTest, BadFilesGiveDataLossOrEndEarly) {
  EXPECT_THROW(read_trace("/nonexistent/trace"), NotFoundError);
  write_bytes("not a trace");
  EXPECT_THROW(read_trace(path_), DataLossError);
  write_sample();
  const std::string good = read_bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_bytes(good.substr(0, size));
    try {
      EXPECT_LE(read_trace(path_).events.size(), 6);  // cut between two records
    } catch (const DataLossError&) {
    }
  }
  for (std::size_t at = 8; at < good.size(); ++at) {
    for (const char byte : {'\xFF', '\x7F', '\x06'}) {
      std::string bad = good;
      bad[at] = byte;
      write_bytes(bad);
      try {
        read_trace(path_);
      } catch (const DataLossError&) {
      }
    }
  }
}

TEST_F(TraceTest, ReplayRepeatsTheRequests) {
  write_sample();
  Budget budget({.name = "CPU:0", .limit = 1_GiB});
  Heap heap(make_host_source(), budget, {});
  {
    auto target = make_heap_target(heap);
    const ReplayResult result = replay(read_trace(path_), *target);
    EXPECT_EQ(result.num_refused, 0);
    EXPECT_EQ(result.live_peak, 300_MiB);
    EXPECT_GE(result.committed_peak, 300_MiB);
    EXPECT_EQ(budget.in_use(), 64);
  }
  Budget small({.name = "CPU:0", .limit = 1_MiB});
  Heap small_heap(make_host_source(), small, {});
  auto target = make_heap_target(small_heap);
  EXPECT_EQ(replay(read_trace(path_), *target).num_refused, 1);
  EXPECT_EQ(replay(read_trace(path_), *target, true).num_events, 2);
}

// What a fresh process does that finds PLIMSOLL_TRACE in its environment.
[[noreturn]] void allocate_and_exit() {
  {
    Budget budget({.name = "CPU:0"});
    Heap heap(make_host_source(), budget, {.name = "CPU:0"});
    Block a = heap.allocate(100, Owner(Tag::kDataset, "batch"));
    Reservation r = budget.reserve(64, Owner(Tag::kCache, "kernels"));
    const Claim claims[2] = {{10, Tag::kIo}, {1_MiB, Tag::kIo}};
    Block blocks[2];
    heap.try_allocate_all(claims, blocks);
  }
  std::exit(0);
}

TEST_F(TraceTest, TheEnvironmentTracesAProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";  // a process of its own
  setenv("PLIMSOLL_TRACE", path_.c_str(), 0);            // not again in that process
  EXPECT_EXIT(allocate_and_exit(), testing::ExitedWithCode(0), "");
  unsetenv("PLIMSOLL_TRACE");
  const Trace trace = read_trace(path_);
  EXPECT_EQ(trace.events.size(), 8);
  EXPECT_EQ(trace.owners[trace.events[0].owner].name, "batch");
}

TEST_F(TraceTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THROW(TraceWriter("/nonexistent/folder/trace"), InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll::memory
