#include "memory/heap_impl.h"

#include <time.h>

#include <bit>
#include <new>

#include "base/check.h"
#include "memory/block_part.h"
#include "memory/purger.h"

namespace plimsoll::memory {
namespace {

constexpr int kTickMs = 16;  // 254 ticks are 4 s: longer than anything stays warm

std::uint64_t coarse_ms() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000 +
         static_cast<std::uint64_t>(t.tv_nsec) / 1000000;
}

}  // namespace

HeapImpl::HeapImpl(SourcePtr source, const Budget& budget, HeapOptions options)
    : source_(std::move(source)),
      budget_(budget),
      options_(std::move(options)),
      warm_ticks_(static_cast<int>((options_.warm->count() + kTickMs - 1) / kTickMs)),
      trace_(TraceWriter::process_trace()),
      extents_(source_, budget_.node()) {
  if (trace_) trace_heap_ = trace_->add_heap(options_.name);
  if (options_.up_front) {
    const Failure failure = extents_.commit_up_front(budget_.limit(), tick());
    if (failure != Failure::kNone) {
      Refusal why;
      fill_failure(failure, budget_.limit(), Owner(Tag::kCache, options_.name), &why);
      throw_refusal(why,
                    fmt::format("OOM when taking the whole limit of {} up front", options_.name));
    }
    peak_committed_ = extents_.committed_bytes();
  }
  add_reclaimer(*budget_.node()->tree, this);
}

HeapImpl::~HeapImpl() {
  remove_reclaimer(*budget_.node()->tree, this);
  Purger::instance().remove(this);
  while (Slab* slab = slabs_.take_spare(tick(), 0)) drop_slab(slab);
}

std::uint8_t HeapImpl::tick() const noexcept {
  return static_cast<std::uint8_t>(kFirstTick + coarse_ms() / kTickMs % kNumTicks);
}

// pre: booked.
bool HeapImpl::place(std::uint64_t nbytes, std::uint64_t alignment, Block* out,
                     Failure* failure) noexcept {
  if (nbytes == 0) return true;
  if (nbytes <= kMaxSmall && alignment <= kGrain) return place_small(nbytes, out, failure);
  Segment* segment = take_segment(nbytes, alignment, failure);
  if (!segment) return false;
  {
    std::scoped_lock lock(tree_mutex());
    count_block_locked(nbytes);
  }
  out->heap_ = this;
  out->address_ = segment->address;
  out->nbytes_ = nbytes;
  out->place_ = segment;
  out->is_small_ = false;
  return true;
}

Segment* HeapImpl::take_segment(std::uint64_t nbytes, std::uint64_t alignment,
                                Failure* failure) noexcept {
  bool force = false;
  bool gave_all = false;
  bool looked_again = false;
  while (true) {
    Extents::Taken taken;
    {
      std::scoped_lock lock(mutex_);
      taken = extents_.take(nbytes, alignment, force);
      peak_committed_ = std::max(peak_committed_, extents_.committed_bytes());
    }
    check_sometimes();
    if (taken.block) return taken.block;
    *failure = taken.failure;
    if (taken.failure == Failure::kExcess) {
      // Warm pages go first. When there are none left the rest is rounding: the booking fits.
      if (memory::reclaim_pages(taken.excess.node, taken.excess.nbytes)) continue;
      force = extents_.may_exceed(taken.excess.nbytes);
      if (force) continue;
      *failure = Failure::kHoles;
      if (memory::reclaim_idle(taken.excess.node, taken.excess.nbytes)) continue;
      if (looked_again) return nullptr;
      looked_again = true;  // somebody else may just have given back what there was
      continue;
    }
    if (gave_all) return nullptr;
    memory::reclaim_pages(budget_.node(), kNoLimit);
    gave_all = true;
  }
}

void HeapImpl::give_segment(Segment* segment) noexcept {
  {
    std::scoped_lock lock(mutex_);
    extents_.give(segment, tick());
  }
  check_sometimes();
  note_warm();
}

