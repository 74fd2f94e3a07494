// Datasets of files: records, lines, pieces of one length.
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/files.h"
#include "data/crc32c.h"
#include "data/file_stream.h"
#include "data/node.h"
#include "data/zlib_memory.h"
#include "plimsoll/data/files.h"
#include "plimsoll/ops.h"

namespace plimsoll::data {
namespace {

constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{1} << 32;

std::uint64_t u64_at(const std::byte* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, 8);
  return value;
}
std::uint32_t u32_at(const std::byte* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, 4);
  return value;
}

// length, checksum of the length, bytes, checksum of the bytes. False at the end of the file.
bool read_record(FileStream& file, std::string& record) {
  const std::uint64_t start = file.offset();
  const auto damaged = [&](const char* what) {
    throw DataLossError(fmt::format("'{}': {} at byte {}", file.path(), what, start));
  };
  std::byte head[12];
  const std::size_t count = file.read(head);
  if (count == 0) return false;
  if (count < sizeof head) damaged("truncated record");
  if (masked_crc32c(std::span(head).first(8)) != u32_at(head + 8))
    damaged("corrupted record (checksum of its length)");
  const std::uint64_t length = u64_at(head);
  if (length > kMaxRecordBytes) damaged("record of more than 4 GiB");
  // In pieces: a length that lies about the file takes no memory.
  record.clear();
  constexpr std::uint64_t kPiece = 1u << 20;
  while (record.size() < length) {
    const std::size_t at = record.size();
    const std::size_t some = static_cast<std::size_t>(std::min(kPiece, length - at));
    record.resize(at + some);
    if (file.read(std::as_writable_bytes(std::span(record)).subspan(at)) < some)
      damaged("truncated record");
  }
  std::byte foot[4];
  if (file.read(foot) < sizeof foot) damaged("truncated record");
  if (masked_crc32c(std::as_bytes(std::span(record))) != u32_at(foot))
    damaged("corrupted record (checksum of its bytes)");
  return true;
}

// An element, and the buffers of a file.
std::function<Holds(Depth, std::uint64_t)> held_by_files(const std::string& compression) {
  const std::uint64_t buffers = FileStream::most_bytes(compression);
  return [buffers](Depth, std::uint64_t seen) {
    return Holds{
        .element = seen, .given = seen, .kept = buffers, .busy = buffers + seen, .is_exact = false};
  };
}

// What `read` gives of one file after the other. It has the stream and makes an element, or none at
// the end.
using ReadOne = std::function<bool(FileStream& file, std::string& item)>;
Dataset over_files(const std::vector<std::string>& filenames, const std::string& compression,
                   const ReadOne& read) {
  window_bits(compression);
  return make_step(
      {.run =
           [filenames, compression, read] {
             return make_run([filenames, compression, read, at = std::size_t{0},
                              file = std::shared_ptr<FileStream>(), item = std::string(),
                              is_read = false]() mutable -> std::optional<Element> {
               while (true) {
                 if (!file) {
                   if (at == filenames.size()) return std::nullopt;
                   file = std::make_shared<FileStream>(filenames[at], compression);
                   ++at;
                 }
                 is_read = is_read || read(*file, item);
                 if (is_read) {
                   Element element(constant(item));
                   is_read = false;  // not before: without memory for it it waits for another try
                   return element;
                 }
                 file.reset();
               }
             });
           },
       .holds = held_by_files(compression)});
}

}  // namespace

Dataset TFRecordDataset(const std::vector<std::string>& filenames, const RecordOptions& options) {
  return over_files(filenames, options.compression_type, read_record);
}

Dataset TextLineDataset(const std::vector<std::string>& filenames, const RecordOptions& options) {
  return over_files(filenames, options.compression_type,
                    [](FileStream& file, std::string& line) { return file.read_line(line); });
}

Dataset FixedLengthRecordDataset(const std::vector<std::string>& filenames,
                                 std::int64_t record_bytes, const FixedLengthOptions& options) {
  PLIMSOLL_CHECK(record_bytes > 0 && options.header_bytes >= 0 && options.footer_bytes >= 0,
                 InvalidArgumentError,
                 "record_bytes has to be positive, header_bytes and footer_bytes not negative. "
                 "Received: {}, {}, {}",
                 record_bytes, options.header_bytes, options.footer_bytes);
  const auto size = static_cast<std::size_t>(record_bytes);
  const auto header = static_cast<std::size_t>(options.header_bytes);
  const auto footer = static_cast<std::size_t>(options.footer_bytes);
  // One record and the footer are read ahead: what is left at the end is the footer.
  const auto read = [size, footer](FileStream& file, std::string& item) {
    std::string ahead = std::move(item);
    const std::size_t there = ahead.size();
    ahead.resize(size + footer);
    const std::size_t count =
        there + file.read(std::as_writable_bytes(std::span(ahead)).subspan(there));
    ahead.resize(count);
    if (count == footer) return false;
    PLIMSOLL_CHECK(count == size + footer, InvalidArgumentError,
                   "Excess bytes in '{}': its records are of {} bytes, and {} are left at byte {}",
                   file.path(), size, count - std::min(count, footer), file.offset() - count);
    item = std::move(ahead);
    return true;
  };
  window_bits(options.compression_type);
  return make_step({.run =
                        [filenames, header, size, read, compression = options.compression_type] {
                          return make_run(
                              [filenames, header, size, read, compression, at = std::size_t{0},
                               file = std::shared_ptr<FileStream>(), ahead = std::string(),
                               is_read = false]() mutable -> std::optional<Element> {
                                while (true) {
                                  if (!file) {
                                    if (at == filenames.size()) return std::nullopt;
                                    file = std::make_shared<FileStream>(filenames[at], compression);
                                    ++at;
                                    std::string skipped(header, '\0');
                                    file->read(std::as_writable_bytes(std::span(skipped)));
                                    ahead.clear();
                                  }
                                  is_read = is_read || read(*file, ahead);
                                  if (is_read) {
                                    const Element record(constant(ahead.substr(0, size)));
                                    is_read = false;
                                    ahead.erase(0, size);
                                    return record;
                                  }
                                  file.reset();
                                }
                              });
                        },
                    .holds = held_by_files(options.compression_type)});
}

