// Small blocks come and go: the heap with its ledger against malloc as others make it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <cstdlib>
#include <functional>
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
using memory::Tag;

constexpr int kThreads = 4;
constexpr int kRounds = 11;
constexpr std::size_t kPairs = 200'000;  // a thread and round
constexpr std::size_t kWindow = 256;     // blocks that a thread keeps
constexpr std::size_t kPlan = 4096;      // steps until the sizes repeat; a power of two
constexpr std::size_t kOwners = 16;

struct Step {
  std::uint32_t nbytes;
  std::uint32_t slot;  // of the window: freed and filled anew
};

using Plan = std::vector<Step>;

// Sizes of 64 B to 8 KiB, or all of 256 B: what malloc implementations are fastest at.
Plan make_plan(std::uint64_t seed, bool is_mixed) {
  Random random(seed);
  Plan plan(kPlan);
  for (Step& step : plan) {
    step.nbytes = is_mixed ? static_cast<std::uint32_t>(random.any_scale(6, 13)) : 256;
    step.slot = static_cast<std::uint32_t>(random.below(kWindow));
  }
  return plan;
}

// malloc and free of one library.
struct Malloc {
  void* (*allocate_bytes)(std::size_t) = nullptr;
  void (*free_bytes)(void*) = nullptr;

  struct Held {
    void* at = nullptr;
    std::size_t nbytes = 0;
  };
  void allocate(std::size_t nbytes, std::size_t, Held& out) {
    out = {allocate_bytes(nbytes), nbytes};
  }
  void free(Held& held) { free_bytes(std::exchange(held.at, nullptr)); }
  static void* data(const Held& held) { return held.at; }
  static std::size_t nbytes(const Held& held) { return held.nbytes; }
};

// A heap at the bottom of process > device > logical device, all limited; owners with names.
class Ours {
 public:
  using Held = Block;

  Ours() {
    for (std::size_t i = 0; i < kOwners; ++i) {
      owners_[i] = Owner(Tag::kActivations, fmt::format("layer_{}/Relu", i));
    }
  }
  void allocate(std::size_t nbytes, std::size_t i, Block& out) {
    if (!heap_.try_allocate(nbytes, owners_[i % kOwners], &out)) std::abort();
  }
  void free(Block& held) { held.release(); }
  static void* data(const Block& held) { return held.data(); }
  static std::size_t nbytes(const Block& held) { return held.nbytes(); }

  bool is_settled() const {
    return process_.in_use() == 0 && process_.is_valid() && heap_.is_valid();
  }

 private:
  Budget process_{{.name = "process", .limit = 4_GiB}};
  Budget device_{process_, {.name = "GPU:0", .limit = 2_GiB}};
  Budget logical_{device_, {.name = "GPU:0/logical:0", .limit = 1_GiB}};
  Heap heap_{memory::make_host_source(), logical_, {}};
  Owner owners_[kOwners];
};

// One thread's pairs of free and allocate. With `check`, blocks are filled and read back.
template <class Allocator, bool check>
bool churn(Allocator& allocator, const Plan& plan, std::size_t num_pairs) {
  std::vector<typename Allocator::Held> window(kWindow);
  bool ok = true;
  const auto drop = [&](typename Allocator::Held& held, std::size_t slot) {
    if (!Allocator::data(held)) return;
    if (check) ok &= has_stamps(Allocator::data(held), Allocator::nbytes(held), slot, 64);
    allocator.free(held);
  };
  for (std::size_t i = 0; i < num_pairs; ++i) {
    const Step step = plan[i % kPlan];
    drop(window[step.slot], step.slot);
    allocator.allocate(step.nbytes, i, window[step.slot]);
    if (check) write_stamps(Allocator::data(window[step.slot]), step.nbytes, step.slot, 64);
  }
  for (std::size_t slot = 0; slot < kWindow; ++slot) drop(window[slot], slot);
  return ok;
}

// Wall time in ns for a pair, all threads together.
template <class Allocator>
double time_pairs(Allocator& allocator, const std::vector<Plan>& plans, std::size_t num_threads) {
  if (num_threads == 1) {
    const double start = now_seconds();
    churn<Allocator, false>(allocator, plans[0], kPairs);
    return (now_seconds() - start) * 1e9 / static_cast<double>(kPairs);
  }
  std::barrier ready(static_cast<std::ptrdiff_t>(num_threads + 1));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < num_threads; ++t) {
    threads.emplace_back([&, t] {
      ready.arrive_and_wait();
      churn<Allocator, false>(allocator, plans[t], kPairs);
    });
  }
  ready.arrive_and_wait();
  const double start = now_seconds();
  for (std::thread& thread : threads) thread.join();
  return (now_seconds() - start) * 1e9 / static_cast<double>(kPairs * num_threads);
}

