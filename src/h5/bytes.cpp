#include "h5/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/files.h"

namespace plimsoll::h5 {

static_assert(std::endian::native == std::endian::little, "HDF5 is read in place as little endian");

Source::Source(const std::string& path) : name_(path) {
  open(path);
}

Source::Source(const std::string& path, std::uint64_t offset, std::uint64_t nbytes) : name_(path) {
  open(path);
  if (!has(offset, nbytes)) {
    const std::uint64_t total = size_;
    ::close(file_);
    throw DataLossError(fmt::format("'{}' has {} bytes; expected {} from byte {} on", name_, total,
                                    nbytes, offset));
  }
  start_ = offset;
  size_ = nbytes;
}

Source::Source(std::string name, std::vector<std::byte> bytes)
    : name_(std::move(name)), size_(bytes.size()), memory_(std::move(bytes)) {}

Source::Source(std::string name, std::uint64_t nbytes, ReadAt read_at)
    : name_(std::move(name)), size_(nbytes), read_at_(std::move(read_at)) {}

Source::~Source() {
  if (file_ >= 0) ::close(file_);
}

void Source::open(const std::string& path) {
  // Without O_NONBLOCK the opening of a pipe would wait for a writer.
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) {
    const int error = errno;
    PLIMSOLL_CHECK(error != ENOENT, NotFoundError, "there is no file '{}'", path);
    throw FailedPreconditionError(fmt::format("'{}' cannot be opened: {}", path, strerror(error)));
  }
  struct stat status {};
  if (::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file_);
    throw FailedPreconditionError(fmt::format("'{}' is not a file", path));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void Source::damaged(std::uint64_t offset, std::string_view expected) const {
  throw DataLossError(
      fmt::format("'{}' is damaged at byte {}: expected {}", name_, offset, expected));
}

void Source::unimplemented(std::uint64_t offset, std::string_view what) const {
  throw UnimplementedError(fmt::format("'{}' has at byte {} {}", name_, offset, what));
}

void Source::read(std::uint64_t offset, std::span<std::byte> to, std::string_view what) const {
  if (!has(offset, to.size())) {
    damaged(offset,
            fmt::format("{} ({} bytes), but the file has {} bytes", what, to.size(), size_));
  }
  if (read_at_) {
    std::scoped_lock lock(reading_);
    return read_at_(offset, to);
  }
  if (file_ < 0) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return;
  }
  read_all(file_, start_ + offset, to, name_);
}

std::vector<std::byte> Source::read(std::uint64_t offset, std::uint64_t nbytes,
                                    std::string_view what) const {
  if (!has(offset, nbytes)) {
    damaged(offset, fmt::format("{} ({} bytes), but the file has {} bytes", what, nbytes, size_));
  }
  if (nbytes > kMaxMetadataBytes) {
    damaged(offset,
            fmt::format("{} of at most {} bytes, received {}", what, kMaxMetadataBytes, nbytes));
  }
  std::vector<std::byte> bytes(nbytes);
  read(offset, bytes, what);
  return bytes;
}

std::uint64_t Cursor::uint(std::size_t nbytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, take(nbytes).data(), nbytes);
  return value;
}

std::span<const std::byte> Cursor::take(std::uint64_t nbytes) {
  require(nbytes <= left(), "more bytes before the end of this block");
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(nbytes));
  at_ += taken.size();
  return taken;
}

Cursor Cursor::part(std::uint64_t nbytes) {
  const std::uint64_t start = offset();
  return Cursor(*source_, start, take(nbytes));
}

void Cursor::align(std::size_t alignment) {
  skip((alignment - at_ % alignment) % alignment);
}

std::string Cursor::text(std::uint64_t nbytes) {
  const auto taken = take(nbytes);
  const auto end = std::find(taken.begin(), taken.end(), std::byte{0});
  return std::string(reinterpret_cast<const char*>(taken.data()),
                     static_cast<std::size_t>(end - taken.begin()));
}

void Cursor::signature(std::string_view expected) {
  const std::uint64_t start = offset();
  const auto taken = take(expected.size());
  if (std::memcmp(taken.data(), expected.data(), expected.size()) != 0) {
    source_->damaged(start, fmt::format("the signature {}", expected));
  }
}

namespace {

std::uint32_t rotate(std::uint32_t x, int k) noexcept {
  return std::rotl(x, k);
}

struct Lookup3 {
  std::uint32_t a, b, c;

  void mix() noexcept {
    a -= c, a ^= rotate(c, 4), c += b;
    b -= a, b ^= rotate(a, 6), a += c;
    c -= b, c ^= rotate(b, 8), b += a;
    a -= c, a ^= rotate(c, 16), c += b;
    b -= a, b ^= rotate(a, 19), a += c;
    c -= b, c ^= rotate(b, 4), b += a;
  }
  void finish() noexcept {
    c ^= b, c -= rotate(b, 14);
    a ^= c, a -= rotate(c, 11);
    b ^= a, b -= rotate(a, 25);
    c ^= b, c -= rotate(b, 16);
    a ^= c, a -= rotate(c, 4);
    b ^= a, b -= rotate(a, 14);
    c ^= b, c -= rotate(b, 24);
  }
};

}  // namespace

std::uint32_t checksum(std::span<const std::byte> bytes) noexcept {
  const std::uint32_t start = 0xdeadbeefu + static_cast<std::uint32_t>(bytes.size());
  Lookup3 state{start, start, start};
  if (bytes.empty()) return state.c;
  while (true) {
    std::uint32_t words[3] = {};
    const std::size_t count = std::min<std::size_t>(bytes.size(), 12);
    std::memcpy(words, bytes.data(), count);
    state.a += words[0], state.b += words[1], state.c += words[2];
    if (bytes.size() <= 12) break;
    state.mix();
    bytes = bytes.subspan(12);
  }
  state.finish();
  return state.c;
}

void check_checksum(const Source& source, std::uint64_t offset, std::span<const std::byte> bytes,
                    std::string_view what) {
  source.require(bytes.size() >= 4, offset, "a checksum");
  const auto covered = bytes.first(bytes.size() - 4);
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + covered.size(), 4);
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  const std::uint32_t computed = stored;
#else
  const std::uint32_t computed = checksum(covered);
#endif
  if (stored != computed) {
    source.damaged(offset,
                   fmt::format("{} with checksum {:08x}, received {:08x}", what, computed, stored));
  }
}

}  // namespace plimsoll::h5
