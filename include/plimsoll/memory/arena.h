// One planned block: a budget's bytes and a source's pages for a plan whose peak is known.
//
//   Arena arena(source, budget, plan_height, Owner(Tag::kActivations, "train_step"));
//   arena.acquire();            // reserves and commits: the only place where a run can fail
//   ... run ...
//   arena.rest();               // idle: stays for the next run, goes first when somebody needs
//   room
#pragma once

#include <cstdint>
#include <memory>

#include "plimsoll/memory/budget.h"
#include "plimsoll/memory/heap.h"
#include "plimsoll/memory/source.h"

namespace plimsoll::memory {

// Thread-safe as far as giving an idle arena back goes; acquire, rest and use are for one thread at
// a time.
class Arena {
 public:
  // Only addresses are taken here.
  // throws: InvalidArgumentError, ResourceExhaustedError if there are none.
  Arena(SourcePtr source, const Budget& budget, std::uint64_t nbytes, Owner owner);
  // As a block of a heap, for heaps that have taken all memory already; booked on `scope`, a budget
  // below the heap's, if there is one. pre: the heap outlives it.
  Arena(Heap& heap, const Budget* scope, std::uint64_t nbytes, Owner owner);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // memory: books and commits nbytes under the owner; what is held already is kept, contents too.
  // Returns whether the contents of the last run are still there.
  // throws: ResourceExhaustedError, and nothing has changed.
  bool acquire();
  // Keeps the memory, but lets it go when another reservation needs it, on trim(), and in the end.
  void rest() noexcept;
  // Gives the memory back now. pre: not in use.
  void trim() noexcept;

  Address address() const noexcept;  // pre: acquired
  void* data() const noexcept { return reinterpret_cast<void*>(address()); }
  std::uint64_t nbytes() const noexcept;
  bool is_held() const noexcept;  // whether memory is booked, in use or idle

  // For proofs: fills the arena with a pattern (pre: acquired, host memory) and finds the end of
  // the highest byte that was written since.
  void fill_pattern() noexcept;
  static std::uint8_t pattern_at(std::uint64_t place) noexcept;  // a byte of it
  std::uint64_t written_height() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll::memory
