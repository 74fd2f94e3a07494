// Large blocks under 1 GiB after many small ones have come and gone.
#include <fmt/format.h>

#include <algorithm>

#include "memory_cases.h"
#include "memory_random.h"
#include "memory_stamps.h"
#include "plimsoll/bytes.h"
#include "region_allocator.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

using memory::ReplayTarget;
using memory::Tag;
using memory::Trace;

constexpr std::uint64_t kLimit = 1_GiB;
constexpr unsigned kHistories = 6;

std::uint64_t booked(std::uint64_t nbytes) {
  return (nbytes + 255) / 256 * 256;  // as the peer rounds; ours rounds up to 64
}

// Small tensors of 64 B to 2^scale bytes fill the limit twice and go in a random order; some stay.
// Then 3 x 300 MiB. Returns whether these could be held.
bool hold_large_after_small(ReplayTarget& target, unsigned scale) {
  const Trace::Name owner{Tag::kActivations, "small"};
  Random random(scale);
  std::uint64_t next_id = 1;
  std::uint64_t stays = 0;  // bytes
  for (int round = 0; round < 2; ++round) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> small;  // id, bytes
    for (std::uint64_t sum = stays; sum < 900_MiB;) {
      const std::uint64_t nbytes = random.any_scale(6, scale);
      if (!target.allocate(next_id, nbytes, owner)) return false;
      small.emplace_back(next_id++, nbytes);
      sum += booked(nbytes);
    }
    for (std::size_t i = small.size(); i > 1; --i) {
      std::swap(small[i - 1], small[random.below(i)]);
    }
    for (const auto& [id, nbytes] : small) {
      if (stays + booked(nbytes) < static_cast<std::uint64_t>(round + 1) * 45_MiB) {
        stays += booked(nbytes);
      } else {
        target.free(id);
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    if (!target.allocate(next_id++, 300_MiB, {Tag::kWeights, "large"})) return false;
  }
  return true;
}

// 1 MiB blocks fill the limit, every second goes, then 8 MiB and 400 MiB. Returns how many of the
// two could be had.
int allocate_between(ReplayTarget& target) {
  for (std::uint64_t id = 1; id <= kLimit / 1_MiB; ++id) {
    verify(target.allocate(id, 1_MiB, {Tag::kActivations, "full"}), "1 GiB does not hold 1 GiB");
  }
  for (std::uint64_t id = 1; id <= kLimit / 1_MiB; id += 2) target.free(id);
  if (!target.allocate(100'000, 8_MiB, {Tag::kWeights, "8 MiB"})) return 0;
  return target.allocate(100'001, 400_MiB, {Tag::kWeights, "400 MiB"}) ? 2 : 1;
}

struct TestHeap {
  memory::Budget budget{{.name = "CPU:0", .limit = kLimit}};
  memory::Heap heap{memory::make_host_source(), budget, {}};
  StampedHeap target{heap, kEveryPage};

  void finish() {
    verify(budget.peak() <= kLimit, "the limit was passed");
    target.free_all();
    verify(budget.in_use() == 0 && heap.is_valid(), "the heap is not valid at the end");
  }
};

double to_mib(std::uint64_t nbytes) {
  return static_cast<double>(nbytes) / (1 << 20);
}

}  // namespace

void run_history(const MemoryOptions&) {
  unsigned num_ours = 0;
  unsigned num_peer = 0;
  double committed_peak = 0;
  std::string peaks;
  for (unsigned scale = 12; scale < 12 + 2 * kHistories; scale += 2) {
    progress(fmt::format("tensors of 64 B to {}", format_bytes(std::uint64_t{1} << scale)));
    TestHeap ours;
    num_ours += hold_large_after_small(ours.target, scale);
    const double peak = to_mib(ours.heap.stats().peak_committed_bytes);
    committed_peak = std::max(committed_peak, peak);
    peaks += fmt::format("{}{:.0f}", peaks.empty() ? "" : ", ", peak);
    ours.finish();
    RegionAllocator peer(kLimit);
    num_peer += hold_large_after_small(peer, scale);
  }
  print({.what = "hold 3 x 300 MiB under 1 GiB after small tensors: histories",
         .ours = static_cast<double>(num_ours),
         .peer = static_cast<double>(num_peer),
         .bar = fmt::format("{} of {}", kHistories, kHistories),
         .holds = num_ours == kHistories,
         .note =
             "each fills the limit twice with tensors of 64 B to its own largest size (4 KiB to "
             "4 MiB), 90 MiB stay; peer: region allocator (model)"});
  print(
      {.what = "the same: most pages committed",
       .ours = committed_peak,
       .peer = to_mib(kLimit),
       .unit = "MiB",
       .note = fmt::format("peer: the limit; by history, smallest tensors first: {} MiB", peaks)});

  TestHeap ours;
  const int ours_between = allocate_between(ours.target);
  const double committed = to_mib(ours.heap.stats().committed_bytes);
  ours.finish();
  RegionAllocator peer(kLimit);
  print({.what = "1 GiB full of 1 MiB blocks, every second freed: 8 MiB, then 400 MiB",
         .ours = static_cast<double>(ours_between),
         .peer = static_cast<double>(allocate_between(peer)),
         .bar = "2 of 2",
         .holds = ours_between == 2,
         .note = fmt::format("all pages touched, contents kept; committed then {:.1f} MiB; peer: "
                             "region allocator (model)",
                             committed)});
}

}  // namespace plimsoll::bench
