// Small blocks of a heap: slots of slabs, and the pages under them; part of HeapImpl.
#include <algorithm>
#include <bit>

#include "memory/heap_impl.h"

namespace plimsoll::memory {

void HeapImpl::fill_small(Block* out, Slab* slab, std::uint16_t slot,
                          std::uint64_t nbytes) noexcept {
  out->heap_ = this;
  out->address_ = slab->slot_address(slot);
  out->nbytes_ = nbytes;
  out->place_ = slab;
  out->slot_ = slot;
  out->is_small_ = true;
}

// Booking and a slot in one critical section: what nearly every small request takes.
bool HeapImpl::try_small_fast(std::uint64_t nbytes, Owner owner, BudgetNode* node,
                              Block* out) noexcept {
  const std::uint64_t booked = round_up(nbytes, kGrain);
  std::uint16_t slot = 0;
  Slab* slab = nullptr;
  {
    std::scoped_lock lock(node->tree->mutex);
    if (owner.id() >= node->rows.size() || find_full_locked(node, booked)) return false;
    slab = slabs_.take(size_class(nbytes), &slot);
    if (!slab) return false;
    book_locked(node, booked, owner, Backing::kPages);
    live_bytes_ += booked;
    ++num_blocks_;
  }
  fill_small(out, slab, slot, nbytes);
  out->owner_ = owner;
  out->node_ = node;
  return true;
}

// pre: booked.
bool HeapImpl::place_small(std::uint64_t nbytes, Block* out, Failure* failure) noexcept {
  const int c = size_class(nbytes);
  bool force = false;
  while (true) {
    std::uint16_t slot = 0;
    Slab* slab = nullptr;
    {
      std::scoped_lock lock(tree_mutex());
      slab = slabs_.take(c, &slot);
      if (slab) count_block_locked(nbytes);
    }
    if (slab) {
      fill_small(out, slab, slot, nbytes);
      return true;
    }
    Excess excess;
    switch (revive_slab(c, force, &excess)) {
      case Revived::kDone:
        continue;
      case Revived::kExcess:
        force = memory::reclaim_pages(excess.node, excess.nbytes) == 0;
        continue;
      case Revived::kNone:
        break;
    }
    slab = make_slab(c, failure);
    if (!slab) return false;
    Slab* extra = nullptr;  // somebody else was faster
    {
      std::scoped_lock lock(tree_mutex());
      slab->touched_at = tick();
      extra = slabs_.keep(slab);
    }
    if (extra) drop_slab(extra);
  }
}

// Takes the pages of a slab with cold slots again. Both locks are held, so that no slot of it is
// taken or freed meanwhile; a slab has few pages, and on the host committing them is next to free.
HeapImpl::Revived HeapImpl::revive_slab(int class_index, bool force, Excess* excess) noexcept {
  std::scoped_lock lock(mutex_);
  std::scoped_lock tree_lock(tree_mutex());
  Slab* slab = slabs_.chilled(class_index);
  if (!slab) return Revived::kNone;
  const std::uint64_t nbytes =
      static_cast<std::uint64_t>(std::popcount(slab->cold_pages)) * source_->granularity();
  *excess = note_commit_locked(budget_.node(), nbytes, force);
  if (excess->node) return Revived::kExcess;
  if (!extents_.try_warm(slab->segment, slab->cold_pages)) {
    note_decommit_locked(budget_.node(), nbytes);
    return Revived::kNone;  // perhaps a slab elsewhere can be had
  }
  slabs_.warm_up(slab);
  peak_committed_ = std::max(peak_committed_, extents_.committed_bytes());
  return Revived::kDone;
}

Slab* HeapImpl::make_slab(int class_index, Failure* failure) noexcept {
  Segment* segment = take_segment(kSlabBytes, kSlabBytes, failure);
  if (!segment) return nullptr;
  std::unique_lock lock(mutex_);
  Slab* slab = slab_pool_.make(segment, class_index);
  if (slab) return slab;
  lock.unlock();
  give_segment(segment);
  *failure = Failure::kCommit;
  return nullptr;
}

// Gives a slab back that no list knows any more.
void HeapImpl::drop_slab(Slab* slab) noexcept {
  std::scoped_lock lock(mutex_);
  extents_.give(slab->segment, slab->touched_at);
  slab_pool_.drop(slab);
}

// Gives back pages of slabs on which nothing lives.
std::uint64_t HeapImpl::cool_slabs(std::uint64_t want, int min_age) noexcept {
  const std::uint64_t page = source_->granularity();
  if (source_->is_whole() || page > kSlabBytes / 2 || kSlabBytes / page > 16) return 0;
  std::uint64_t given = 0;
  for (int c = 0; c < kNumClasses; ++c) {
    std::uint64_t budget = 0;
    {
      std::scoped_lock lock(tree_mutex());
      budget = slabs_.num_fresh(c);
    }
    while (budget && given < want) {  // a slab at a time, so that nobody waits for long
      std::scoped_lock lock(mutex_);
      std::scoped_lock tree_lock(tree_mutex());
      Slab* slab = slabs_.next_to_cool(c, tick(), min_age, &budget);
      if (!slab) break;
      const std::uint16_t pages = slabs_.cool(slab, page);
      if (!pages) continue;
      const std::uint64_t nbytes = extents_.cool(slab->segment, pages);
      note_decommit_locked(budget_.node(), nbytes);
      given += nbytes;
    }
  }
  return given;
}

void HeapImpl::free_small(Block& block) noexcept {
  const std::uint64_t booked = round_up(block.nbytes_, kGrain);
  auto* slab = static_cast<Slab*>(block.place_);
  const std::uint8_t now = tick();
  Slab* extra = nullptr;
  {
    std::scoped_lock lock(tree_mutex());
    extra = slabs_.give(slab, block.slot_, now);
    const bool is_simple = !extra && has_warm_.load(std::memory_order_relaxed) && !is_orphan_ &&
                           block.node_ == budget_.node() && !budget_.node()->tree->num_waiters;
    if (is_simple) [[likely]] {
      unbook_locked(budget_.node(), booked, block.owner_, Backing::kPages);
      live_bytes_ -= booked;
      --num_blocks_;
      return;
    }
  }
  if (extra) drop_slab(extra);
  note_warm();
  forget_block(block);
}

}  // namespace plimsoll::memory
