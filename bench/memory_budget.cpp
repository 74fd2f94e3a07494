// Eight threads on a tree of budgets without slack: no limit is ever passed, and nothing is refused
// that fits.
//
// process 8 shares > 2 devices of 4 shares > 4 logical devices of 2 shares; 2 threads on each
// logical device keep to a share each. So all that a thread asks for within its share fits at every
// level, to the byte, and anything counted twice, late or by a refused request shows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "memory_cases.h"
#include "memory_random.h"
#include "memory_stamps.h"
#include "plimsoll/bytes.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

using memory::Block;
using memory::Budget;
using memory::Heap;
using memory::Owner;
using memory::Reservation;
using memory::Tag;

constexpr std::uint64_t kShare = 64_MiB;
constexpr std::size_t kDevices = 2;
constexpr std::size_t kLogical = 4;
constexpr std::size_t kThreads = 8;

// A budget beside which the threads count for themselves what they hold.
struct Level {
  explicit Level(Budget of) : budget(std::move(of)) {}

  Budget budget;
  std::atomic<std::uint64_t> held{0};  // never above what is in use
};

struct Tree {
  Level process{Budget({.name = "process", .limit = 8 * kShare})};
  std::deque<Level> devices;
  std::deque<Level> logical;
  std::deque<Heap> heaps;  // one for each logical device

  Tree() {
    for (std::size_t i = 0; i < kDevices; ++i) {
      devices.emplace_back(
          Budget(process.budget, {.name = fmt::format("GPU:{}", i), .limit = 4 * kShare}));
    }
    for (std::size_t i = 0; i < kLogical; ++i) {
      const std::string name = fmt::format("logical:{}", i);
      logical.emplace_back(Budget(devices[i / 2].budget, {.name = name, .limit = 2 * kShare}));
      heaps.emplace_back(memory::make_host_source(), logical.back().budget,
                         memory::HeapOptions{.name = name});
    }
  }
  std::array<Level*, 3> path(std::size_t i) { return {&logical[i], &devices[i / 2], &process}; }
  std::vector<Level*> levels() {
    std::vector<Level*> result{&process};
    for (Level& level : devices) result.push_back(&level);
    for (Level& level : logical) result.push_back(&level);
    return result;
  }
};

struct Counts {
  std::atomic<std::uint64_t> granted{0};
  std::atomic<std::uint64_t> wrongly_refused{0};
  std::atomic<std::uint64_t> refused{0};  // rightly
  std::atomic<std::uint64_t> wrongly_granted{0};
  std::atomic<std::uint64_t> passed{0};          // times that a limit was seen passed
  std::atomic<std::uint64_t> lost{0};            // blocks that lost their contents
  std::atomic<std::uint64_t> looks{0};           // of the watcher
  std::atomic<std::uint64_t> max_overcommit{0};  // most bytes of pages above a limit
};

// Either a heap's block or a plain reservation.
struct Claim {
  Block block;
  Reservation reservation;
  std::uint64_t booked = 0;
};

class Worker {
 public:
  Worker(Tree& tree, std::size_t index, Counts& counts)
      : logical_(tree.logical[index / 2].budget),
        heap_(tree.heaps[index / 2]),
        path_(tree.path(index / 2)),
        counts_(counts),
        random_(index + 1),
        owner_(Tag::kActivations, fmt::format("worker_{}", index)) {}

