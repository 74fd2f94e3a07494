// A request that cannot be met is refused at once, whatever else is going on.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "memory_cases.h"
#include "memory_random.h"
#include "memory_stamps.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

using memory::Block;
using memory::Budget;
using memory::Heap;
using memory::Owner;
using memory::Tag;

constexpr int kRefusals = 1000;

struct Device {
  Budget process{{.name = "process", .limit = 4_GiB}};
  Budget budget{process, {.name = "GPU:0", .limit = 2_GiB}};
  Heap heap{memory::make_host_source(), budget, {}};
};

struct Times {
  std::vector<double> us;
  int num_retaken = 0;
};

long num_preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// One refusal, as a user meets it: thrown, with its report. What the scheduler takes away from this
// thread in the middle of it says nothing of the heap; such a sample is taken again. Waiting for a
// lock counts.
void refuse_once(Heap& heap, std::uint64_t nbytes, Owner owner, Times* times) {
  while (true) {
    const long preemptions = num_preemptions();
    bool is_refused = false;
    const double start = now_seconds();
    try {
      const Block block = heap.allocate(nbytes, owner);
    } catch (const ResourceExhaustedError&) {
      is_refused = true;
    }
    const double us = (now_seconds() - start) * 1e6;
    verify(is_refused, fmt::format("{} were granted", format_bytes(nbytes)));
    if (num_preemptions() == preemptions) {
      times->us.push_back(us);
      return;
    }
    ++times->num_retaken;
  }
}

// Requests above the limit, above what is free, and above all reason, in turn.
Times refuse_many(Device& device, std::chrono::microseconds pause) {
  const Owner owner(Tag::kActivations, "impossible");
  Times times;
  for (int i = 0; i < kRefusals; ++i) {
    const std::uint64_t sizes[] = {2_GiB + 1, 2_GiB - 32_MiB, std::uint64_t{1} << 62};
    refuse_once(device.heap, sizes[i % 3], owner, &times);
    if (pause.count()) std::this_thread::sleep_for(pause);
  }
  return times;
}

void print_times(const std::string& when, Times times, const std::string& note) {
  const double worst = *std::max_element(times.us.begin(), times.us.end());
  print({.what = fmt::format("refusal of an impossible request, {}", when),
         .ours = worst,
         .unit = "us",
         .bar = "< 1000 us",
         .holds = worst < 1000,
         .note = fmt::format("worst of {}, median {:.1f} us; {} taken again because the scheduler "
                             "took the processor away{}",
                             kRefusals, median(times.us), times.num_retaken, note)});
}

// Leaves touched pages of 1 MiB blocks behind, all just freed.
void make_warm(Device& device, std::uint64_t nbytes) {
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < nbytes / 1_MiB; ++i) {
    blocks.push_back(device.heap.allocate(1_MiB, Tag::kActivations));
    write_stamps(blocks.back().data(), 1_MiB, i, kEveryPage);
  }
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    verify(has_stamps(blocks[i].data(), 1_MiB, i, kEveryPage), "contents were lost");
  }
}

void churn(Heap& heap, std::uint64_t seed, const std::atomic<bool>& stop) {
  Random random(seed);
  const Owner owner(Tag::kActivations, fmt::format("thread_{}", seed));
  std::vector<Block> blocks(64);
  while (!stop) {
    Block& block = blocks[random.below(blocks.size())];
    block.release();
    const std::uint64_t nbytes = random.any_scale(10, 22);
    if (!heap.try_allocate(nbytes, owner, &block)) std::abort();
    write_stamps(block.data(), nbytes, seed, kEndsOnly);
  }
}

}  // namespace

void run_refusal(const MemoryOptions&) {
  {
    Device device;
    const Block held = device.heap.allocate(64_MiB, Tag::kWeights);
    print_times("nothing else going on", refuse_many(device, {}), "");
  }
  for (const bool is_purging : {false, true}) {
    Device device;
    const Block held = device.heap.allocate(64_MiB, Tag::kWeights);
    make_warm(device, 1536_MiB);
    const std::uint64_t warm = device.heap.stats().warm_bytes;
    verify(warm >= 1536_MiB, "freed pages did not stay warm");
    Times times = refuse_many(device, std::chrono::microseconds(is_purging ? 600 : 0));
    const std::uint64_t left = device.heap.stats().warm_bytes;
    verify(!is_purging || left == 0, "warm pages were not given back meanwhile");
    print_times(is_purging ? "while 1.5 GiB of warm pages go back" : "1.5 GiB of warm pages around",
                std::move(times),
                fmt::format("; warm {} before, {} after", format_bytes(warm), format_bytes(left)));
  }
  {
    Device device;
    const Block held = device.heap.allocate(64_MiB, Tag::kWeights);
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (std::uint64_t t = 1; t <= 2; ++t) {
      threads.emplace_back([&, t] { churn(device.heap, t, stop); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Times times = refuse_many(device, std::chrono::microseconds(200));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    print_times("two threads allocating", std::move(times), "");
  }
}

}  // namespace plimsoll::bench
