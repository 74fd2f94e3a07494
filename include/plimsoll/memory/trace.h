// A trace of everything that was reserved, allocated and freed, in a compact file, and its replay
// on any allocator.
//
//   PLIMSOLL_TRACE=run.trace ./my_program       every heap and budget of the process writes to it
//   Trace trace = read_trace("run.trace");
//   replay(trace, my_allocator);                the same requests in the same order
//
// File: "PLTRACE1", then records of a kind byte and varints (7 bits a byte, low first):
//   0 name      owner, tag, length, characters        before the first use of an owner
//   1 heap      number, length, characters
//   2 allocate  microseconds since the last record, heap, owner, bytes    takes the next id, from 1
//   3 free      microseconds, next id - id
//   4 reserve   microseconds, owner, bytes            takes the next id
//   5 step      microseconds, number
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/memory/owner.h"

namespace plimsoll::memory {

struct TraceEvent {
  enum class Kind : std::uint8_t { kAllocate = 2, kFree = 3, kReserve = 4, kStep = 5 };

  Kind kind = Kind::kAllocate;
  std::uint64_t id = 0;       // of the allocation or reservation; the number of a step
  std::uint64_t nbytes = 0;   // allocate and reserve
  std::uint64_t time_us = 0;  // since the trace began
  std::uint32_t owner = 0;    // index into Trace::owners
  std::uint32_t heap = 0;     // index into Trace::heaps
};

struct Trace {
  struct Name {
    Tag tag = Tag::kActivations;
    std::string name;
  };
  std::vector<Name> owners;
  std::vector<std::string> heaps;
  std::vector<TraceEvent> events;
};

// throws: NotFoundError, DataLossError that names file and byte.
Trace read_trace(const std::string& path);

// Writes records; thread-safe. Never throws while recording: if the file cannot be written it says
// so once in the log and stops.
class TraceWriter {
 public:
  // throws: InvalidArgumentError if the file cannot be made.
  explicit TraceWriter(const std::string& path);
  ~TraceWriter();

  std::uint32_t add_heap(std::string_view name);
  std::uint64_t allocate(std::uint32_t heap, std::uint64_t nbytes, Owner owner) noexcept;  // an id
  std::uint64_t reserve(std::uint64_t nbytes, Owner owner) noexcept;                       // an id
  void free(std::uint64_t id) noexcept;
  void step(std::uint64_t number) noexcept;
  void flush() noexcept;

  // The trace that the setting PLIMSOLL_TRACE asks for; null if it is not set.
  static TraceWriter* process_trace();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a trace is replayed on.
class ReplayTarget {
 public:
  virtual ~ReplayTarget() = default;
  virtual bool allocate(std::uint64_t id, std::uint64_t nbytes, const Trace::Name& owner) = 0;
  virtual void free(std::uint64_t id) = 0;
  virtual std::uint64_t committed_bytes() const = 0;  // memory held now, used or not
};

struct ReplayResult {
  std::uint64_t num_events = 0;
  std::uint64_t num_refused = 0;  // allocations refused; their frees are left out
  std::uint64_t live_peak = 0;    // most bytes asked for and not freed at a time
  std::uint64_t committed_peak = 0;
};
// Stops at the first refusal if `stop_at_refusal`.
ReplayResult replay(const Trace& trace, ReplayTarget& target, bool stop_at_refusal = false);

class Heap;
std::unique_ptr<ReplayTarget> make_heap_target(Heap& heap);

}  // namespace plimsoll::memory
