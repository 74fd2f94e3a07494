#include "memory_stamps.h"

#include <fmt/format.h>

#include <cstring>

#include "memory_cases.h"

namespace plimsoll::bench {
namespace {

std::uint64_t stamp_at(std::uint64_t key, std::uint64_t offset) {
  return (key ^ 0x5bd1e995U) * 0x9e3779b97f4a7c15U + offset;
}

// Calls f(offset) for each stamp of a block until it says no.
template <class F>
bool for_each_stamp(std::uint64_t nbytes, std::uint64_t stride, F f) {
  const std::uint64_t last = nbytes - sizeof(std::uint64_t);
  for (std::uint64_t offset = 0; offset < last; offset += stride) {
    if (!f(offset)) return false;
    if (stride > last) break;  // and no overflow
  }
  return f(last);
}

}  // namespace

void write_stamps(void* data, std::uint64_t nbytes, std::uint64_t key, std::uint64_t stride) {
  for_each_stamp(nbytes, stride, [&](std::uint64_t offset) {
    const std::uint64_t stamp = stamp_at(key, offset);
    std::memcpy(static_cast<char*>(data) + offset, &stamp, sizeof stamp);
    return true;
  });
}

bool has_stamps(const void* data, std::uint64_t nbytes, std::uint64_t key, std::uint64_t stride) {
  const std::uint64_t last = nbytes - sizeof(std::uint64_t);
  return for_each_stamp(nbytes, stride, [&](std::uint64_t offset) {
    // The last stamp may lie over a part of the one before it.
    if (offset != last && last - offset < sizeof(std::uint64_t)) return true;
    std::uint64_t found = 0;
    std::memcpy(&found, static_cast<const char*>(data) + offset, sizeof found);
    return found == stamp_at(key, offset);
  });
}

bool StampedHeap::allocate(std::uint64_t id, std::uint64_t nbytes,
                           const memory::Trace::Name& owner) {
  memory::Block block;
  if (!heap_.try_allocate(nbytes, memory::Owner(owner.tag, owner.name), &block)) return false;
  write_stamps(block.data(), nbytes, id, stride_);
  blocks_.emplace(id, std::move(block));
  return true;
}

void StampedHeap::free(std::uint64_t id) {
  const auto found = blocks_.find(id);
  verify(found != blocks_.end(), fmt::format("block {} is not there", id));
  const memory::Block& block = found->second;
  verify(has_stamps(block.data(), block.nbytes(), id, stride_),
         fmt::format("block {} of {} bytes lost its contents", id, block.nbytes()));
  blocks_.erase(found);
}

void StampedHeap::free_all() {
  while (!blocks_.empty()) free(blocks_.begin()->first);
}

}  // namespace plimsoll::bench
