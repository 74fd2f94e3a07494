#include "memory/extents.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/check.h"

namespace plimsoll::memory {
namespace {

constexpr std::uint64_t kPageBlock = 64U << 10;  // blocks from here on own their pages alone
constexpr std::uint64_t kHostPage = 4096;

using State = Segment::State;

bool is_warm(std::uint8_t state) noexcept {
  return state >= kFirstTick;
}

}  // namespace

Extents::Extents(SourcePtr source, BudgetNode* node)
    : source_(std::move(source)),
      node_(node),
      granule_(source_->granularity()),
      is_whole_(source_->is_whole()),
      huge_(source_->huge_granularity()),
      page_unit_(std::min(granule_, kHostPage)) {}

Extents::~Extents() {
  PurgeBatch batch;
  while (begin_purge(&batch, kNoLimit, last_tick_, 0)) {
    for (std::size_t i = 0; i < batch.num_runs; ++i) {
      source_->decommit(batch.runs[i].address, batch.runs[i].nbytes);
    }
    end_purge(batch);
  }
  while (!regions_.empty()) drop_region(regions_.back().get());
}

Extents::Fit Extents::find_hole(std::uint64_t size, std::uint64_t alignment) const noexcept {
  constexpr int kTries = 8;  // holes of just the size that may happen to be aligned
  Segment* hole = holes_.find_at_least(size);
  for (int i = 0; i < kTries && hole; ++i, hole = holes_.find_after(hole)) {
    const Address start = round_up(hole->address, alignment);
    if (start + size <= hole->end()) return {hole, start};
  }
  hole = holes_.find_at_least(size + alignment);
  return hole ? Fit{hole, round_up(hole->address, alignment)} : Fit{};
}

// For a block smaller than a huge page: a place that has none, so that those of freed blocks stay
// whole for the next ones that large. Behind them all, where nothing is yet, if need be.
Extents::Fit Extents::find_small_pages(std::uint64_t size, std::uint64_t alignment) const noexcept {
  constexpr int kTries = 8, kMaxSteps = 64;
  const auto end_of_advised = [&](const Segment* hole, Address start) {  // 0: none is touched
    const Region& region = *hole->region;
    const std::uint64_t first = (start - region.base) / huge_;
    const std::uint64_t last = (start + size - 1 - region.base) / huge_;
    const std::uint8_t* const advised = region.advised.get();
    return advised[last]    ? region.base + (last + 1) * huge_
           : advised[first] ? region.base + (first + 1) * huge_
                            : Address{0};
  };
  Segment* hole = holes_.find_at_least(size);
  for (int i = 0; i < kTries && hole; ++i, hole = holes_.find_after(hole)) {
    const Address start = round_up(hole->address, alignment);
    if (start + size <= hole->end() && !end_of_advised(hole, start)) return {hole, start};
  }
  hole = holes_.find_largest();
  if (!hole) return {};
  Address start = round_up(hole->address, alignment);
  for (int i = 0; i < kMaxSteps && start + size <= hole->end(); ++i) {
    const Address next = end_of_advised(hole, start);
    if (!next) return {hole, start};
    start = round_up(next, alignment);
  }
  return {};
}

// Large blocks fill a buffer, small ones lie in those that are shared.
Extents::Fit Extents::find_buffer(std::uint64_t size, std::uint64_t alignment) const noexcept {
  for (Segment* hole = holes_.find_at_least(size); hole; hole = holes_.find_after(hole)) {
    const Address start = round_up(hole->address, alignment);
    if (start + size > hole->end()) continue;
    if (hole->region->is_up_front || hole->region->size == buffer_bytes(size)) return {hole, start};
  }
  return {};
}

Region* Extents::add_region(std::uint64_t nbytes) noexcept {
  const std::uint64_t unit = std::max({granule_, huge_, kPageBlock});
  if (nbytes > kNoLimit - unit) return nullptr;
  const std::uint64_t least = is_whole_ ? buffer_bytes(nbytes) : round_up(nbytes, unit);
  auto region = std::unique_ptr<Region>(new (std::nothrow) Region);
  if (!region) return nullptr;
  const std::uint64_t most = is_whole_ ? 0 : round_up(source_->address_step(), unit);
  for (std::uint64_t size = std::max(least, most);;) {
    region->granule = is_whole_ ? size : granule_;
    region->base = source_->try_reserve(size);
    if (region->base) {
      region->size = size;
      if (region->states.try_make(size / region->granule) &&
          (!huge_ || region->advised.try_make(size / huge_)))
        break;
      source_->release(region->base, size);
    }
    if (size == least) return nullptr;
    size = std::max(least, round_up(size / 8, unit));
  }
  Segment* hole = segments_.make();
  if (!hole) {
    source_->release(region->base, region->size);
    return nullptr;
  }
  region->high = region->base;
  region->huge = huge_;
  hole->address = region->base;
  hole->size = region->size;
  hole->region = region.get();
  region->first = hole;
  try {
    regions_.push_back(std::move(region));
  } catch (const std::bad_alloc&) {
    source_->release(hole->address, hole->size);
    segments_.drop(hole);
    return nullptr;
  }
  holes_.insert(hole);
  return regions_.back().get();
}

void Extents::drop_region(Region* region) noexcept {
  Segment* hole = region->first;
  PLIMSOLL_ASSERT(hole->state == State::kHole && !hole->next && hole->warm_bytes == 0);
  holes_.erase(hole);
  segments_.drop(hole);
  source_->release(region->base, region->size);
  std::erase_if(regions_, [&](const auto& r) { return r.get() == region; });
}

// An advised granule is whole: inside one block or inside one hole. Before a block takes a part of
// one, its pages are given back whole, for the system frees no half huge pages.
void Extents::melt_huge_edges(Segment* hole, Address begin, Address end) noexcept {
  if (!huge_) return;
  Region& region = *hole->region;
  for (const Address edge : {begin, end}) {
    if (edge % huge_ == 0) continue;
    const Address start = round_down(edge, huge_);
    std::uint8_t& advised = region.advised.get()[(start - region.base) / huge_];
    if (!advised) continue;
    std::uint64_t melted = 0;
    const std::uint64_t last = region.index(start + huge_);
    for (std::uint64_t g = region.index(start); g < last;) {
      std::uint64_t run = g;
      while (run < last && is_warm(region.state(run))) region.state(run++) = kCold;
      if (run > g) source_->decommit(region.address_of(g), (run - g) * region.granule);
      melted += (run - g) * region.granule;
      g = std::max(run, g + 1);
    }
    source_->advise_huge(start, huge_, false);
    advised = 0;
    hole->warm_bytes -= melted;
    warm_ -= melted;
    committed_ -= melted;
    if (melted) note_decommit(node_, melted);
    if (hole->warm_bytes == 0 && is_in_warm_list(hole)) unlink_warm(hole);
  }
}

void Extents::undo_commit(Region& region, std::uint64_t from, std::uint64_t to) noexcept {
  for (std::uint64_t g = from; g < to; ++g) {
    if (region.state(g) == kCold) source_->decommit(region.address_of(g), region.granule);
  }
}

// Commits the cold granules that [begin, end) touches; their states are left as they are.
Extents::Taken Extents::commit_pages(Region& region, Address begin, Address end,
                                     bool force) noexcept {
  const std::uint64_t first = region.index(begin);
  const std::uint64_t last = region.index_up(end);
  const auto cold = static_cast<std::uint64_t>(
      std::count(region.states.get() + first, region.states.get() + last, kCold));
  if (cold == 0) return {};
  if (const Excess excess = note_commit(node_, cold * region.granule, force); excess.node) {
    return {.failure = Failure::kExcess, .excess = excess};
  }
  for (std::uint64_t g = first; g < last;) {
    std::uint64_t run = g;
    while (run < last && region.state(run) == kCold) ++run;
    if (run == g) {
      ++g;
      continue;
    }
    if (!source_->try_commit(region.address_of(g), (run - g) * region.granule)) {
      undo_commit(region, first, g);
      note_decommit(node_, cold * region.granule);
      return {.failure = Failure::kCommit};
    }
    g = run;
  }
  committed_ += cold * region.granule;
  return {};
}

// Makes `block` (address and size set) out of `hole`, which keeps what is before it; what is behind
// it becomes `rest`. Of hole and rest, the empty ones are deleted.
void Extents::cut(Segment* hole, Segment* block, Segment* rest) noexcept {
  holes_.erase(hole);
  mark_live(hole, block);
  Region& region = *hole->region;
  block->region = rest->region = &region;
  block->state = State::kBlock;

  rest->address = block->end();
  rest->size = hole->end() - rest->address;
  hole->size = block->address - hole->address;
  block->prev = hole;
  block->next = rest;
  rest->prev = block;
  rest->next = hole->next;
  if (rest->next) rest->next->prev = rest;
  hole->next = block;

  // Warm pages before the block are few (an alignment gap): count those; the others are behind it.
  std::uint64_t before = 0;
  for (std::uint64_t g = region.index_up(hole->address);
       hole->warm_bytes && region.address_of(g + 1) <= hole->end(); ++g) {
    if (is_warm(region.state(g))) before += region.granule;
  }
  rest->warm_bytes = hole->warm_bytes - before;
  rest->oldest = hole->oldest;
  if (rest->warm_bytes) link_warm(rest, hole);
  hole->warm_bytes = before;
  if (before == 0 && is_in_warm_list(hole)) unlink_warm(hole);

  if (rest->size) {
    holes_.insert(rest);
  } else {
    block->next = rest->next;
    if (block->next) block->next->prev = block;
    segments_.drop(rest);
  }
  if (hole->size) {
    holes_.insert(hole);
  } else {
    block->prev = hole->prev;
    (block->prev ? block->prev->next : region.first) = block;
    segments_.drop(hole);
  }
}

void Extents::mark_live(Segment* hole, const Segment* block) noexcept {
  Region& region = *hole->region;
  std::uint8_t* const first = region.states.get() + region.index(block->address);
  std::uint8_t* const last = region.states.get() + region.index_up(block->end());
  const auto warm =
      static_cast<std::uint64_t>(std::count_if(first, last, is_warm)) * region.granule;
  std::memset(first, kLive, static_cast<std::size_t>(last - first));
  region.high = std::max(region.high, region.address_of(region.index_up(block->end())));
  hole->warm_bytes -= warm;
  warm_ -= warm;
}

void Extents::advise_huge(const Segment* block) noexcept {
  if (!huge_ || block->size < huge_) return;
  Region& region = *block->region;
  const std::uint64_t first = (block->address - region.base + huge_ - 1) / huge_;
  const std::uint64_t last = (block->end() - region.base) / huge_;
  std::uint8_t* const advised = region.advised.get();
  for (std::uint64_t h = first; h < last;) {
    std::uint64_t run = h;
    while (run < last && !advised[run]) advised[run++] = 1;
    if (run > h) source_->advise_huge(region.base + h * huge_, (run - h) * huge_, true);
    h = run == h ? h + 1 : run;
  }
}

Extents::Taken Extents::take(std::uint64_t nbytes, std::uint64_t alignment, bool force) noexcept {
  std::uint64_t size = round_up(nbytes, kGrain);
  alignment = std::max(alignment, kGrain);
  if (nbytes >= kPageBlock) {
    size = round_up(size, page_unit_);
    alignment = std::max(alignment, page_unit_);
  }
  if (is_whole_ && size > kSharedBytes) size = buffer_bytes(size);
  if (huge_ && nbytes >= huge_) alignment = std::max(alignment, huge_);
  if (alignment > kNoLimit - size) return {.failure = Failure::kAddresses};

  Fit fit;
  if (size < huge_) fit = find_small_pages(size, alignment);
  if (!fit.hole) fit = is_whole_ ? find_buffer(size, alignment) : find_hole(size, alignment);
  if (!fit.hole) {
    const bool is_padded = !is_whole_ && alignment > std::max(granule_, huge_);
    Region* region = add_region(size + (is_padded ? alignment : 0));
    if (!region) return {.failure = Failure::kAddresses};
    fit = {region->first, round_up(region->base, alignment)};
  }
  Segment* block = segments_.make();
  Segment* rest = segments_.make();
  Taken taken{.failure = Failure::kCommit};
  if (block && rest) {
    block->address = fit.address;
    block->size = size;
    melt_huge_edges(fit.hole, block->address, block->end());
    taken = commit_pages(*fit.hole->region, block->address, block->end(), force);
  }
  if (taken.failure != Failure::kNone) {
    if (block) segments_.drop(block);
    if (rest) segments_.drop(rest);
    Region* region = fit.hole->region;
    const bool is_new = fit.hole->size == region->size && fit.hole->warm_bytes == 0;
    if (is_whole_ && is_new) drop_region(region);
    return taken;
  }
  cut(fit.hole, block, rest);
  advise_huge(block);
  return {.block = block};
}

std::uint64_t Extents::cool(Segment* block, std::uint16_t pages) noexcept {
  Region& region = *block->region;
  const std::uint64_t first = region.index(block->address);
  std::uint64_t nbytes = 0;
  for (unsigned p = 0; p < 16; ++p) {
    unsigned end = p;
    while (end < 16 && pages >> end & 1U) region.state(first + end++) = kCold;
    if (end == p) continue;
    source_->decommit(region.address_of(first + p), (end - p) * region.granule);
    nbytes += (end - p) * region.granule;
    p = end;
  }
  block->has_cold = true;
  committed_ -= nbytes;
  return nbytes;
}

bool Extents::try_warm(Segment* block, std::uint16_t pages) noexcept {
  Region& region = *block->region;
  const std::uint64_t first = region.index(block->address);
  for (unsigned p = 0; p < 16; ++p) {
    if (!(pages >> p & 1U)) continue;
    if (!source_->try_commit(region.address_of(first + p), region.granule)) {
      undo_commit(region, first, first + p);
      return false;
    }
  }
  const auto num = static_cast<std::uint64_t>(std::popcount(pages));
  for (unsigned p = 0; p < 16; ++p) {
    if (pages >> p & 1U) region.state(first + p) = kLive;
  }
  block->has_cold = false;
  committed_ += num * region.granule;
  return true;
}

void Extents::give(Segment* block, std::uint8_t tick) noexcept {
  Region& region = *block->region;
  const std::uint64_t first = region.index_up(block->address);
  const std::uint64_t last = std::max(first, region.index(block->end()));
  std::uint64_t num_warm = last - first;
  if (block->has_cold) {
    for (std::uint64_t g = first; g < last; ++g) {
      if (region.state(g) == kCold) {
        --num_warm;
      } else {
        region.state(g) = tick;
      }
    }
    block->has_cold = false;
  } else {
    std::memset(region.states.get() + first, tick, last - first);
  }
  block->state = State::kHole;
  block->warm_bytes = num_warm * region.granule;
  block->oldest = tick;
  warm_ += block->warm_bytes;
  last_tick_ = tick;
  if (block->warm_bytes) link_warm(block, nullptr);
  join_neighbours(block, tick);
}

// Merges a hole that is in no tree with the holes beside it, and puts the result into the tree.
Segment* Extents::join_neighbours(Segment* hole, std::uint8_t tick) noexcept {
  if (Segment* prev = hole->prev; prev && prev->state == State::kHole) {
    holes_.erase(prev);
    hole = join(prev, hole, tick);
  }
  if (Segment* next = hole->next; next && next->state == State::kHole) {
    holes_.erase(next);
    hole = join(hole, next, tick);
  }
  holes_.insert(hole);
  return hole;
}

Segment* Extents::join(Segment* left, Segment* right, std::uint8_t tick) noexcept {
  const Address seam = right->address;
  left->size += right->size;
  left->next = right->next;
  if (left->next) left->next->prev = left;
  if (right->warm_bytes) {
    // The list is ordered by age: the merged hole takes the place of the older one.
    if (left->warm_bytes == 0 || tick_age(tick, right->oldest) > tick_age(tick, left->oldest)) {
      left->oldest = right->oldest;
      if (left->warm_bytes) unlink_warm(left);
      link_warm(left, right);
    }
    left->warm_bytes += right->warm_bytes;
    unlink_warm(right);
  }
  segments_.drop(right);

  // A granule that both touched may be free as a whole now.
  Region& region = *left->region;
  const std::uint64_t g = region.index(seam);
  if (region.address_of(g) != seam && region.state(g) == kLive &&
      region.address_of(g) >= left->address && region.address_of(g + 1) <= left->end()) {
    region.state(g) = tick;
    if (left->warm_bytes == 0) {
      left->oldest = tick;
      link_warm(left, nullptr);
    }
    left->warm_bytes += region.granule;
    warm_ += region.granule;
  }
  return left;
}

// Puts a hole into the list of warm ones before another; at the end if that is null.
void Extents::link_warm(Segment* hole, Segment* before) noexcept {
  hole->warm_next = before;
  hole->warm_prev = before ? before->warm_prev : warm_tail_;
  (hole->warm_prev ? hole->warm_prev->warm_next : warm_head_) = hole;
  (before ? before->warm_prev : warm_tail_) = hole;
}

void Extents::unlink_warm(Segment* hole) noexcept {
  (hole->warm_prev ? hole->warm_prev->warm_next : warm_head_) = hole->warm_next;
  (hole->warm_next ? hole->warm_next->warm_prev : warm_tail_) = hole->warm_prev;
  hole->warm_prev = hole->warm_next = nullptr;
}

std::uint64_t Extents::address_bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& region : regions_) sum += region->size;
  return sum;
}

}  // namespace plimsoll::memory
