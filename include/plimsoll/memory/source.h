// A Source gives raw pages of a device: reserve an address range, commit parts of it, give them
// back, release the range. It knows no blocks and no owners; that is the Heap's work.
//
//   auto host = make_host_source();
//   Address a = host->try_reserve(1_GiB);   // addresses only, no memory
//   host->try_commit(a, 64_KiB);            // from here on these pages may be touched
//   host->decommit(a, 64_KiB);              // the pages are the system's again, contents are lost
//   host->release(a, 1_GiB);
//
// Adaptors wrap a source and are sources themselves, so they compose:
// make_limit_source(make_trace_source(make_host_source(), sink), 1_GiB).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace plimsoll::memory {

using Address = std::uintptr_t;  // in the device's own address space; 0 is no address

// All calls are thread-safe. Addresses and sizes are multiples of granularity().
class Source {
 public:
  virtual ~Source() = default;

  virtual std::string name() const = 0;
  virtual std::uint64_t capacity() const noexcept = 0;     // bytes that can be committed at most
  virtual std::uint64_t granularity() const noexcept = 0;  // unit of commit and decommit
  // Unit that huge-page advice speaks of; 0 where the device has none.
  virtual std::uint64_t huge_granularity() const noexcept { return 0; }
  // How many addresses to reserve at a time: plenty, unless they are scarce (RLIMIT_AS).
  virtual std::uint64_t address_step() const noexcept { return std::uint64_t{64} << 30; }
  // Whether memory comes in buffers: what is committed or given back is always the whole of a
  // reservation, and no two of them are neighbours.
  virtual bool is_whole() const noexcept { return false; }
  // Bytes of a reservation at most.
  virtual std::uint64_t largest_reserve() const noexcept { return UINT64_MAX; }
  // Whether an Address is a pointer that the CPU can follow.
  virtual bool is_host() const noexcept { return true; }

  // Addresses without memory, aligned to the larger granularity; 0 if refused.
  virtual Address try_reserve(std::uint64_t nbytes) noexcept = 0;
  // false: refused, and nothing has changed.
  virtual bool try_commit(Address address, std::uint64_t nbytes) noexcept = 0;
  virtual void decommit(Address address, std::uint64_t nbytes) noexcept = 0;
  // pre: the range of a try_reserve, whole, with nothing committed in it.
  virtual void release(Address address, std::uint64_t nbytes) noexcept = 0;

  // Makes committed pages resident now rather than at the first touch. false: could not.
  virtual bool populate(Address, std::uint64_t) noexcept { return true; }
  // Asks for huge pages in a range (or for them no more). pre: multiples of huge_granularity().
  virtual void advise_huge(Address, std::uint64_t, bool) noexcept {}
};

using SourcePtr = std::shared_ptr<Source>;

struct HostOptions {
  bool huge_pages = true;  // 2 MiB pages for large ranges, where the system has them on request
  bool protect = false;  // commit by page protection instead of on demand: a commit can then fail.
                         // Always so where the system counts mappings rather than pages
                         // (strict overcommit, a limit on the data segment)
};
// The memory of this machine. Its granularity is the page (4 KiB as a rule).
SourcePtr make_host_source(HostOptions options = {});

struct SimOptions {
  std::string name = "sim";
  std::uint64_t capacity = 0;
  std::uint64_t granularity = 2U << 20;  // a power of two, at least the host's page
};
// A pretended device of any capacity and granularity over host memory.
// throws: InvalidArgumentError.
SourcePtr make_sim_source(SimOptions options);

// Refuses commits that would take `inner` past `limit` bytes.
SourcePtr make_limit_source(SourcePtr inner, std::uint64_t limit);

struct SourceStatistics {
  std::atomic<std::uint64_t> reserves{0}, commits{0}, decommits{0}, releases{0};  // calls
  std::atomic<std::uint64_t> refused{0};          // reserves and commits that failed
  std::atomic<std::uint64_t> reserved_bytes{0};   // addresses held now
  std::atomic<std::uint64_t> committed_bytes{0};  // pages held now
  std::atomic<std::uint64_t> peak_committed_bytes{0};
};
// Counts into `statistics`, which the caller keeps.
SourcePtr make_statistics_source(SourcePtr inner, std::shared_ptr<SourceStatistics> statistics);

enum class SourceCall : std::uint8_t { kReserve, kCommit, kDecommit, kRelease };
using SourceSink = std::function<void(SourceCall, Address, std::uint64_t nbytes, bool ok)>;
// Tells `sink` of each call after it was made. pre: sink is thread-safe and does not throw.
SourcePtr make_trace_source(SourcePtr inner, SourceSink sink);

// Lets `n` reserves and commits pass, then refuses `failures` of them, then lets all pass.
struct FailPlan {
  std::atomic<std::int64_t> calls_left{INT64_MAX};
  std::atomic<std::int64_t> failures{INT64_MAX};
  std::atomic<std::int64_t> calls_seen{0};
};
SourcePtr make_fail_after_source(SourcePtr inner, std::shared_ptr<FailPlan> plan);

}  // namespace plimsoll::memory