template <class Allocator>
void verify_contents(Allocator& allocator, const std::vector<Plan>& plans, const char* name) {
  std::atomic<bool> ok = true;
  std::vector<std::thread> threads;
  for (const Plan& plan : plans) {
    threads.emplace_back([&] {
      if (!churn<Allocator, true>(allocator, plan, 4 * kPlan)) ok = false;
    });
  }
  for (std::thread& thread : threads) thread.join();
  verify(ok, fmt::format("small blocks of {} lost their contents", name));
}

// The three loads that are timed.
enum Load : std::size_t { kOneThread, kFourThreads, kOneThreadOneSize, kNumLoads };

struct Contender {
  std::string name;
  std::function<double(Load load)> time;
  std::array<std::vector<double>, kNumLoads> ns{};  // for a pair, by round
};

// From a library that is loaded beside the program's own malloc, not in its place.
Malloc load_malloc(const char* library, const char* allocate, const char* free) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    progress(fmt::format("{}: {}", library, dlerror()));
    return {};
  }
  return {std::bit_cast<void* (*)(std::size_t)>(dlsym(handle, allocate)),
          std::bit_cast<void (*)(void*)>(dlsym(handle, free))};
}

std::vector<double> divide(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

void print_against(const Contender& ours, const Contender& peer, Load load, bool has_bar) {
  constexpr const char* kWhat[] = {"one thread", "four threads", "one thread, all of 256 B"};
  const std::string note[] = {
      "a pair, 64 B to 8 KiB, 256 blocks kept; ledger on, budgets three deep; medians",
      fmt::format("wall time for a pair, all threads together, {} cores",
                  std::thread::hardware_concurrency()),
      "what malloc implementations are fastest at"};
  const double ratio = median(divide(ours.ns[load], peer.ns[load]));
  print({.what = fmt::format("small allocate + free, {}, against {}", kWhat[load], peer.name),
         .ours = median(ours.ns[load]),
         .peer = median(peer.ns[load]),
         .ratio = ratio,
         .unit = "ns",
         .bar = has_bar ? "<= 10" : "",
         .holds = has_bar ? std::optional(ratio <= 10) : std::nullopt,
         .note = note[load]});
}

}  // namespace

void run_small(const MemoryOptions&) {
  std::vector<Plan> plans;
  for (std::uint64_t t = 0; t < kThreads; ++t) plans.push_back(make_plan(t, true));
  const std::vector<Plan> one_size{make_plan(0, false)};
  const auto make_contender = [&](const char* name, auto& allocator) {
    verify_contents(allocator, plans, name);
    return Contender{name, [&](Load load) {
                       return load == kOneThreadOneSize
                                  ? time_pairs(allocator, one_size, 1)
                                  : time_pairs(allocator, plans, load == kOneThread ? 1 : kThreads);
                     }};
  };

  Ours ours;
  Malloc peers[] = {{std::malloc, std::free},
                    load_malloc("libjemalloc.so.2", "malloc", "free"),
                    load_malloc("libmimalloc.so.2", "mi_malloc", "mi_free")};
  const char* const names[] = {"glibc", "jemalloc", "mimalloc"};
  std::vector<Contender> all{make_contender("ours", ours)};
  for (std::size_t p = 0; p < std::size(peers); ++p) {
    if (peers[p].allocate_bytes && peers[p].free_bytes) {
      all.push_back(make_contender(names[p], peers[p]));
    } else {
      print({.what = fmt::format("small allocate + free against {}", names[p]),
             .note = fmt::format("no peer: {} is not installed", names[p])});
    }
  }
  progress(fmt::format("{} rounds, {} allocators in turn", kRounds, all.size()));
  for (int round = 0; round < kRounds; ++round) {
    for (const Load load : {kOneThread, kFourThreads, kOneThreadOneSize}) {
      for (Contender& c : all) c.ns[load].push_back(c.time(load));
    }
  }
  verify(ours.is_settled(), "the heap is not as it was before");

  for (const Load load : {kOneThread, kOneThreadOneSize, kFourThreads}) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      print_against(all[0], all[i], load, all[i].name == "glibc" && load != kFourThreads);
    }
  }
  const std::vector<double>& one = all[0].ns[kOneThread];
  const std::vector<double>& four = all[0].ns[kFourThreads];
  const double scaling = median(divide(one, four));
  print({.what = "small allocate + free: rate of four threads / rate of one",
         .ours = 1e3 / median(four),
         .peer = 1e3 / median(one),
         .ratio = scaling,
         .unit = "M/s",
         .bar = ">= 0.5",
         .holds = scaling >= 0.5,
         .note = "peer: ours on one thread"});
}

}  // namespace plimsoll::bench
