// The dynamic allocator of a logical device.
//
//   Budget budget({.name = "GPU:0", .limit = 1_GiB});
//   Heap heap(make_host_source(), budget, {.name = "GPU:0"});
//   Block block = heap.allocate(300_MiB, Owner(Tag::kActivations, "conv2d_3"));   // or throws
//   float* x = static_cast<float*>(block.data());                                // freed with
//   `block`
//
// Small blocks (to 8 KiB) come from slabs of one size class each, larger ones from the best fitting
// hole. What is freed stays warm for about 250 ms, then its pages go back to the system; they go at
// once on trim(), and before any request would be refused or a limit be passed because of them.
// A request that fits no hole gets fresh addresses and the pages of holes are returned, so the
// whole limit is usable after any history: committed <= live + page rounding.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "plimsoll/memory/budget.h"
#include "plimsoll/memory/source.h"

namespace plimsoll::memory {

class HeapImpl;  // internal

// Memory from a heap; move-only, given back by its destructor. A block may outlive its Heap object.
class Block {
 public:
  Block() noexcept = default;
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block() { release(); }

  Address address() const noexcept { return address_; }  // 0 for a block of no bytes
  void* data() const noexcept { return reinterpret_cast<void*>(address_); }  // pre: host memory
  std::uint64_t nbytes() const noexcept { return nbytes_; }                  // as asked for
  Owner owner() const noexcept { return owner_; }
  void release() noexcept;
  // From now on it counts as another's. false: no memory for the books, and nothing has changed.
  bool try_change_owner(Owner owner) noexcept;

  // Memory of the host that somebody else has and keeps as long as this block lives. It is on no
  // budget; external_use() has it.
  static Block borrow(const void* data, std::uint64_t nbytes) noexcept;
  bool is_borrowed() const noexcept { return is_borrowed_; }

 private:
  friend class HeapImpl;
  HeapImpl* heap_ = nullptr;  // null: no memory behind it
  Address address_ = 0;
  std::uint64_t nbytes_ = 0;
  void* place_ = nullptr;       // internal: slab or segment
  BudgetNode* node_ = nullptr;  // internal: where it is booked
  std::uint64_t trace_id_ = 0;
  Owner owner_;
  std::uint16_t slot_ = 0;  // in a slab
  bool is_small_ = false;
  bool is_borrowed_ = false;
};

// What blocks of the process borrow now: not ours, and counted nowhere else.
struct ExternalUse {
  std::uint64_t nbytes = 0;
  std::uint64_t count = 0;
};
ExternalUse external_use() noexcept;

struct HeapStats {
  std::uint64_t live_bytes = 0;  // blocks, each rounded up to 64
  std::uint64_t num_blocks = 0;
  std::uint64_t committed_bytes = 0;  // pages held, warm ones included
  std::uint64_t warm_bytes = 0;       // pages that nobody uses: trim() gives them back
  std::uint64_t address_bytes = 0;    // reserved addresses
  std::uint64_t peak_committed_bytes = 0;
};

struct HeapOptions {
  std::string name;  // for messages: "GPU:0"
  bool up_front =
      false;  // commit the whole limit now and keep it (TensorFlow's way without growth)
  std::optional<std::chrono::milliseconds> warm;  // 0 to 3000; none: the setting warm_ms (250)
};

class Heap {
 public:
  // throws: InvalidArgumentError; ResourceExhaustedError if up_front and the limit is not to be
  // had.
  Heap(SourcePtr source, const Budget& budget, HeapOptions options);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // memory: books nbytes (rounded up to 64) for `owner` until the block is freed; contents are
  // undefined. No bytes give a block without memory.
  // throws: ResourceExhaustedError, and nothing has changed; InvalidArgumentError for an alignment
  // that is no power of two or is above 1 GiB, and for sizes above 2^63 - 64.
  Block allocate(std::uint64_t nbytes, Owner owner, std::uint64_t alignment = 64);
  // false: refused, and `why` says what refused it. With a `scope`, a budget below the heap's, it
  // is booked there, and so on the heap's own as well.
  bool try_allocate(std::uint64_t nbytes, Owner owner, Block* out, Refusal* why = nullptr,
                    std::uint64_t alignment = 64, const Budget* scope = nullptr) noexcept;
  // All claims or none; `out` is as long as `claims`.
  bool try_allocate_all(std::span<const Claim> claims, std::span<Block> out, Refusal* why = nullptr,
                        const Budget* scope = nullptr) noexcept;

  // Gives all pages back that no block touches. Returns the bytes.
  std::uint64_t trim() noexcept;

  HeapStats stats() const;
  Budget budget() const;
  const SourcePtr& source() const noexcept;
  bool is_valid() const noexcept;  // for walkers and tests: whether all structures agree

 private:
  HeapImpl* impl_;
};

}  // namespace plimsoll::memory
