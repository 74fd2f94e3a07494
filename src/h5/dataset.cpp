#include "h5/dataset.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "h5/strings.h"

namespace plimsoll::h5 {
namespace {

const Message& need(const Source& source, const std::vector<Message>& messages, MessageType type,
                    const std::string& path) {
  const Message* message = find_message(messages, type);
  PLIMSOLL_CHECK(message != nullptr, DataLossError,
                 "'{}' is damaged: the dataset '{}' lacks message {:#x}", source.name(), path,
                 static_cast<int>(type));
  if (message->is_shared)
    source.unimplemented(message->offset, "a committed datatype, which is not read");
  return *message;
}

// The value of elements that are not stored; empty for zeros.
std::vector<std::byte> read_fill_value(const Source& source, const std::vector<Message>& messages) {
  const Message* message = find_message(messages, MessageType::kFillValue);
  if (message == nullptr) return {};
  Cursor cursor = message->cursor(source);
  const int version = cursor.u8();
  cursor.require(version >= 1 && version <= 3, "a fill value of version 1 to 3");
  bool is_there = version == 1;
  if (version == 3) {
    is_there = (cursor.u8() & 0x20) != 0;
  } else {
    cursor.skip(2);
    is_there = cursor.u8() != 0 || is_there;
  }
  if (!is_there) return {};
  const auto bytes = cursor.take(cursor.u32());
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Dataset::Dataset(std::shared_ptr<const Source> source, std::string path,
                 const std::vector<Message>& messages)
    : source_(std::move(source)), path_(std::move(path)) {
  const Source& file = *source_;
  type_ = read_type(need(file, messages, MessageType::kDatatype, path_).cursor(file));
  space_ = read_space(need(file, messages, MessageType::kDataspace, path_).cursor(file));
  const Message& layout = need(file, messages, MessageType::kLayout, path_);
  layout_ = read_layout(layout.cursor(file));
  if (const Message* external = find_message(messages, MessageType::kExternalFiles)) {
    file.unimplemented(external->offset, "data in other files, which are not opened");
  }
  if (const Message* filters = find_message(messages, MessageType::kFilters)) {
    filters_ = read_filters(filters->cursor(file));
  }
  fill_value_ = read_fill_value(file, messages);
  file.require(fill_value_.empty() || fill_value_.size() == type_.nbytes, layout.offset,
               "a fill value of the size of an element");
  check_layout(layout);
}

void Dataset::check_layout(const Message& message) const {
  const Source& file = *source_;
  file.require(product(num_elements(), type_.nbytes) <= kMaxElements, message.offset,
               "a smaller dataset");
  switch (layout_.kind) {
    case LayoutKind::kCompact:
      file.require(layout_.compact.size() >= nbytes(), message.offset,
                   "a compact dataset with all of its elements");
      return;
    case LayoutKind::kContiguous:
      file.require(layout_.address == kUndefined ||
                       (layout_.nbytes >= nbytes() && file.has(layout_.address, nbytes())),
                   message.offset, "a dataset whose elements are all in the file");
      return;
    case LayoutKind::kChunked:
      file.require(layout_.chunk.size() == space_.shape.size(), message.offset,
                   "chunks of as many dimensions as the dataset");
      return;
  }
}

void Dataset::read_into(std::span<std::byte> to) const {
  PLIMSOLL_CHECK(type_.kind != TypeKind::kString, InvalidArgumentError,
                 "'{}' in '{}' holds strings of variable length; strings() reads them", path_,
                 source_->name());
  PLIMSOLL_CHECK(to.size() == nbytes(), InvalidArgumentError,
                 "'{}' in '{}' has {} bytes of {}; received a buffer of {} bytes", path_,
                 source_->name(), nbytes(), type_.name(), to.size());
  read_raw(to);
}

std::vector<std::string> Dataset::strings() const {
  PLIMSOLL_CHECK(type_.is_string(), InvalidArgumentError, "'{}' in '{}' holds {}, not strings",
                 path_, source_->name(), type_.name());
  PLIMSOLL_CHECK(num_elements() <= kMaxStrings && nbytes() <= kMaxStringTableBytes,
                 ResourceExhaustedError,
                 "'{}' in '{}' has {} strings in {} bytes; at most {} in {} bytes are read", path_,
                 source_->name(), num_elements(), nbytes(), kMaxStrings, kMaxStringTableBytes);
  std::vector<std::byte> raw(nbytes());
  read_raw(raw);
  return read_strings(*source_, type_, raw);
}

void Dataset::read_raw(std::span<std::byte> to) const {
  if (to.empty()) return;
  if (layout_.kind == LayoutKind::kCompact) {
    std::copy_n(layout_.compact.begin(), to.size(), to.begin());
    return;
  }
  if (layout_.kind == LayoutKind::kContiguous && layout_.address != kUndefined) {
    source_->read(layout_.address, to, "the elements of a dataset");
    return;
  }
  fill(to);
  if (layout_.kind == LayoutKind::kContiguous) return;
  std::uint64_t chunk_nbytes = type_.nbytes;
  for (const std::uint64_t size : layout_.chunk) chunk_nbytes = product(chunk_nbytes, size);
  source_->require(chunk_nbytes <= kMaxElements, layout_.address, "smaller chunks");
  for_each_chunk(*source_, layout_, space_.shape, chunk_nbytes, !filters_.empty(),
                 [&](const Chunk& chunk) { read_chunk(chunk, chunk_nbytes, to); });
}

void Dataset::fill(std::span<std::byte> to) const {
  const bool is_zero =
      type_.kind == TypeKind::kString || std::all_of(fill_value_.begin(), fill_value_.end(),
                                                     [](std::byte b) { return b == std::byte{0}; });
  if (is_zero) {
    std::memset(to.data(), 0, to.size());
    return;
  }
  for (std::size_t at = 0; at < to.size(); at += fill_value_.size()) {
    std::memcpy(to.data() + at, fill_value_.data(), fill_value_.size());
  }
}

void Dataset::read_chunk(const Chunk& chunk, std::uint64_t chunk_nbytes,
                         std::span<std::byte> to) const {
  source_->require(source_->has(chunk.address, chunk.nbytes), chunk.address,
                   "a chunk that is in the file");
  std::vector<std::byte> stored(chunk.nbytes);
  source_->read(chunk.address, stored, "a chunk");
  copy_chunk(
      chunk,
      undo_filters(filters_, chunk.mask, std::move(stored), chunk_nbytes, *source_, chunk.address),
      to);
}

// Rows along the last axis are copied whole; parts of the chunk beyond the dataset are left out.
void Dataset::copy_chunk(const Chunk& chunk, std::span<const std::byte> from,
                         std::span<std::byte> to) const {
  const Shape& shape = space_.shape;
  const std::size_t rank = shape.size();
  Shape extent(rank), at(rank, 0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    extent[axis] = std::min(layout_.chunk[axis], shape[axis] - chunk.start[axis]);
  }
  const std::uint64_t row_nbytes = extent[rank - 1] * type_.nbytes;
  while (true) {
    std::uint64_t src = 0, dst = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      src = src * layout_.chunk[axis] + at[axis];
      dst = dst * shape[axis] + chunk.start[axis] + at[axis];
    }
    std::memcpy(to.data() + dst * type_.nbytes, from.data() + src * type_.nbytes, row_nbytes);
    std::size_t axis = rank - 1;
    while (axis > 0 && ++at[axis - 1] == extent[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace plimsoll::h5
