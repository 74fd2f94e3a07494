// A reserved range of addresses, with one byte per granule that says what its page is doing.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "memory/segment.h"

namespace plimsoll::memory {

// States of a granule. Ticks count from kFirstTick to 255 and around: a freed granule carries the
// tick at which it was freed.
inline constexpr std::uint8_t kCold = 0;  // not committed
inline constexpr std::uint8_t kLive = 1;  // committed, touched by at least one block
inline constexpr std::uint8_t kFirstTick = 2;
inline constexpr int kNumTicks = 254;

constexpr int tick_age(std::uint8_t now, std::uint8_t then) noexcept {
  return (now - then + kNumTicks) % kNumTicks;
}

// A table of bytes, zero at first, in pages of its own: only the parts that are used cost memory,
// and all of it is the system's again in the end.
class PageTable {
 public:
  PageTable() = default;
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;
  ~PageTable() { release(); }

  bool try_make(std::uint64_t size) noexcept {
    release();
    void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return false;
    bytes_ = static_cast<std::uint8_t*>(made);
    size_ = size;
    return true;
  }
  std::uint8_t* get() const noexcept { return bytes_; }

 private:
  void release() noexcept {
    if (bytes_) munmap(bytes_, size_);
    bytes_ = nullptr;
  }

  std::uint8_t* bytes_ = nullptr;
  std::uint64_t size_ = 0;
};

struct Region {
  Address base = 0;
  std::uint64_t size = 0;
  std::uint64_t granule = 0;  // of the source; all of the region where that deals in buffers
  bool is_up_front = false;   // taken at the start, for blocks of any size
  std::uint64_t huge = 0;     // bytes of a huge page; 0: none
  Segment* first = nullptr;
  Address high = 0;   // no byte from here on was ever committed
  PageTable states;   // a byte per granule
  PageTable advised;  // a byte per huge page: whether huge pages were asked for

  std::uint8_t& state(std::uint64_t granule_index) noexcept { return states.get()[granule_index]; }
  std::uint64_t index(Address address) const noexcept { return (address - base) / granule; }
  // First granule that begins at or after an address / past the last that ends at or before it.
  std::uint64_t index_up(Address address) const noexcept {
    return (address - base + granule - 1) / granule;
  }
  Address address_of(std::uint64_t granule_index) const noexcept {
    return base + granule_index * granule;
  }
};

}  // namespace plimsoll::memory
