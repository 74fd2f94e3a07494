#include "data/file_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/files.h"
#include "data/zlib_memory.h"

namespace plimsoll::data {
namespace {

constexpr std::size_t kBufferBytes = 256u << 10;
constexpr std::size_t kInflateBytes = 64u << 10;  // a window of 32 KiB and tables

// As long as the file, which may grow, and not longer than kBufferBytes.
std::size_t buffer_bytes(int file) {
  struct ::stat about {};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return kBufferBytes;
  return std::clamp(static_cast<std::size_t>(about.st_size), std::size_t{4096}, kBufferBytes);
}

}  // namespace

struct FileStream::State {
  io::LibraryMemory memory{"read"};
  io::ZlibMemory for_zlib{memory};
  int file = -1;
  bool is_packed = false;
  z_stream zlib{};
  std::span<unsigned char> packed;  // read and not yet unpacked
  std::span<std::byte> buffer;      // unpacked
  std::size_t begin = 0, end = 0;   // of what is left in it
  bool is_over = false;

  ~State() {
    if (is_packed) inflateEnd(&zlib);
    if (file >= 0) ::close(file);
  }
};

int window_bits(const std::string& compression_type) {
  if (compression_type.empty() || compression_type == "NONE") return -1;
  if (compression_type == "GZIP") return 15 + 16;
  if (compression_type == "ZLIB") return 15;
  throw InvalidArgumentError("Unsupported compression_type: " + compression_type +
                             ". There are \"\", \"GZIP\" and \"ZLIB\"");
}

FileStream::FileStream(const std::string& path, const std::string& compression_type)
    : state_(std::make_unique<State>()), path_(path) {
  const int bits = window_bits(compression_type);
  state_->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state_->file < 0) throw_file_error(path, "opened");
  const std::size_t nbytes = buffer_bytes(state_->file);
  const std::size_t unpacked = bits < 0 ? nbytes : kBufferBytes;
  state_->buffer = {static_cast<std::byte*>(state_->memory.allocate(unpacked)), unpacked};
  if (bits < 0) return;
  state_->packed = {static_cast<unsigned char*>(state_->memory.allocate(nbytes)), nbytes};
  state_->for_zlib.begin(state_->zlib, kInflateBytes);
  PLIMSOLL_CHECK(inflateInit2(&state_->zlib, bits) == Z_OK, InternalError,
                 "zlib could not be started for '{}'", path);
  state_->is_packed = true;
}
FileStream::~FileStream() = default;

std::uint64_t FileStream::most_bytes(const std::string& compression_type) {
  constexpr std::uint64_t kBuffer = io::LibraryMemory::booked_bytes(kBufferBytes);
  if (window_bits(compression_type) < 0) return kBuffer;
  return 2 * kBuffer + io::LibraryMemory::booked_bytes(kInflateBytes);
}

bool FileStream::fill() {
  State& s = *state_;
  if (s.is_over) return false;
  const auto read_some = [&](void* to, std::size_t nbytes) {
    while (true) {
      const ssize_t count = ::read(s.file, to, nbytes);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw_file_error(path_, "read");
    }
  };
  s.begin = s.end = 0;
  if (!s.is_packed) {
    s.end = read_some(s.buffer.data(), s.buffer.size());
    s.is_over = s.end == 0;
    return s.end > 0;
  }
  while (s.end == 0) {
    if (s.zlib.avail_in == 0) {
      s.zlib.next_in = s.packed.data();
      s.zlib.avail_in = static_cast<uInt>(read_some(s.packed.data(), s.packed.size()));
      if (s.zlib.avail_in == 0) {
        s.is_over = true;
        return false;
      }
    }
    s.zlib.next_out = reinterpret_cast<unsigned char*>(s.buffer.data());
    s.zlib.avail_out = static_cast<uInt>(s.buffer.size());
    const int code = inflate(&s.zlib, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) s.memory.check();
    PLIMSOLL_CHECK(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR, DataLossError,
                   "'{}' is damaged: {} after {} bytes", path_,
                   s.zlib.msg ? s.zlib.msg : "it does not unpack", offset_);
    s.end = s.buffer.size() - s.zlib.avail_out;
    if (code == Z_STREAM_END) inflateReset(&s.zlib);  // there may be another behind it
  }
  return true;
}

std::size_t FileStream::read(std::span<std::byte> to) {
  State& s = *state_;
  std::size_t count = 0;
  while (count < to.size()) {
    if (s.begin == s.end && !fill()) break;
    const std::size_t some = std::min(to.size() - count, s.end - s.begin);
    std::copy_n(s.buffer.begin() + static_cast<std::ptrdiff_t>(s.begin), some,
                to.begin() + static_cast<std::ptrdiff_t>(count));
    s.begin += some;
    count += some;
  }
  offset_ += count;
  return count;
}

bool FileStream::read_line(BookedText& line) {
  State& s = *state_;
  bool is_any = !line.text().empty();  // it goes on
  bool is_whole = false;
  while (!is_whole && (s.begin < s.end || fill())) {
    is_any = true;
    const std::string_view there(reinterpret_cast<const char*>(s.buffer.data()) + s.begin,
                                 s.end - s.begin);
    const std::string_view some = there.substr(0, there.find('\n'));
    is_whole = some.size() < there.size();
    line.append(some);
    const std::size_t taken = some.size() + (is_whole ? 1 : 0);
    s.begin += taken;
    offset_ += taken;
  }
  if (line.text().ends_with('\r')) line.shorten(1);
  return is_any;
}

std::optional<std::uint64_t> FileStream::bytes_left() const {
  struct ::stat about {};
  if (state_->is_packed || ::fstat(state_->file, &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(about.st_size);
  return size - std::min(size, offset_);
}

}  // namespace plimsoll::data
