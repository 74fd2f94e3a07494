#include "region_allocator.h"

#include <algorithm>

namespace plimsoll::bench {
namespace {

constexpr std::uint64_t kRounding = 256;
constexpr std::uint64_t kLargestRest = std::uint64_t{128} << 20;  // that stays with a block

}  // namespace

void RegionAllocator::insert_hole(Chunks::iterator chunk) {
  chunk->second.is_free = true;
  holes_.emplace(chunk->second.nbytes, chunk->first);
}

void RegionAllocator::erase_hole(Chunks::iterator chunk) {
  chunk->second.is_free = false;
  holes_.erase({chunk->second.nbytes, chunk->first});
}

// A region of the next size in the row of doubles, or of what the limit leaves if that will do.
bool RegionAllocator::add_region(std::uint64_t nbytes) {
  const std::uint64_t room = (limit_ - committed_) / kRounding * kRounding;
  if (nbytes > room) return false;
  bool has_doubled = false;
  while (next_region_bytes_ < nbytes) {
    next_region_bytes_ *= 2;
    has_doubled = true;
  }
  const std::uint64_t size = std::min(next_region_bytes_, room);
  if (!has_doubled) next_region_bytes_ *= 2;
  insert_hole(
      chunks_.emplace(next_address_, Chunk{.nbytes = size, .region = num_regions_++}).first);
  next_address_ += size;
  committed_ += size;
  return true;
}

bool RegionAllocator::allocate(std::uint64_t id, std::uint64_t nbytes, const memory::Trace::Name&) {
  const std::uint64_t rounded =
      std::max(kRounding, (nbytes + kRounding - 1) / kRounding * kRounding);
  auto best = holes_.lower_bound({rounded, 0});
  if (best == holes_.end()) {
    if (!add_region(rounded)) return false;
    best = holes_.lower_bound({rounded, 0});
  }
  const auto chunk = chunks_.find(best->second);
  erase_hole(chunk);
  const std::uint64_t rest = chunk->second.nbytes - rounded;
  const std::uint64_t least =
      splitting_ == Splitting::kAlways ? 1 : std::min(rounded, kLargestRest);
  if (rest >= least) {
    chunk->second.nbytes = rounded;
    const Chunk hole{.nbytes = rest, .region = chunk->second.region};
    insert_hole(chunks_.emplace(chunk->first + rounded, hole).first);
  }
  allocations_.emplace(id, chunk);
  return true;
}

// pre: neighbours in one region, not filed as holes.
RegionAllocator::Chunks::iterator RegionAllocator::join(Chunks::iterator left,
                                                        Chunks::iterator right) {
  left->second.nbytes += right->second.nbytes;
  chunks_.erase(right);
  return left;
}

void RegionAllocator::free(std::uint64_t id) {
  const auto found = allocations_.find(id);
  Chunks::iterator chunk = found->second;
  allocations_.erase(found);
  const auto is_joinable = [&](const Chunks::iterator& other) {
    return other->second.is_free && other->second.region == chunk->second.region;
  };
  if (const auto next = std::next(chunk); next != chunks_.end() && is_joinable(next)) {
    erase_hole(next);
    chunk = join(chunk, next);
  }
  if (chunk != chunks_.begin() && is_joinable(std::prev(chunk))) {
    const auto previous = std::prev(chunk);
    erase_hole(previous);
    chunk = join(previous, chunk);
  }
  insert_hole(chunk);
}

}  // namespace plimsoll::bench
