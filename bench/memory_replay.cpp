// A training run's requests, replayed inside the most that it has alive at a time + 5 %.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "memory_cases.h"
#include "memory_stamps.h"
#include "plimsoll/bytes.h"
#include "region_allocator.h"
#include "rows.h"
#include "training_trace.h"

namespace plimsoll::bench {
namespace {

using memory::Budget;
using memory::Heap;
using memory::ReplayResult;
using memory::SourcePtr;
using memory::Trace;
using memory::TraceEvent;

struct Totals {
  std::uint64_t live_peak = 0;
  std::uint64_t smallest = UINT64_MAX;
  std::uint64_t largest = 0;
  std::uint64_t num_allocations = 0;
};

Totals count(const Trace& trace) {
  Totals totals;
  std::vector<std::uint64_t> sizes{0};  // by id
  std::uint64_t live = 0;
  for (const TraceEvent& event : trace.events) {
    if (event.kind == TraceEvent::Kind::kAllocate) {
      verify(event.id == sizes.size(), "ids of the trace do not count from 1");
      sizes.push_back(event.nbytes);
      live += event.nbytes;
      totals.live_peak = std::max(totals.live_peak, live);
      totals.smallest = std::min(totals.smallest, event.nbytes);
      totals.largest = std::max(totals.largest, event.nbytes);
      ++totals.num_allocations;
    } else if (event.kind == TraceEvent::Kind::kFree) {
      verify(event.id < sizes.size() && sizes[event.id], "the trace frees what it does not hold");
      live -= std::exchange(sizes[event.id], 0);
    }
  }
  return totals;
}

// The trace through a file and back, unchanged but for its times.
void verify_round_trip(const Trace& trace) {
  std::string path = (std::filesystem::temp_directory_path() / "bench_memory_XXXXXX").string();
  const int file = mkstemp(path.data());
  verify(file >= 0, "cannot make a temporary file");
  close(file);
  {
    memory::TraceWriter writer(path);
    const std::uint32_t heap = writer.add_heap(trace.heaps.front());
    std::vector<memory::Owner> owners;
    for (const Trace::Name& owner : trace.owners) owners.emplace_back(owner.tag, owner.name);
    for (const TraceEvent& event : trace.events) {
      if (event.kind == TraceEvent::Kind::kAllocate) {
        verify(writer.allocate(heap, event.nbytes, owners[event.owner]) == event.id, "other ids");
      } else if (event.kind == TraceEvent::Kind::kFree) {
        writer.free(event.id);
      } else {
        writer.step(event.id);
      }
    }
  }
  const Trace read = memory::read_trace(path);
  std::filesystem::remove(path);
  verify(read.events.size() == trace.events.size(), "the file has lost events");
  for (std::size_t i = 0; i < read.events.size(); ++i) {
    const TraceEvent& a = trace.events[i];
    const TraceEvent& b = read.events[i];
    bool same = a.kind == b.kind && a.id == b.id && a.nbytes == b.nbytes;
    if (same && a.kind == TraceEvent::Kind::kAllocate) {
      const Trace::Name& from = trace.owners[a.owner];
      const Trace::Name& to = read.owners[b.owner];
      same = from.tag == to.tag && from.name == to.name;
    }
    verify(same, fmt::format("event {} is another after writing and reading", i));
  }
}

struct HeapRun {
  ReplayResult result;
  std::uint64_t committed_peak = 0;  // as the source saw it
  double cpu_seconds = 0;            // of the replay
};

HeapRun replay_on_heap(const Trace& trace, SourcePtr source, std::uint64_t limit) {
  const auto statistics = std::make_shared<memory::SourceStatistics>();
  Budget process({.name = "process"});
  Budget device(process, {.name = "CPU:0", .limit = limit});
  Heap heap(make_statistics_source(std::move(source), statistics), device, {});
  HeapRun run;
  {
    StampedHeap target(heap, kEndsOnly);
    const double start = cpu_seconds();
    run.result = replay(trace, target);
    run.cpu_seconds = cpu_seconds() - start;
    verify(device.peak() <= limit, "the limit was passed");
    verify(heap.is_valid() && device.is_valid(), "the heap is not valid after the replay");
    target.free_all();
  }
  verify(device.in_use() == 0, "bytes are in use after all was freed");
  run.committed_peak = statistics->peak_committed_bytes;
  return run;
}

double to_mib(std::uint64_t nbytes) {
  return static_cast<double>(nbytes) / (1 << 20);
}

double over(std::uint64_t a, std::uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

using Splitting = RegionAllocator::Splitting;

// The smallest limit, in parts of the live peak and to 1 %, in which the region allocator
// completes.
double region_allocator_needs(const Trace& trace, std::uint64_t live_peak, Splitting splitting) {
  int percent = 99;
  for (int step = 128; step > 0; step /= 2) {
    const auto candidate = static_cast<std::uint64_t>(percent + step);
    RegionAllocator target(live_peak / 100 * candidate, splitting);
    if (replay(trace, target, true).num_refused) percent += step;
  }
  return (percent + 1) / 100.0;
}

}  // namespace

void run_replay(const MemoryOptions&) {
  const Trace trace = make_training_trace({});
  const Totals totals = count(trace);
  const std::uint64_t limit = totals.live_peak / 100 * 105;
  const std::string about =
      fmt::format("{} events, blocks of {} to {}, live peak {}, limit {}", trace.events.size(),
                  format_bytes(totals.smallest), format_bytes(totals.largest),
                  format_bytes(totals.live_peak), format_bytes(limit));
  progress(about);
  verify_round_trip(trace);

  progress("on a heap");
  const HeapRun ours = replay_on_heap(trace, memory::make_host_source(), limit);
  progress("on the region allocator");
  RegionAllocator limited(limit);
  const ReplayResult peer = replay(trace, limited);
  RegionAllocator unlimited(memory::kNoLimit);
  const ReplayResult free_peer = replay(trace, unlimited);
  verify(free_peer.num_refused == 0 && free_peer.live_peak == totals.live_peak,
         "the model of the region allocator is wrong");

  print({.what = "training trace in live peak + 5 %: requests refused",
         .ours = static_cast<double>(ours.result.num_refused),
         .peer = static_cast<double>(peer.num_refused),
         .unit = "",
         .bar = "0",
         .holds = ours.result.num_refused == 0 && ours.result.num_events == trace.events.size(),
         .note = fmt::format("{}; peer: region allocator (model), same limit", about)});
  const double ratio = over(ours.committed_peak, totals.live_peak);
  print({.what = "training trace: committed peak / live peak",
         .ours = ratio,
         .peer = over(free_peer.committed_peak, totals.live_peak),
         .bar = "<= 1.05",
         .holds = ratio <= 1.05 && ours.result.num_refused == 0,
         .note = "committed as the source saw it; peer: region allocator (model), no limit"});
  print({.what = "training trace: limit that was enough / live peak",
         .ours = over(limit, totals.live_peak),
         .peer = region_allocator_needs(trace, totals.live_peak, Splitting::kIfMuchIsLeft),
         .note = fmt::format(
             "ours: the limit above, not searched for; peer: region allocator (model), smallest to "
             "1 %; {} if it splits whatever is left over",
             region_allocator_needs(trace, totals.live_peak, Splitting::kAlways))});
  print({.what = "training trace: CPU time for an event",
         .ours = ours.cpu_seconds * 1e9 / static_cast<double>(ours.result.num_events),
         .unit = "ns",
         .note = "with the first and last page of every block touched and read back"});

  progress("on a heap of 2 MiB granules");
  const HeapRun sim = replay_on_heap(
      trace, memory::make_sim_source({.capacity = 2 * totals.live_peak, .granularity = 2_MiB}),
      limit);
  print({.what = "training trace on 2 MiB granules: committed peak",
         .ours = to_mib(sim.committed_peak),
         .peer = to_mib(limit),
         .unit = "MiB",
         .note = fmt::format("a simulated device; peer: the limit; {} requests refused",
                             sim.result.num_refused)});
}

}  // namespace plimsoll::bench
