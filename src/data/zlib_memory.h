// The memory of a stream of zlib, reserved as a whole before it begins: zlib asks for some of it
// later on, and a stream that is refused then is lost.
#pragma once

#include <zlib.h>

#include "data/library_memory.h"

namespace plimsoll::io {

class ZlibMemory {
 public:
  explicit ZlibMemory(LibraryMemory& memory) : memory_(memory) {}
  ZlibMemory(const ZlibMemory&) = delete;
  ZlibMemory& operator=(const ZlibMemory&) = delete;

  // Before inflateInit2 or deflateInit2; nbytes is what the stream is going to need.
  // throws: ResourceExhaustedError.
  void begin(z_stream& stream, std::size_t nbytes) {
    data_ = static_cast<std::byte*>(memory_.allocate(nbytes));
    left_ = nbytes;
    stream.zalloc = allocate;
    stream.zfree = release;
    stream.opaque = this;
  }

 private:
  static void* allocate(void* self, unsigned num, unsigned size) noexcept {
    auto& own = *static_cast<ZlibMemory*>(self);
    const std::size_t nbytes = (std::size_t{num} * size + 63) / 64 * 64;
    if (nbytes > own.left_) return own.memory_.try_allocate(nbytes);  // another zlib than most
    own.left_ -= nbytes;
    own.data_ += nbytes;
    return own.data_ - nbytes;
  }
  // All of it goes with the LibraryMemory.
  static void release(void*, void*) noexcept {}

  LibraryMemory& memory_;
  std::byte* data_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace plimsoll::io