Dataset list_files(const std::string& pattern, bool shuffle, std::optional<std::int64_t> seed) {
  return list_files(std::vector<std::string>{pattern}, shuffle, seed);
}

Dataset list_files(const std::vector<std::string>& patterns, bool shuffle,
                   std::optional<std::int64_t> seed) {
  std::vector<std::string> names;
  for (const std::string& pattern : patterns) {
    glob_t found{};
    if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
      names.insert(names.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
  }
  std::ranges::sort(names);
  PLIMSOLL_CHECK(!names.empty(), InvalidArgumentError, "No files matched pattern: {}",
                 fmt::join(patterns, ", "));
  const Dataset listed = Dataset::from_tensor_slices(constant(
      std::span<const std::string>(names), Shape{static_cast<std::int64_t>(names.size())}));
  return shuffle ? listed.shuffle(static_cast<std::int64_t>(names.size()), {.seed = seed}) : listed;
}

}  // namespace plimsoll::data

namespace plimsoll::io {

struct TFRecordWriter::State {
  static constexpr std::size_t kBufferBytes = 256u << 10;
  static constexpr std::size_t kDeflateBytes = 288u << 10;  // window, hash chains, codes that wait

  LibraryMemory memory{"TFRecordWriter"};
  ZlibMemory for_zlib{memory};
  std::string path;
  int file = -1;
  std::uint64_t offset = 0;
  bool is_packed = false;
  z_stream zlib{};
  std::span<std::byte> buffer;  // packed bytes; or those that wait to be written in larger pieces
  std::size_t waiting = 0;

  void put(std::span<const std::byte> bytes, int flush) {
    if (!is_packed) {
      if (bytes.size() > buffer.size() - waiting) write_waiting();
      if (bytes.size() > buffer.size()) return write(bytes);
      std::ranges::copy(bytes, buffer.begin() + static_cast<std::ptrdiff_t>(waiting));
      waiting += bytes.size();
      return;
    }
    zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    zlib.avail_in = static_cast<uInt>(bytes.size());
    do {
      zlib.next_out = reinterpret_cast<unsigned char*>(buffer.data());
      zlib.avail_out = static_cast<uInt>(buffer.size());
      deflate(&zlib, flush);
      write(buffer.first(buffer.size() - zlib.avail_out));
    } while (zlib.avail_out == 0);
  }
  void write(std::span<const std::byte> bytes) {
    write_all(file, offset, bytes, path);
    offset += bytes.size();
  }
  void write_waiting() {
    write(buffer.first(waiting));
    waiting = 0;
  }
  void close() {
    if (file < 0) return;
    const int closed = std::exchange(file, -1);
    if (is_packed) deflateEnd(&zlib);
    is_packed = false;
    if (::close(closed) != 0) throw_file_error(path, "written");
  }
};

TFRecordWriter::TFRecordWriter(const std::string& path, const std::string& compression_type)
    : state_(std::make_unique<State>()) {
  const int bits = data::window_bits(compression_type);
  state_->path = path;
  state_->buffer = {static_cast<std::byte*>(state_->memory.allocate(State::kBufferBytes)),
                    State::kBufferBytes};
  if (bits >= 0) state_->for_zlib.begin(state_->zlib, State::kDeflateBytes);
  state_->file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (state_->file < 0) throw_file_error(path, "written");
  if (bits < 0) return;
  state_->is_packed = deflateInit2(&state_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, bits, 8,
                                   Z_DEFAULT_STRATEGY) == Z_OK;
  PLIMSOLL_CHECK(state_->is_packed, InternalError, "zlib could not be started for '{}'", path);
}

TFRecordWriter::~TFRecordWriter() {
  try {
    close();
  } catch (const std::exception&) {  // who wants to know closes it
  }
}

void TFRecordWriter::write(std::string_view record) {
  PLIMSOLL_CHECK(state_->file >= 0, FailedPreconditionError, "'{}' is closed", state_->path);
  const auto bytes = std::as_bytes(std::span(record));
  std::byte head[12], foot[4];
  const std::uint64_t length = record.size();
  std::memcpy(head, &length, 8);
  const std::uint32_t of_length = data::masked_crc32c(std::span(head).first(8)),
                      of_bytes = data::masked_crc32c(bytes);
  std::memcpy(head + 8, &of_length, 4);
  std::memcpy(foot, &of_bytes, 4);
  state_->put(head, Z_NO_FLUSH);
  if (!record.empty()) state_->put(bytes, Z_NO_FLUSH);
  state_->put(foot, Z_NO_FLUSH);
}

void TFRecordWriter::flush() {
  if (state_->file < 0) return;
  state_->is_packed ? state_->put({}, Z_SYNC_FLUSH) : state_->write_waiting();
}
void TFRecordWriter::close() {
  if (state_->file < 0) return;
  state_->is_packed ? state_->put({}, Z_FINISH) : state_->write_waiting();
  state_->close();
}

}  // namespace plimsoll::io
