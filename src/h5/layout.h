// Where the elements of a dataset stand: in its header, in one piece, or in chunks.
#pragma once

#include <functional>

#include "h5/type.h"

namespace plimsoll::h5 {

enum class LayoutKind : std::uint8_t { kCompact, kContiguous, kChunked };
enum class ChunkIndex : std::uint8_t { kTree, kSingle, kImplicit, kFixedArray, kTree2 };

struct Layout {
  LayoutKind kind = LayoutKind::kContiguous;
  std::vector<std::byte> compact;
  std::uint64_t address = kUndefined;  // of the data or of the index of chunks
  std::uint64_t nbytes = 0;            // contiguous: what is stored
  ChunkIndex index = ChunkIndex::kTree;
  Shape chunk;                      // the shape of a chunk, in elements
  bool is_filtered = false;         // a single chunk
  std::uint64_t single_nbytes = 0;  // of a single chunk that is filtered
  std::uint32_t single_mask = 0;
};

// throws: UnimplementedError for virtual datasets and for extensible arrays.
Layout read_layout(Cursor message);

struct Chunk {
  Shape start;  // its first element
  std::uint64_t address;
  std::uint64_t nbytes;  // as it is stored
  std::uint32_t mask;    // of filters that were left out
};

inline constexpr std::uint64_t kMaxChunks = 1u << 24;

// Calls `visit` with each chunk that is stored. `chunk_nbytes` is the size of one without filters.
// throws: DataLossError for chunks that stand outside or not where chunks begin, and for more of
// them than the shape has.
void for_each_chunk(const Source& source, const Layout& layout, const Shape& shape,
                    std::uint64_t chunk_nbytes, bool has_filters,
                    const std::function<void(const Chunk&)>& visit);

}  // namespace plimsoll::h5