  void run(const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      if (random_.one_in(16)) ask_for_too_much();
      const std::uint64_t room = kShare - held_;
      const std::uint64_t nbytes = pick_size(room);
      if (nbytes > 0) ask(nbytes);
      // Full shares are where it is tight: stay there.
      if (claims_.size() > 2000 || (room < 1_MiB && !claims_.empty()))
        drop(random_.below(claims_.size()));
    }
    while (!claims_.empty()) drop(claims_.size() - 1);
  }

 private:
  // A size that fits the thread's room, often all of it.
  std::uint64_t pick_size(std::uint64_t room) {
    if (room == 0 || random_.one_in(8)) return room;
    return std::min(room, random_.any_scale(6, 23));
  }

  void ask(std::uint64_t nbytes) {
    Claim claim;
    const bool is_plain = random_.one_in(3);
    if (is_plain) {
      claim.reservation = logical_.try_reserve(nbytes, owner_);
    } else {
      heap_.try_allocate(nbytes, owner_, &claim.block);
    }
    if (is_plain ? !claim.reservation : !claim.block.data()) {
      ++counts_.wrongly_refused;
      return;
    }
    ++counts_.granted;
    claim.booked = (nbytes + 63) / 64 * 64;
    held_ += claim.booked;
    for (Level* level : path_) {
      if (level->held.fetch_add(claim.booked) + claim.booked > level->budget.limit())
        ++counts_.passed;
    }
    if (!is_plain) write_stamps(claim.block.data(), nbytes, held_key(claim), kEndsOnly);
    claims_.push_back(std::move(claim));
  }

  void ask_for_too_much() {
    Block block;
    const bool ok = heap_.try_allocate(2 * kShare + random_.between(1, 2 * kShare), owner_, &block);
    ++(ok ? counts_.wrongly_granted : counts_.refused);
  }

  void drop(std::size_t i) {
    std::swap(claims_[i], claims_.back());
    Claim claim = std::move(claims_.back());
    claims_.pop_back();
    const Block& block = claim.block;
    if (block.data() && !has_stamps(block.data(), block.nbytes(), held_key(claim), kEndsOnly)) {
      ++counts_.lost;
    }
    for (Level* level : path_) level->held -= claim.booked;
    held_ -= claim.booked;
  }  // and now it is given back

  static std::uint64_t held_key(const Claim& claim) { return claim.block.address(); }

  Budget logical_;
  Heap& heap_;
  const std::array<Level*, 3> path_;
  Counts& counts_;
  Random random_;
  const Owner owner_;
  std::uint64_t held_ = 0;  // booked
  std::vector<Claim> claims_;
};

// Looks at every budget all the time.
void watch(Tree& tree, Counts& counts, const std::atomic<bool>& stop) {
  const std::vector<Level*> levels = tree.levels();
  while (!stop.load(std::memory_order_relaxed)) {
    for (const Level* level : levels) {
      const memory::BudgetStats stats = level->budget.stats();
      if (stats.in_use > stats.limit || stats.peak > stats.limit) ++counts.passed;
      if (stats.committed > stats.limit) {
        counts.max_overcommit =
            std::max(counts.max_overcommit.load(), stats.committed - stats.limit);
      }
    }
    ++counts.looks;
    std::this_thread::yield();
  }
}

}  // namespace

void run_budget(const MemoryOptions& options) {
  Tree tree;
  Counts counts;
  std::atomic<bool> stop = false;
  std::thread watcher([&] { watch(tree, counts, stop); });
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Worker(tree, i, counts).run(stop); });
  }
  const double start = now_seconds();
  while (now_seconds() - start < options.seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  watcher.join();
  const double seconds = now_seconds() - start;

  std::string peaks;
  for (const Level* level : tree.levels()) {
    verify(level->budget.in_use() == 0 && level->held == 0, "bytes are in use at the end");
    if (level->budget.peak() > level->budget.limit()) ++counts.passed;
    peaks += fmt::format("{}{:.1f}", peaks.empty() ? "" : ", ",
                         100.0 * static_cast<double>(level->budget.peak()) /
                             static_cast<double>(level->budget.limit()));
  }
  verify(tree.process.budget.is_valid(), "the tree of budgets is not valid at the end");
  for (const Heap& heap : tree.heaps) verify(heap.is_valid(), "a heap is not valid at the end");
  verify(counts.lost == 0, fmt::format("{} blocks lost their contents", counts.lost.load()));

  print(
      {.what = fmt::format("8 threads on one tree for {:.3g} s: times a limit was passed", seconds),
       .ours = static_cast<double>(counts.passed + counts.wrongly_granted),
       .bar = "0",
       .holds = counts.passed + counts.wrongly_granted == 0,
       .note = fmt::format("7 budgets on 3 levels, {} looks; peaks in % of their limits: {}; {} "
                           "impossible requests refused; pages at most {} above a limit",
                           counts.looks.load(), peaks, counts.refused.load(),
                           format_bytes(counts.max_overcommit))});
  print({.what = "8 threads on one tree: requests refused that would have fitted",
         .ours = static_cast<double>(counts.wrongly_refused),
         .bar = "0",
         .holds = counts.wrongly_refused == 0,
         .note = fmt::format("{} granted, {:.0f} a second", counts.granted.load(),
                             static_cast<double>(counts.granted) / seconds)});
}

}  // namespace plimsoll::bench