bool HeapImpl::try_allocate(std::uint64_t nbytes, Owner owner, std::uint64_t alignment,
                            const Budget* scope, Block* out, Refusal* why) noexcept {
  BudgetNode* const node = scope ? scope->node() : budget_.node();
  *out = Block();
  if (nbytes == 0) return true;
  if (nbytes > kMaxSmall || alignment > kGrain || !try_small_fast(nbytes, owner, node, out)) {
    if (!try_book(node, nbytes, owner, Backing::kPages, why)) return false;
    Failure failure = Failure::kNone;
    if (!place(nbytes, alignment, out, &failure)) {
      unbook(node, round_up(nbytes, kGrain), owner, Backing::kPages);
      fill_failure(failure, nbytes, owner, why);
      return false;
    }
    out->owner_ = owner;
    out->node_ = node;
  }
  if (trace_) trace_allocate(*out);
  return true;
}

bool HeapImpl::try_allocate_all(std::span<const Claim> claims, const Budget* scope,
                                std::span<Block> out, Refusal* why) noexcept {
  PLIMSOLL_ASSERT(claims.size() == out.size());
  BudgetNode* const node = scope ? scope->node() : budget_.node();
  if (!try_book_all(node, claims, Backing::kPages, why)) return false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    out[i] = Block();
    Failure failure = Failure::kNone;
    const auto& [nbytes, owner] = claims[i];
    if (place(nbytes, kGrain, &out[i], &failure)) {
      out[i].owner_ = owner;
      out[i].node_ = node;
      if (nbytes == 0) unbook(node, 0, owner, Backing::kPages);
      continue;
    }
    for (std::size_t k = i; k < claims.size(); ++k) {
      unbook(node, round_up(claims[k].nbytes, kGrain), claims[k].owner, Backing::kPages);
    }
    for (std::size_t k = 0; k < i; ++k) out[k].release();
    fill_failure(failure, nbytes, owner, why);
    return false;
  }
  if (trace_) {
    for (Block& block : out) trace_allocate(block);
  }
  return true;
}

void HeapImpl::fill_failure(Failure failure, std::uint64_t asked, Owner owner,
                            Refusal* why) noexcept {
  if (!why) return;
  std::scoped_lock lock(tree_mutex());
  fill_refusal_locked(budget_.node(), asked, owner, why);
  why->why = failure == Failure::kAddresses ? Refusal::Why::kAddressSpace
             : failure == Failure::kHoles   ? Refusal::Why::kHoles
                                            : Refusal::Why::kSource;
}

// Nothing of this heap may be touched after the count of blocks has fallen: another thread may free
// the last one of an orphan.
void HeapImpl::free(Block& block) noexcept {
  if (trace_) trace_->free(block.trace_id_);
  if (block.is_small_) {
    free_small(block);
    return;
  }
  {
    std::scoped_lock lock(mutex_);
    extents_.give(static_cast<Segment*>(block.place_), tick());
  }
  check_sometimes();
  note_warm();
  forget_block(block);
}

// Undoes the booking and the count of a block whose memory is given back already.
void HeapImpl::forget_block(const Block& block) noexcept {
  const std::uint64_t booked = round_up(block.nbytes_, kGrain);
  std::shared_ptr<BudgetTree> waiting;
  bool is_last = false;
  // A scope's budget may end with its last block; the heap's own does not.
  const bool in_scope = block.node_ != budget_.node();
  if (in_scope) unbook(block.node_, booked, block.owner_, Backing::kPages);
  {
    std::scoped_lock lock(tree_mutex());
    if (!in_scope) unbook_locked(budget_.node(), booked, block.owner_, Backing::kPages);
    live_bytes_ -= booked;
    is_last = --num_blocks_ == 0 && is_orphan_;
    if (budget_.node()->tree->num_waiters) waiting = budget_.node()->tree;
  }
  if (waiting) wake_waiters(*waiting);
  if (is_last) delete this;
}

