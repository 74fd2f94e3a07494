// Giving pages of holes back; part of Extents.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "memory/extents.h"

namespace plimsoll::memory {
namespace {

// The next granule from `g` on that is not cold. pre: there is one.
std::uint64_t skip_cold(Region& region, std::uint64_t g) noexcept {
  const std::uint8_t* const states = region.states.get();
  std::uint64_t word = 0;
  while (states[g] == kCold && g % 8) ++g;
  while (g % 8 == 0 && (std::memcpy(&word, states + g, 8), word == 0)) g += 8;
  while (states[g] == kCold) ++g;
  return g;
}

}  // namespace

bool Extents::begin_purge(PurgeBatch* batch, std::uint64_t want, std::uint8_t now,
                          int min_age) noexcept {
  for (Segment* hole = warm_head_; hole && want; hole = warm_head_) {
    if (tick_age(now, hole->oldest) < min_age) return false;
    *batch = {.hole = hole, .next_oldest = now};
    Region& region = *hole->region;
    std::uint64_t seen = 0;
    std::uint64_t g = region.index_up(hole->address);
    bool full = false;
    while (seen < hole->warm_bytes && !full) {
      g = skip_cold(region, g);
      PLIMSOLL_ASSERT(region.address_of(g) < hole->end());
      if (region.state(g) == kLive || tick_age(now, region.state(g)) < min_age) {
        if (region.state(g) != kLive) {  // live: a granule shared with a block at the hole's edge
          seen += region.granule;
          if (tick_age(now, region.state(g)) > tick_age(now, batch->next_oldest)) {
            batch->next_oldest = region.state(g);
          }
        }
        ++g;
        continue;
      }
      const std::uint64_t from = g;
      const auto is_wanted = [&](std::uint64_t at) {
        if (batch->nbytes + (at - from) * region.granule < want) return true;
        // Huge pages go whole.
        const Address address = region.address_of(at);
        return huge_ && address % huge_ && region.advised.get()[(address - region.base) / huge_];
      };
      while (seen < hole->warm_bytes && region.state(g) >= kFirstTick &&
             tick_age(now, region.state(g)) >= min_age && is_wanted(g)) {
        ++g;
        seen += region.granule;
      }
      batch->runs[batch->num_runs++] = {region.address_of(from), (g - from) * region.granule};
      batch->nbytes += (g - from) * region.granule;
      full = batch->num_runs == PurgeBatch::kMaxRuns || batch->nbytes >= want;
    }
    batch->complete = seen == hole->warm_bytes;
    if (batch->num_runs) {
      holes_.erase(hole);
      hole->state = Segment::State::kBusy;
      unlink_warm(hole);
      return true;
    }
    // Its oldest pages were taken into use since: file it by the oldest that are left.
    unlink_warm(hole);
    hole->oldest = batch->next_oldest;
    link_warm(hole, nullptr);
  }
  return false;
}

void Extents::end_purge(const PurgeBatch& batch) noexcept {
  Segment* hole = batch.hole;
  Region* region = hole->region;
  for (std::size_t i = 0; i < batch.num_runs; ++i) {
    std::memset(&region->state(region->index(batch.runs[i].address)), kCold,
                batch.runs[i].nbytes / region->granule);
  }
  committed_ -= batch.nbytes;
  warm_ -= batch.nbytes;
  note_decommit(node_, batch.nbytes);
  hole->warm_bytes -= batch.nbytes;
  hole->state = Segment::State::kHole;
  if (hole->warm_bytes) {
    if (batch.complete) hole->oldest = batch.next_oldest;
    link_warm(hole, batch.complete ? nullptr : warm_head_);
  }
  hole = join_neighbours(hole, last_tick_);
  if (hole->size == region->size && hole->warm_bytes == 0) drop_region(region);
}

bool Extents::is_valid(Region& region, std::uint64_t* committed,
                       std::uint64_t* warm) const noexcept {
  using State = Segment::State;
  const std::uint64_t used = region.index(region.high);  // granules; the others are cold
  std::vector<std::uint8_t> touched(used / 8 + 1);
  Address at = region.base;
  bool is_busy = false;  // pages beside a busy hole are settled when it is done
  for (const Segment* s = region.first; s; at = s->end(), s = s->next) {
    if (s->address != at || s->size == 0 || s->region != &region) return false;
    if (s->next && (s->next->prev != s)) return false;
    if (s->state == State::kHole) {
      if (s->next && s->next->state == State::kHole) return false;
      if (!holes_.contains(s) || (s->warm_bytes != 0) != is_in_warm_list(s)) return false;
    }
    is_busy |= s->state == State::kBusy;
    if (s->state != State::kBlock) continue;
    for (std::uint64_t g = region.index(s->address); g < region.index_up(s->end()); ++g) {
      touched[g / 8] = static_cast<std::uint8_t>(touched[g / 8] | 1U << g % 8);
    }
  }
  if (at != region.base + region.size) return false;
  for (const Segment* s = region.first; s; s = s->next) {
    const std::uint64_t first = region.index(s->address);
    const std::uint64_t last = std::min(used, region.index_up(s->end()));
    std::uint64_t inside = 0;
    for (std::uint64_t g = first; g < last; ++g) {
      const std::uint8_t state = region.state(g);
      const bool is_touched = touched[g / 8] >> g % 8 & 1U;
      if (!is_busy && is_touched != (state == kLive) && !(s->has_cold && state == kCold))
        return false;
      if (state >= kFirstTick) inside += region.granule;
    }
    if (!is_busy && inside != (s->state == State::kBlock ? 0 : s->warm_bytes)) return false;
    *warm += inside;
  }
  const std::uint8_t* const states = region.states.get();
  const auto cold = static_cast<std::uint64_t>(std::count(states, states + used, kCold));
  *committed += (used - cold) * region.granule;
  return true;
}

bool Extents::is_valid() const noexcept {
  std::uint64_t committed = 0;
  std::uint64_t warm = 0;
  for (const auto& region : regions_) {
    if (!is_valid(*region, &committed, &warm)) return false;
  }
  return holes_.is_valid() && committed == committed_ && warm == warm_;
}

Failure Extents::commit_up_front(std::uint64_t nbytes, std::uint8_t tick) noexcept {
  const std::uint64_t most = round_down(source_->largest_reserve(), granule_);
  for (std::uint64_t left = round_down(nbytes, granule_); left;) {
    Region* region = add_region(std::min(left, most));
    if (!region) return Failure::kAddresses;
    region->is_up_front = true;
    const std::uint64_t size = is_whole_ ? region->size : std::min(left, most);
    Segment* hole = region->first;
    const Taken taken = commit_pages(*region, hole->address, hole->address + size, is_whole_);
    if (taken.failure != Failure::kNone) return taken.failure;
    std::memset(region->states.get(), tick, size / region->granule);
    region->high = region->base + size;
    hole->warm_bytes = size;
    hole->oldest = tick;
    last_tick_ = tick;
    warm_ += size;
    link_warm(hole, nullptr);
    source_->populate(hole->address, size);
    left -= std::min(left, size);
  }
  return Failure::kNone;
}

}  // namespace plimsoll::memory
