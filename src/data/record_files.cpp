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
#include "data/booked_text.h"
#include "data/crc32c.h"
#include "data/file_stream.h"
#include "data/node.h"
#include "data/retry.h"
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

// Reads one file after another. What has no memory for an item says so and can be called again;
// after any other error the next file begins.
class ItemReader {
 public:
  virtual ~ItemReader() = default;
  virtual void begin(FileStream&) {}
  // After an error: whether it is known where the next item is.
  virtual bool can_go_on() const { return false; }
  // Fills `item`, which is empty or holds what a call that threw has read. False at the end.
  virtual bool read(FileStream& file, BookedText& item) = 0;
};

// length, checksum of the length, bytes, checksum of the bytes
class RecordReader : public ItemReader {
 public:
  static constexpr std::uint64_t kPieceBytes = 1u << 20;

  void begin(FileStream&) override { length_.reset(); }
  bool can_go_on() const override { return is_whole_; }
  bool read(FileStream& file, BookedText& record) override {
    is_whole_ = false;
    if (!length_) {
      start_ = file.offset();
      std::byte head[12];
      const std::size_t count = file.read(head);
      if (count == 0) return false;
      if (count < sizeof head) damaged(file, "truncated record");
      if (masked_crc32c(std::span(head).first(8)) != u32_at(head + 8))
        damaged(file, "corrupted record (checksum of its length)");
      length_ = u64_at(head);
      if (*length_ > kMaxRecordBytes) damaged(file, "record of more than 4 GiB");
      is_length_sure_ = false;
      if (*length_ > kPieceBytes) {
        const std::optional<std::uint64_t> left = file.bytes_left();
        if (left && *left < *length_) damaged(file, "truncated record");
        is_length_sure_ = left.has_value();
      }
    }
    while (record.text().size() < *length_) {
      const std::uint64_t left = *length_ - record.text().size();
      // A length that lies about a packed file takes no memory.
      const std::uint64_t some =
          is_length_sure_
              ? left
              : std::min(left, std::max<std::uint64_t>(kPieceBytes, record.text().size()));
      const std::span<std::byte> room = record.extend(static_cast<std::size_t>(some));
      if (file.read(room) < some) damaged(file, "truncated record");
      record.commit(room.size());
    }
    length_.reset();
    std::byte foot[4];
    if (file.read(foot) < sizeof foot) damaged(file, "truncated record");
    is_whole_ = true;
    if (masked_crc32c(std::as_bytes(std::span(record.text()))) != u32_at(foot))
      damaged(file, "corrupted record (checksum of its bytes)");
    return true;
  }

 private:
  [[noreturn]] void damaged(const FileStream& file, const char* what) const {
    throw DataLossError(fmt::format("'{}': {} at byte {}", file.path(), what, start_));
  }

  std::uint64_t start_ = 0;
  std::optional<std::uint64_t> length_;  // of the record that is being read
  bool is_length_sure_ = false;
  bool is_whole_ = false;  // all of its bytes were read, whatever they are
};

class LineReader : public ItemReader {
 public:
  bool read(FileStream& file, BookedText& line) override { return file.read_line(line); }
};

// One record and the footer are read ahead: what is left at the end is the footer.
class FixedLengthReader : public ItemReader {
 public:
  FixedLengthReader(std::size_t header, std::size_t size, std::size_t footer)
      : header_(header),
        size_(size),
        ahead_(static_cast<std::byte*>(memory_.allocate(size + footer)), size + footer) {}

  void begin(FileStream& file) override {
    for (std::size_t left = header_; left > 0;) {
      const std::size_t count = file.read(ahead_.first(std::min(left, ahead_.size())));
      if (count == 0) break;
      left -= count;
    }
    there_ = 0;
  }
  bool read(FileStream& file, BookedText& item) override {
    const std::size_t footer = ahead_.size() - size_;
    if (there_ < ahead_.size()) there_ += file.read(ahead_.subspan(there_));
    if (there_ == footer) return false;
    PLIMSOLL_CHECK(there_ == ahead_.size(), InvalidArgumentError,
                   "Excess bytes in '{}': its records are of {} bytes, and {} are left at byte {}",
                   file.path(), size_, there_ - std::min(there_, footer), file.offset() - there_);
    item.append({reinterpret_cast<const char*>(ahead_.data()), size_});
    std::ranges::copy(ahead_.subspan(size_), ahead_.begin());
    there_ = footer;
    return true;
  }

