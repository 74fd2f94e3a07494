#include "h5/filters.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace plimsoll::h5 {
namespace {

enum FilterId : std::uint16_t { kDeflate = 1, kShuffle = 2, kFletcher32 = 3 };

constexpr std::uint64_t kMaxDeflateRatio = 1032;  // what a byte of deflate stands for at most
constexpr int kMaxFilters = 32;

std::vector<std::byte> inflate_bytes(const std::vector<std::byte>& stored, std::uint64_t nbytes,
                                     const Source& source, std::uint64_t offset) {
  source.require(nbytes <= product(stored.size(), kMaxDeflateRatio) + 64 &&
                     nbytes <= std::numeric_limits<uInt>::max() &&
                     stored.size() <= std::numeric_limits<uInt>::max(),
                 offset, "more compressed bytes for a chunk of this size");
  std::vector<std::byte> out(nbytes + 1);  // one more shows what is too long, and is never empty
  z_stream stream{};
  source.require(inflateInit(&stream) == Z_OK, offset, "memory for zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out =
      static_cast<uInt>(std::min<std::uint64_t>(out.size(), std::numeric_limits<uInt>::max()));
  const int result = inflate(&stream, Z_FINISH);
  const std::uint64_t made = stream.total_out;
  inflateEnd(&stream);
  if (result != Z_STREAM_END || made != nbytes) {
    source.damaged(offset, fmt::format("a chunk that inflates to {} bytes, received {}", nbytes,
                                       result == Z_STREAM_END ? fmt::format("{}", made)
                                                              : "bytes that are not deflate's"));
  }
  out.pop_back();
  return out;
}

// First all first bytes of the elements, then all second ones; what is left over stays at the end.
std::vector<std::byte> unshuffle(const std::vector<std::byte>& from, std::size_t element_nbytes) {
  std::vector<std::byte> to(from);
  const std::size_t count = from.size() / element_nbytes;
  for (std::size_t byte = 0; byte < element_nbytes; ++byte) {
    const std::byte* plane = from.data() + byte * count;
    for (std::size_t i = 0; i < count; ++i) to[i * element_nbytes + byte] = plane[i];
  }
  return to;
}

}  // namespace

std::vector<Filter> read_filters(Cursor message) {
  const std::uint8_t version = message.u8();
  message.require(version == 1 || version == 2, "a list of filters of version 1 or 2");
  const int count = message.u8();
  message.require(count <= kMaxFilters, "at most 32 filters");
  if (version == 1) message.skip(6);
  std::vector<Filter> filters;
  for (int i = 0; i < count; ++i) {
    Filter filter{message.u16(), {}};
    const std::uint16_t name_nbytes = version == 1 || filter.id >= 256 ? message.u16() : 0;
    message.skip(2);  // whether it may be left out
    const int num_values = message.u16();
    const std::string name = message.text(version == 1 ? (name_nbytes + 7u) / 8 * 8 : name_nbytes);
    for (int k = 0; k < num_values; ++k) filter.values.push_back(message.u32());
    if (version == 1 && num_values % 2 == 1) message.skip(4);
    if (filter.id != kDeflate && filter.id != kShuffle && filter.id != kFletcher32) {
      message.source().unimplemented(
          message.offset(), fmt::format("a filter {} ('{}'); only deflate, shuffle and fletcher32 "
                                        "are read",
                                        filter.id, name));
    }
    filters.push_back(std::move(filter));
  }
  return filters;
}

std::vector<std::byte> undo_filters(const std::vector<Filter>& filters, std::uint32_t mask,
                                    std::vector<std::byte> stored, std::uint64_t nbytes,
                                    const Source& source, std::uint64_t offset) {
  // How many bytes each filter gave, of those that add some at the end.
  std::vector<std::uint64_t> sizes(filters.size(), nbytes);
  for (std::size_t i = 1; i < filters.size(); ++i) {
    const bool was_sum = filters[i - 1].id == kFletcher32 && !(mask >> (i - 1) & 1);
    sizes[i] = sizes[i - 1] + (was_sum ? 4 : 0);
  }
  for (std::size_t i = filters.size(); i-- > 0;) {
    if (mask >> i & 1) continue;
    const Filter& filter = filters[i];
    if (filter.id == kDeflate) {
      stored = inflate_bytes(stored, sizes[i], source, offset);
    } else if (filter.id == kShuffle) {
      source.require(!filter.values.empty() && filter.values[0] > 0 &&
                         filter.values[0] <= std::max<std::uint64_t>(nbytes, 1),
                     offset, "the size of elements for shuffle");
      if (filter.values[0] > 1) stored = unshuffle(stored, filter.values[0]);
    } else {  // fletcher32; deflate has a sum of its own, and this one is passed over
      source.require(stored.size() >= 4, offset, "a chunk with a sum");
      stored.resize(stored.size() - 4);
    }
  }
  source.require(stored.size() == nbytes, offset, "a chunk of the size that the layout says");
  return stored;
}

}  // namespace plimsoll::h5
