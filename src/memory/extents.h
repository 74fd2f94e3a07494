// Large blocks of a heap: best fit with coalescing over reserved address ranges.
//
// Addresses are plentiful, pages are not. So a block that fits no hole gets fresh addresses, and
// what keeps memory bounded is that the pages of holes are given back: a page is committed only
// while a block touches it or while it is warm (freed a moment ago). Between blocks there is no
// page lost but the two that a hole shares with its neighbours.
//
// Not thread-safe: the heap's lock guards it. Giving pages back is split in begin_purge / end_purge
// so that the heap can drop its lock while the system works.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "memory/budget_tree.h"
#include "memory/hole_tree.h"
#include "memory/meta_pool.h"
#include "memory/region.h"

namespace plimsoll::memory {

enum class Failure : std::uint8_t { kNone, kExcess, kCommit, kAddresses, kHoles };

class Extents {
 public:
  Extents(SourcePtr source, BudgetNode* node);
  ~Extents();  // pre: all blocks were given back

  struct Taken {
    Segment* block = nullptr;
    Failure failure = Failure::kNone;
    Excess excess;  // for kExcess: warm pages that have to go first
  };
  // Finds addresses for a block and commits its pages. `force` commits even where the pages then
  // pass a limit (by rounding). Nothing has changed after a failure.
  Taken take(std::uint64_t nbytes, std::uint64_t alignment, bool force) noexcept;
  // The pages that only this block touched are warm from `tick` on.
  void give(Segment* block, std::uint8_t tick) noexcept;

  // Pages of a block that nothing lives on, a bit each: given back, and taken again. pre: the
  // granularity divides the block. The budget is the caller's to tell.
  std::uint64_t cool(Segment* block, std::uint16_t pages) noexcept;  // returns the bytes
  bool try_warm(Segment* block, std::uint16_t pages) noexcept;

  // Reserves and commits `nbytes` as one warm hole.
  Failure commit_up_front(std::uint64_t nbytes, std::uint8_t tick) noexcept;

  struct Run {
    Address address;
    std::uint64_t nbytes;
  };
  struct PurgeBatch {
    static constexpr std::size_t kMaxRuns = 64;
    Segment* hole = nullptr;
    std::size_t num_runs = 0;
    std::uint64_t nbytes = 0;
    Run runs[kMaxRuns];
    bool complete = false;         // all of the hole was looked at
    std::uint8_t next_oldest = 0;  // of what stays warm; valid if complete
  };
  // Chooses pages that have been warm for `min_age` ticks, about `want` bytes, and takes their hole
  // out of use. false: there are none. The caller decommits the runs, then calls end_purge.
  bool begin_purge(PurgeBatch* batch, std::uint64_t want, std::uint8_t now, int min_age) noexcept;
  void end_purge(const PurgeBatch& batch) noexcept;

  // Whether pages may pass a limit by so many bytes: rounding, not holes that nothing can use.
  bool may_exceed(std::uint64_t nbytes) const noexcept {
    return !is_whole_ || nbytes <= kSharedBytes;
  }

  Source& source() const noexcept { return *source_; }
  std::uint64_t committed_bytes() const noexcept { return committed_; }
  std::uint64_t warm_bytes() const noexcept { return warm_; }
  std::uint64_t address_bytes() const noexcept;
  std::uint64_t num_regions() const noexcept { return regions_.size(); }
  bool is_valid() const noexcept;  // for walkers

 private:
  struct Fit {
    Segment* hole = nullptr;
    Address address = 0;
  };
  Fit find_hole(std::uint64_t size, std::uint64_t alignment) const noexcept;
  Fit find_small_pages(std::uint64_t size, std::uint64_t alignment) const noexcept;
  Fit find_buffer(std::uint64_t size, std::uint64_t alignment) const noexcept;
  std::uint64_t buffer_bytes(std::uint64_t size) const noexcept {
    return size <= kSharedBytes ? kSharedBytes : round_up(size, granule_);
  }
  Region* add_region(std::uint64_t nbytes) noexcept;
  void drop_region(Region* region) noexcept;
  void melt_huge_edges(Segment* hole, Address begin, Address end) noexcept;
  Taken commit_pages(Region& region, Address begin, Address end, bool force) noexcept;
  void undo_commit(Region& region, std::uint64_t from, std::uint64_t to) noexcept;
  void cut(Segment* hole, Segment* block, Segment* rest) noexcept;
  void mark_live(Segment* hole, const Segment* block) noexcept;
  void advise_huge(const Segment* block) noexcept;
  Segment* join(Segment* left, Segment* right, std::uint8_t tick) noexcept;
  Segment* join_neighbours(Segment* hole, std::uint8_t tick) noexcept;
  void link_warm(Segment* hole, Segment* before) noexcept;
  void unlink_warm(Segment* hole) noexcept;
  bool is_valid(Region& region, std::uint64_t* committed, std::uint64_t* warm) const noexcept;
  bool is_in_warm_list(const Segment* hole) const noexcept {
    return hole->warm_prev || warm_head_ == hole;
  }

  const SourcePtr source_;
  BudgetNode* const node_;  // pages are counted here
  const std::uint64_t granule_;
  const bool is_whole_;            // memory comes in buffers
  const std::uint64_t huge_;       // 0: no huge pages
  const std::uint64_t page_unit_;  // blocks of 64 KiB and more start and end at multiples of this
  std::vector<std::unique_ptr<Region>> regions_;
  HoleTree holes_;
  MetaPool<Segment> segments_;
  Segment* warm_head_ = nullptr;  // oldest
  Segment* warm_tail_ = nullptr;
  std::uint64_t committed_ = 0;  // bytes
  std::uint64_t warm_ = 0;       // part of it in holes
  std::uint8_t last_tick_ = kFirstTick;
};

}  // namespace plimsoll::memory