Block HeapImpl::part_of(const Block& whole, std::uint64_t offset, std::uint64_t nbytes) noexcept {
  PLIMSOLL_ASSERT(offset + nbytes <= whole.nbytes());
  Block part;
  part.address_ = whole.address_ + offset;
  part.nbytes_ = nbytes;
  part.owner_ = whole.owner_;
  return part;
}

Block part_of(const Block& whole, std::uint64_t offset, std::uint64_t nbytes) noexcept {
  return HeapImpl::part_of(whole, offset, nbytes);
}

std::uint64_t HeapImpl::purge(std::uint64_t want, int min_age) noexcept {
  std::uint64_t given = 0;
  const std::uint8_t now = tick();
  while (true) {
    Slab* slab = nullptr;
    {
      std::scoped_lock lock(tree_mutex());
      slab = slabs_.take_spare(now, min_age);
    }
    if (!slab) break;
    drop_slab(slab);  // warm since it became empty, so that one pass gives it back
  }
  std::unique_lock lock(mutex_);
  Extents::PurgeBatch batch;
  while (given < want && extents_.begin_purge(&batch, want - given, now, min_age)) {
    lock.unlock();
    for (std::size_t i = 0; i < batch.num_runs; ++i) {
      source_->decommit(batch.runs[i].address, batch.runs[i].nbytes);
    }
    lock.lock();
    extents_.end_purge(batch);
    given += batch.nbytes;
  }
  lock.unlock();
  if (given < want) given += cool_slabs(want - given, min_age);
  check_sometimes();
  return given;
}

std::uint64_t HeapImpl::trim() noexcept {
  if (options_.up_front) return 0;
  std::scoped_lock lock(budget_.node()->tree->reclaim_mutex);
  return purge(kNoLimit, 0);
}

bool HeapImpl::purge_old() noexcept {
  if (options_.up_front) return false;
  // From here on a free announces itself anew, so nothing that comes after this look is missed.
  has_warm_.store(false);
  {
    std::scoped_lock lock(budget_.node()->tree->reclaim_mutex);
    purge(kNoLimit, warm_ticks_);
  }
  bool is_warm = false;
  {
    std::scoped_lock lock(mutex_);
    is_warm = extents_.warm_bytes() > 0;
  }
  if (!is_warm) {
    std::scoped_lock lock(tree_mutex());
    is_warm = slabs_.has_work();
  }
  return is_warm && !has_warm_.exchange(true);
}

void HeapImpl::note_warm() noexcept {
  if (options_.up_front || has_warm_.load(std::memory_order_relaxed)) return;
  if (!has_warm_.exchange(true)) Purger::instance().add(this);
}

void HeapImpl::trace_allocate(Block& block) noexcept {
  block.trace_id_ = trace_->allocate(trace_heap_, block.nbytes_, block.owner_);
}

void HeapImpl::count_block_locked(std::uint64_t nbytes) noexcept {
  live_bytes_ += round_up(nbytes, kGrain);
  ++num_blocks_;
}

void HeapImpl::orphan() noexcept {
  bool is_last = false;
  {
    std::scoped_lock lock(tree_mutex());
    is_orphan_ = true;
    is_last = num_blocks_ == 0;
  }
  if (is_last) delete this;
}

HeapStats HeapImpl::stats() const {
  std::scoped_lock lock(mutex_);
  std::scoped_lock tree_lock(tree_mutex());
  return {.live_bytes = live_bytes_,
          .num_blocks = num_blocks_,
          .committed_bytes = extents_.committed_bytes(),
          .warm_bytes = extents_.warm_bytes(),
          .address_bytes = extents_.address_bytes(),
          .peak_committed_bytes = peak_committed_};
}

bool HeapImpl::is_valid() const noexcept {
  std::scoped_lock lock(mutex_);
  std::scoped_lock tree_lock(tree_mutex());
  return extents_.is_valid() && slabs_.is_valid();
}

void HeapImpl::check_sometimes() noexcept {
#ifdef PLIMSOLL_WALKERS
  if (num_ops_++ % 1024 == 0) PLIMSOLL_ASSERT_SLOW(is_valid());
#endif
}

}  // namespace plimsoll::memory
