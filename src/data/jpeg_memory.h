// The memory manager of libjpeg, on budgeted memory.
//
// libjpeg allocates by the methods of jpeg_memory_mgr only. These here take the place of its own as
// soon as they can: what its create function took before, kCreateBytes at most, is reserved before.
#pragma once

#include <cstdio>
// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include "data/library_memory.h"

namespace plimsoll::io {

class JpegMemory : public jpeg_memory_mgr {
 public:
  static constexpr std::size_t kCreateBytes = 16u << 10;

  // memory: kCreateBytes. throws: ResourceExhaustedError.
  explicit JpegMemory(const char* what);
  JpegMemory(const JpegMemory&) = delete;
  JpegMemory& operator=(const JpegMemory&) = delete;

  // From now on `jpeg` allocates here. pre: it was just created, and is destroyed before this.
  void take_over(j_common_ptr jpeg) noexcept;

  LibraryMemory& memory() noexcept { return memory_; }

 private:
  friend struct JpegMethods;
  struct Chunk;  // of a pool: one large piece, or many small ones
  struct Pool {
    Chunk* chunks = nullptr;  // what is left of the first one goes to small pieces
    jvirt_sarray_control* samples = nullptr;
    jvirt_barray_control* blocks = nullptr;
  };

  LibraryMemory memory_;
  memory::Reservation created_;
  jpeg_memory_mgr* original_ = nullptr;
  Pool pools_[JPOOL_NUMPOOLS];
};

}  // namespace plimsoll::io
