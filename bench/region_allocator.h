// A model of the allocator that frameworks use: best fit with splitting and coalescing inside
// regions that double in size and are never given back. Addresses and committed bytes only; there
// is no memory behind it.
//
// As in TensorFlow's BFC allocator, sizes are rounded up to 256 bytes and a chunk is split only if
// half of it or 128 MiB would be left over. Kinder than the real thing: what the limit leaves is
// always to be had as one more region. `Splitting::kAlways` is kinder still: nothing is left over.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "plimsoll/memory/host.h"
#include "plimsoll/memory/trace.h"

namespace plimsoll::bench {

class RegionAllocator final : public memory::ReplayTarget {
 public:
  enum class Splitting { kIfMuchIsLeft, kAlways };

  explicit RegionAllocator(std::uint64_t limit, Splitting splitting = Splitting::kIfMuchIsLeft)
      : limit_(limit), splitting_(splitting) {}

  bool allocate(std::uint64_t id, std::uint64_t nbytes, const memory::Trace::Name& owner) override;
  void free(std::uint64_t id) override;
  std::uint64_t committed_bytes() const override { return committed_; }

 private:
  struct Chunk {
    std::uint64_t nbytes = 0;
    std::uint32_t region = 0;
    bool is_free = true;
  };
  using Chunks = std::map<std::uint64_t, Chunk>;  // by address

  bool add_region(std::uint64_t nbytes);
  void insert_hole(Chunks::iterator chunk);
  void erase_hole(Chunks::iterator chunk);
  Chunks::iterator join(Chunks::iterator left, Chunks::iterator right);

  const std::uint64_t limit_;
  const Splitting splitting_;
  std::uint64_t committed_ = 0;
  std::uint64_t next_region_bytes_ = std::uint64_t{2} << 20;  // doubles
  std::uint64_t next_address_ = 0;
  std::uint32_t num_regions_ = 0;
  Chunks chunks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_;          // size, address
  std::unordered_map<std::uint64_t, Chunks::iterator> allocations_;  // by id
};

}  // namespace plimsoll::bench
