#include "h5/layout.h"

#include <fmt/core.h>

namespace plimsoll::h5 {
namespace {

enum StoredIndex : int { kSingle = 1, kImplicit = 2, kFixedArray = 3, kExtensible = 4, kTree2 = 5 };

void check_chunk(const Cursor& cursor, const Layout& layout) {
  cursor.require(layout.chunk.size() <= kMaxRank, "at most 32 dimensions");
  for (const std::uint64_t size : layout.chunk)
    cursor.require(size > 0, "chunks that are not empty");
}

void read_chunked_v3(Cursor& cursor, Layout& layout) {
  const int rank = cursor.u8();  // with one more dimension, for the bytes of an element
  cursor.require(rank >= 2 && rank <= static_cast<int>(kMaxRank) + 1, "1 to 32 dimensions");
  layout.address = cursor.u64();
  for (int axis = 0; axis + 1 < rank; ++axis) layout.chunk.push_back(cursor.u32());
  check_chunk(cursor, layout);
}

void read_chunked_v4(Cursor& cursor, Layout& layout) {
  const std::uint8_t flags = cursor.u8();
  const int rank = cursor.u8();
  const std::size_t width = cursor.u8();
  cursor.require(rank >= 2 && rank <= static_cast<int>(kMaxRank) + 1, "1 to 32 dimensions");
  cursor.require(width >= 1 && width <= 8, "sizes of 1 to 8 bytes");
  for (int axis = 0; axis + 1 < rank; ++axis) layout.chunk.push_back(cursor.uint(width));
  cursor.skip(width);  // the bytes of an element
  check_chunk(cursor, layout);
  const int index = cursor.u8();
  switch (index) {
    case kSingle:
      layout.index = ChunkIndex::kSingle;
      layout.is_filtered = (flags & 2) != 0;
      if (layout.is_filtered) {
        layout.single_nbytes = cursor.u64();
        layout.single_mask = cursor.u32();
      }
      break;
    case kImplicit:
      layout.index = ChunkIndex::kImplicit;
      break;
    case kFixedArray:
      layout.index = ChunkIndex::kFixedArray;
      cursor.skip(1);
      break;
    case kTree2:
      layout.index = ChunkIndex::kTree2;
      cursor.skip(6);
      break;
    case kExtensible:
      cursor.source().unimplemented(cursor.offset(),
                                    "an extensible array of chunks, which is not read; h5py writes "
                                    "another index with libver='earliest'");
    default:
      cursor.damaged("an index of chunks that is known");
  }
  layout.address = cursor.u64();
}

}  // namespace

Layout read_layout(Cursor cursor) {
  const int version = cursor.u8();
  if (version == 1 || version == 2) {
    cursor.source().unimplemented(cursor.offset(),
                                  "a layout from before HDF5 1.6, which is not read");
  }
  cursor.require(version == 3 || version == 4, "a layout of version 3 or 4");
  Layout layout;
  switch (cursor.u8()) {
    case 0: {
      layout.kind = LayoutKind::kCompact;
      const auto bytes = cursor.take(cursor.u16());
      layout.compact.assign(bytes.begin(), bytes.end());
      return layout;
    }
    case 1:
      layout.kind = LayoutKind::kContiguous;
      layout.address = cursor.u64();
      layout.nbytes = cursor.u64();
      return layout;
    case 2:
      layout.kind = LayoutKind::kChunked;
      version == 3 ? read_chunked_v3(cursor, layout) : read_chunked_v4(cursor, layout);
      return layout;
    case 3:
      cursor.source().unimplemented(cursor.offset(), "a virtual dataset, which is not read");
    default:
      cursor.damaged("a compact, contiguous or chunked layout");
  }
}

}  // namespace plimsoll::h5
