// Memory of libraries that allocate by themselves (libpng, libjpeg, zlib), and of scratch beside
// them: blocks of the CPU's heap under the tag io, so that every byte is reserved before it exists.
//
//   LibraryMemory memory("decode_png");
//   png_create_read_struct_2(..., &memory, allocate, release);   // memory.try_allocate, .free
//   ...
//   memory.check();      // ResourceExhaustedError if anything was refused
//
// Libraries leave by longjmp when they get nothing; what they did not free goes with the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "plimsoll/tensor.h"
#include "runtime/device.h"

namespace plimsoll::io {

class LibraryMemory {
 public:
  static constexpr std::size_t kAlignment = 64;

  // What a piece of so many bytes takes of a budget.
  static constexpr std::uint64_t booked_bytes(std::size_t nbytes) noexcept {
    return kHeadBytes + (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  explicit LibraryMemory(const char* what);
  ~LibraryMemory();
  LibraryMemory(const LibraryMemory&) = delete;
  LibraryMemory& operator=(const LibraryMemory&) = delete;

  // Aligned to kAlignment, with undefined contents. Null if refused; the first refusal is kept.
  void* try_allocate(std::size_t nbytes) noexcept;
  void free(void* data) noexcept;  // null is nothing
  // As try_allocate. throws: ResourceExhaustedError.
  void* allocate(std::size_t nbytes);
  // For what stands elsewhere. throws: ResourceExhaustedError.
  memory::Reservation reserve(std::size_t nbytes) const;

  // Whether something was refused since it was made.
  bool is_refused() const noexcept { return is_refused_; }
  // throws: ResourceExhaustedError if so.
  void check() const {
    if (is_refused_) throw_refusal();
  }

 private:
  // Stands in front of what is given out.
  struct Head {
    memory::Block block;
    Head* previous = nullptr;
    Head* next = nullptr;
  };
  static constexpr std::size_t kHeadBytes =
      (sizeof(Head) + kAlignment - 1) / kAlignment * kAlignment;

  [[noreturn]] void throw_refusal() const;

  Device& device_;
  const memory::Owner owner_;
  const std::optional<memory::Budget> scope_;  // of the thread that made it
  Head* first_ = nullptr;
  memory::Refusal why_;
  bool is_refused_ = false;
};

// Bytes of a file that is being written, in pieces that double: growing copies nothing.
class OutputBytes {
 public:
  explicit OutputBytes(LibraryMemory& memory) : memory_(memory) {}
  OutputBytes(const OutputBytes&) = delete;
  OutputBytes& operator=(const OutputBytes&) = delete;

  // False without memory for all of them.
  bool try_append(const void* bytes, std::size_t count) noexcept;
  // Room of at least a byte to write into; `commit` says how much of it was used.
  struct Room {
    unsigned char* data = nullptr;  // null: refused
    std::size_t nbytes = 0;
  };
  Room try_extend() noexcept;
  void commit(std::size_t count) noexcept {
    last_->used += count;
    size_ += count;
  }
  std::size_t size() const noexcept { return size_; }

  // A scalar of type string with the bytes; the pieces go as they are copied.
  // throws: ResourceExhaustedError.
  Tensor to_tensor();

 private:
  struct Piece {
    Piece* next;
    std::size_t capacity, used;
    unsigned char* data() noexcept { return reinterpret_cast<unsigned char*>(this + 1); }
  };

  LibraryMemory& memory_;
  Piece* first_ = nullptr;
  Piece* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace plimsoll::io
