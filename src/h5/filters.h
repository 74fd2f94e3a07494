// What chunks went through before they were stored: deflate and shuffle.
#pragma once

#include "h5/bytes.h"

namespace plimsoll::h5 {

struct Filter {
  std::uint16_t id;
  std::vector<std::uint32_t> values;
};

// throws: UnimplementedError for filters other than deflate, shuffle and fletcher32.
std::vector<Filter> read_filters(Cursor message);

// The `nbytes` bytes of a chunk from how it is stored. Bit i of `mask` says that filter i was left
// out. memory: `nbytes` twice at most; refused if what is stored cannot hold as much.
// throws: DataLossError.
std::vector<std::byte> undo_filters(const std::vector<Filter>& filters, std::uint32_t mask,
                                    std::vector<std::byte> stored, std::uint64_t nbytes,
                                    const Source& source, std::uint64_t offset);

}  // namespace plimsoll::h5