 private:
  io::LibraryMemory memory_{"FixedLengthRecordDataset"};
  const std::size_t header_, size_;
  const std::span<std::byte> ahead_;
  std::size_t there_ = 0;  // of what is ahead
};

class FilesRun : public Iterator {
 public:
  FilesRun(std::vector<std::string> filenames, std::string compression,
           std::unique_ptr<ItemReader> reader, const memory::Owner& owner)
      : filenames_(std::move(filenames)),
        compression_(std::move(compression)),
        reader_(std::move(reader)),
        item_(owner) {}

  std::optional<Element> next() override {
    while (true) {
      if (!file_) {
        if (at_ == filenames_.size()) return std::nullopt;
        call_or_drop([&] { open(); }, [&] { ++at_; });
      }
      if (auto element = call_or_drop([&] { return read(); }, [&] { drop(); })) return element;
      file_.reset();
    }
  }

 private:
  void open() {
    auto file = std::make_unique<FileStream>(filenames_[at_], compression_);
    reader_->begin(*file);
    file_ = std::move(file);  // not before: without memory it is opened at another try
    ++at_;
  }
  std::optional<Element> read() {
    is_read_ = is_read_ || reader_->read(*file_, item_);
    if (!is_read_) return std::nullopt;
    Element element(item_.take());
    is_read_ = false;  // not before: without memory for it it waits for another try
    return element;
  }
  void drop() {
    item_.clear();
    is_read_ = false;
    if (!reader_->can_go_on()) file_.reset();
  }

  const std::vector<std::string> filenames_;
  const std::string compression_;
  const std::unique_ptr<ItemReader> reader_;
  std::size_t at_ = 0;  // of the next file
  std::unique_ptr<FileStream> file_;
  BookedText item_;
  bool is_read_ = false;
};

struct FilesStep {
  std::vector<std::string> filenames;
  std::string compression;
  memory::Owner owner;
  std::function<std::unique_ptr<ItemReader>()> reader;
  std::uint64_t reader_bytes = 0;  // what a reader holds
  std::uint64_t growth = 1;        // while an item is read: so many times its bytes, at most
};
Dataset over_files(const FilesStep& step) {
  const std::uint64_t kept = FileStream::most_bytes(step.compression) + step.reader_bytes;
  return make_step({.run = [step]() -> std::unique_ptr<Iterator> {
                      return std::make_unique<FilesRun>(step.filenames, step.compression,
                                                        step.reader(), step.owner);
                    },
                    .holds =
                        [kept, growth = step.growth](const Use&, std::uint64_t seen) {
                          return Holds{.element = seen,
                                       .given = seen,
                                       .owned = seen,
                                       .kept = kept,
                                       .busy = kept + growth * seen,
                                       .trust = Trust::kMost};
                        }});
}

memory::Owner owner_of_items(const char* name) {
  return memory::Owner(memory::Tag::kDataset, name);
}

}  // namespace

Dataset TFRecordDataset(const std::vector<std::string>& filenames, const RecordOptions& options) {
  const bool is_packed = window_bits(options.compression_type) >= 0;
  return over_files({.filenames = filenames,
                     .compression = options.compression_type,
                     .owner = owner_of_items("TFRecordDataset"),
                     .reader = [] { return std::make_unique<RecordReader>(); },
                     .growth = is_packed ? 3u : 1u});
}

Dataset TextLineDataset(const std::vector<std::string>& filenames, const RecordOptions& options) {
  return over_files({.filenames = filenames,
                     .compression = options.compression_type,
                     .owner = owner_of_items("TextLineDataset"),
                     .reader = [] { return std::make_unique<LineReader>(); },
                     .growth = 3});
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
  return over_files(
      {.filenames = filenames,
       .compression = options.compression_type,
       .owner = owner_of_items("FixedLengthRecordDataset"),
       .reader = [=] { return std::make_unique<FixedLengthReader>(header, size, footer); },
       .reader_bytes = io::LibraryMemory::booked_bytes(size + footer)});
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
