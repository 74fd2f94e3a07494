#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr std::size_t kMaxPiece = 1u << 30;  // of one call

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

}  // namespace

void throw_file_error(const std::string& path, const char* what) {
  const int error = errno;
  const std::string message = fmt::format("'{}' cannot be {}: {}", path, what, strerror(error));
  if (error == ENOENT) throw NotFoundError(message);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) throw ResourceExhaustedError(message);
  throw FailedPreconditionError(message);
}

std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.tmp", path, ::getpid(), count++);
}

void publish_file(const std::string& temporary, const std::string& path) {
  const int file = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw_file_error(path, "written");
  const bool is_on_disk = ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  errno = error;
  if (!is_on_disk || ::rename(temporary.c_str(), path.c_str()) != 0)
    throw_file_error(path, "written");
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);  // some file systems have no such thing; the file itself is on the disk
  ::close(folder);
}

std::shared_ptr<const int> make_nameless_file() {
  const char* given = std::getenv("TMPDIR");
  std::string name = std::string(given && *given ? given : "/tmp") + "/plimsoll-XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) throw_file_error(name, "made");
  ::unlink(name.c_str());
  return {new int(file), [](const int* f) {
            ::close(*f);
            delete f;
          }};
}

void write_all(int file, std::uint64_t offset, std::span<const std::byte> bytes,
               const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file, bytes.data(), std::min(bytes.size(), kMaxPiece), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error(name, "written");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void read_all(int file, std::uint64_t offset, std::span<std::byte> to, const std::string& name) {
  while (!to.empty()) {
    const ssize_t count =
        ::pread(file, to.data(), std::min(to.size(), kMaxPiece), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_file_error(name, "read");
    if (count == 0)
      throw DataLossError(
          fmt::format("'{}' ends at byte {}; expected {} bytes more", name, offset, to.size()));
    to = to.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

}  // namespace plimsoll
