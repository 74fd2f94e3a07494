// Contents to tell blocks apart: what was written into a block must be there when it is freed.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "plimsoll/memory.h"

namespace plimsoll::bench {

inline constexpr std::uint64_t kEveryPage = 4096;
inline constexpr std::uint64_t kEndsOnly = UINT64_MAX;

// Writes 8 bytes made of `key` and their offset at the start, the end and every `stride` bytes.
// pre: nbytes >= 8.
void write_stamps(void* data, std::uint64_t nbytes, std::uint64_t key, std::uint64_t stride);
bool has_stamps(const void* data, std::uint64_t nbytes, std::uint64_t key, std::uint64_t stride);

// A heap as a target of replay() that stamps every block and looks at the stamps when it is freed.
class StampedHeap final : public memory::ReplayTarget {
 public:
  StampedHeap(memory::Heap& heap, std::uint64_t stride) : heap_(heap), stride_(stride) {}

  bool allocate(std::uint64_t id, std::uint64_t nbytes, const memory::Trace::Name& owner) override;
  void free(std::uint64_t id) override;  // throws: std::runtime_error if the stamps are not there
  std::uint64_t committed_bytes() const override { return heap_.stats().committed_bytes; }

  void free_all();  // throws: like free

 private:
  memory::Heap& heap_;
  const std::uint64_t stride_;
  std::unordered_map<std::uint64_t, memory::Block> blocks_;  // by id
};

}  // namespace plimsoll::bench
