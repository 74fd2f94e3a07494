#include "data/file_stream.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/check.h"
#include "base/files.h"

namespace plimsoll::data {
namespace {

constexpr std::size_t kBufferBytes = 256u << 10;

}  // namespace

struct FileStream::State {
  int file = -1;
  bool is_packed = false;
  z_stream zlib{};
  std::vector<unsigned char> packed;  // read and not yet unpacked
  std::vector<std::byte> buffer;      // unpacked
  std::size_t begin = 0, end = 0;     // of what is left in it
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
  state_->buffer.resize(kBufferBytes);
  if (bits < 0) return;
  state_->packed.resize(kBufferBytes);
  PLIMSOLL_CHECK(inflateInit2(&state_->zlib, bits) == Z_OK, InternalError,
                 "zlib could not be started for '{}'", path);
  state_->is_packed = true;
}
FileStream::~FileStream() = default;

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

bool FileStream::read_line(std::string& line) {
  State& s = *state_;
  line.clear();
  bool is_any = false;
  while (true) {
    if (s.begin == s.end && !fill()) break;
    is_any = true;
    const auto first = s.buffer.begin() + static_cast<std::ptrdiff_t>(s.begin);
    const auto last = s.buffer.begin() + static_cast<std::ptrdiff_t>(s.end);
    const auto found = std::find(first, last, std::byte{'\n'});
    line.append(reinterpret_cast<const char*>(&*first), static_cast<std::size_t>(found - first));
    const auto taken = static_cast<std::size_t>(found - first) + (found == last ? 0 : 1);
    s.begin += taken;
    offset_ += taken;
    if (found == last) continue;
    break;
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return is_any;
}

}  // namespace plimsoll::data
