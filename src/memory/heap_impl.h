// Inside of Heap: slabs and extents behind one face, and the giving back of pages.
#pragma once

#include <atomic>
#include <chrono>

#include "memory/budget_tree.h"
#include "memory/extents.h"
#include "memory/slabs.h"
#include "plimsoll/memory/heap.h"
#include "plimsoll/memory/trace.h"

namespace plimsoll::memory {

class HeapImpl final : public Reclaimer {
 public:
  HeapImpl(SourcePtr source, const Budget& budget, HeapOptions options);

  // scope: null, or a budget below the heap's to book on.
  bool try_allocate(std::uint64_t nbytes, Owner owner, std::uint64_t alignment, const Budget* scope,
                    Block* out, Refusal* why) noexcept;
  bool try_allocate_all(std::span<const Claim> claims, const Budget* scope, std::span<Block> out,
                        Refusal* why) noexcept;
  void free(Block& block) noexcept;

  // Gives back pages (and spare slabs) that have been warm for `min_age` ticks, about `want` bytes.
  // pre: the reclaim mutex of the tree is held, unless nobody else can see this heap.
  std::uint64_t purge(std::uint64_t want, int min_age) noexcept;
  std::uint64_t trim() noexcept;
  // For the purger: gives back what is old enough. false: nothing warm is left.
  bool purge_old() noexcept;

  BudgetNode* reclaim_node() const noexcept override { return budget_.node(); }
  std::uint64_t reclaim_pages(std::uint64_t nbytes) noexcept override {
    // A buffer that was taken up front would go as a whole.
    return options_.up_front && source_->is_whole() ? 0 : purge(nbytes, 0);
  }

  // See memory/block_part.h.
  static Block part_of(const Block& whole, std::uint64_t offset, std::uint64_t nbytes) noexcept;

  void orphan() noexcept;  // the Heap object is gone; goes itself with the last block
  HeapStats stats() const;
  bool is_valid() const noexcept;

  const Budget& budget() const noexcept { return budget_; }
  const HeapOptions& options() const noexcept { return options_; }
  const SourcePtr& source() const noexcept { return source_; }
  Mutex& mutex() noexcept override { return mutex_; }
  void forget_threads() noexcept override { has_warm_ = false; }  // the purger's, or one on its way

 private:
  ~HeapImpl() override;

  std::uint8_t tick() const noexcept;
  bool place(std::uint64_t nbytes, std::uint64_t alignment, Block* out, Failure* failure) noexcept;
  bool place_small(std::uint64_t nbytes, Block* out, Failure* failure) noexcept;
  bool try_small_fast(std::uint64_t nbytes, Owner owner, BudgetNode* node, Block* out) noexcept;
  enum class Revived : std::uint8_t { kNone, kDone, kExcess };
  Revived revive_slab(int class_index, bool force, Excess* excess) noexcept;
  Slab* make_slab(int class_index, Failure* failure) noexcept;
  void drop_slab(Slab* slab) noexcept;
  std::uint64_t cool_slabs(std::uint64_t want, int min_age) noexcept;
  Segment* take_segment(std::uint64_t nbytes, std::uint64_t alignment, Failure* failure) noexcept;
  void give_segment(Segment* segment) noexcept;
  void free_small(Block& block) noexcept;
  void forget_block(const Block& block) noexcept;
  void count_block_locked(std::uint64_t nbytes) noexcept;
  void fill_small(Block* out, Slab* slab, std::uint16_t slot, std::uint64_t nbytes) noexcept;
  void fill_failure(Failure failure, std::uint64_t asked, Owner owner, Refusal* why) noexcept;
  void note_warm() noexcept;
  void trace_allocate(Block& block) noexcept;
  Mutex& tree_mutex() const noexcept { return budget_.node()->tree->mutex; }
  void check_sometimes() noexcept;

  const SourcePtr source_;
  const Budget budget_;
  const HeapOptions options_;
  const int warm_ticks_;      // age at which pages are given back
  TraceWriter* const trace_;  // null: no trace is written
  std::uint32_t trace_heap_ = 0;

  // Guarded by the tree mutex.
  Slabs slabs_;
  std::uint64_t live_bytes_ = 0;  // booked
  std::uint64_t num_blocks_ = 0;
  bool is_orphan_ = false;

  mutable Mutex mutex_;  // guards what follows
  Extents extents_;
  MetaPool<Slab> slab_pool_;
  std::uint64_t peak_committed_ = 0;

  std::atomic<bool> has_warm_{false};      // the purger knows of this heap
  std::atomic<std::uint32_t> num_ops_{0};  // walker builds: a check every so often
};

}  // namespace plimsoll::memory
