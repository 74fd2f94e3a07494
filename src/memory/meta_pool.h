// Small objects of one type for the heap's own books, in pages of their own.
//
// malloc keeps what was freed between things that live; the books of two million freed blocks would
// stay resident. Here a chunk goes back to the system when its last object is gone.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace plimsoll::memory {

// Not thread-safe.
template <class T>
class MetaPool {
 public:
  MetaPool() = default;
  MetaPool(const MetaPool&) = delete;
  MetaPool& operator=(const MetaPool&) = delete;
  ~MetaPool() {  // pre: every object was dropped
    if (spare_) unmap(spare_);
  }

  // null: the system has no memory.
  template <class... Args>
  T* make(Args&&... args) noexcept {
    if (!partial_ && !add_chunk()) return nullptr;
    Chunk* chunk = partial_;
    Slot* slot = std::exchange(chunk->free, chunk->free->next);
    ++chunk->num_used;
    if (!chunk->free) unlink(chunk);
    return new (slot) T(std::forward<Args>(args)...);
  }

  void drop(T* object) noexcept {
    object->~T();
    auto* chunk =
        reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(object) & ~(kChunkBytes - 1));
    const bool was_full = !chunk->free;
    chunk->free = new (object) Slot{chunk->free};
    if (was_full) link(chunk);
    if (--chunk->num_used) return;
    unlink(chunk);
    if (spare_) unmap(spare_);
    spare_ = chunk;
  }

 private:
  static constexpr std::uintptr_t kChunkBytes = 64U << 10;

  struct Slot {
    Slot* next;
  };
  struct Chunk {
    Chunk* prev = nullptr;  // in the list of chunks with free slots
    Chunk* next = nullptr;
    Slot* free = nullptr;
    std::size_t num_used = 0;
  };
  static constexpr std::size_t kSlotBytes =
      (std::max(sizeof(T), sizeof(Slot)) + alignof(T) - 1) / alignof(T) * alignof(T);
  static constexpr std::size_t kFirst = (sizeof(Chunk) + alignof(T) - 1) / alignof(T) * alignof(T);

  bool add_chunk() noexcept {
    if (spare_) {
      link(std::exchange(spare_, nullptr));
      return true;
    }
    // Twice the size, cut to an aligned half.
    void* raw =
        mmap(nullptr, 2 * kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return false;
    const auto start = reinterpret_cast<std::uintptr_t>(raw);
    const std::uintptr_t aligned = (start + kChunkBytes - 1) & ~(kChunkBytes - 1);
    if (aligned > start) munmap(raw, aligned - start);
    if (const std::uintptr_t end = aligned + kChunkBytes; end < start + 2 * kChunkBytes) {
      munmap(reinterpret_cast<void*>(end), start + 2 * kChunkBytes - end);
    }
    auto* chunk = new (reinterpret_cast<void*>(aligned)) Chunk;
    for (std::size_t at = kFirst; at + kSlotBytes <= kChunkBytes; at += kSlotBytes) {
      chunk->free = new (reinterpret_cast<void*>(aligned + at)) Slot{chunk->free};
    }
    link(chunk);
    return true;
  }
  static void unmap(Chunk* chunk) noexcept { munmap(chunk, kChunkBytes); }
  void link(Chunk* chunk) noexcept {
    chunk->prev = nullptr;
    chunk->next = partial_;
    if (partial_) partial_->prev = chunk;
    partial_ = chunk;
  }
  void unlink(Chunk* chunk) noexcept {
    (chunk->prev ? chunk->prev->next : partial_) = chunk->next;
    if (chunk->next) chunk->next->prev = chunk->prev;
  }

  Chunk* partial_ = nullptr;
  Chunk* spare_ = nullptr;  // an empty one
};

}  // namespace plimsoll::memory
