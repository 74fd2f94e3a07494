// Files, raw bytes, tables of text.
#include "plimsoll/data/io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/files.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "runtime/strings.h"

namespace plimsoll::io {
namespace {

struct File {
  explicit File(int number) : fd(number) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

}  // namespace

Tensor read_file(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct ::stat about {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0) {
    const std::string why = fmt::format("{}; {}", path, std::strerror(errno));
    if (errno == ENOENT) throw NotFoundError(why);
    throw FailedPreconditionError(why);
  }
  PLIMSOLL_CHECK(!S_ISDIR(about.st_mode), FailedPreconditionError, "{} is a directory", path);
  // Straight into the tensor, which is reserved before.
  NewString made = allocate_string(static_cast<std::size_t>(std::max<::off_t>(about.st_size, 0)));
  std::size_t at = 0;
  while (true) {
    char behind[4096];  // beyond the size: it may have grown
    const bool is_behind = at == made.bytes->size();
    const ::ssize_t count = is_behind
                                ? ::read(file.fd, behind, sizeof behind)
                                : ::read(file.fd, made.bytes->data() + at, made.bytes->size() - at);
    if (count < 0 && errno == EINTR) continue;
    PLIMSOLL_CHECK(count >= 0, FailedPreconditionError, "{}; {}", path, std::strerror(errno));
    if (count == 0) break;
    const auto some = static_cast<std::size_t>(count);
    if (is_behind) {
      resize_string(made, at + some);
      std::memcpy(made.bytes->data() + at, behind, some);
    }
    at += some;
  }
  if (at < made.bytes->size()) resize_string(made, at);
  return made.tensor;
}

void write_file(const std::string& path, std::string_view bytes) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  PLIMSOLL_CHECK(file.fd >= 0, FailedPreconditionError, "{}; {}", path, std::strerror(errno));
  while (!bytes.empty()) {
    const ::ssize_t count = ::write(file.fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == ENOSPC || errno == EDQUOT))
      throw ResourceExhaustedError(fmt::format("{}; {}", path, std::strerror(errno)));
    PLIMSOLL_CHECK(count >= 0, FailedPreconditionError, "{}; {}", path, std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

Tensor decode_raw(const Tensor& bytes, DType out_type, bool little_endian,
                  std::int64_t fixed_length) {
  PLIMSOLL_CHECK(bytes.dtype() == DType::kString && out_type != DType::kString,
                 InvalidArgumentError,
                 "decode_raw makes numbers of strings; received {}, and {} to make",
                 dtype_name(bytes.dtype()), dtype_name(out_type));
  const auto size = static_cast<std::size_t>(dtype_size(out_type));
  const std::vector<std::string> texts = bytes.to_vector<std::string>();
  std::size_t length = texts.empty() ? 0 : texts[0].size();
  if (fixed_length) {
    PLIMSOLL_CHECK(fixed_length > 0 && fixed_length % static_cast<std::int64_t>(size) == 0,
                   InvalidArgumentError,
                   "fixed_length ({}) must be a multiple of the size of {} ({})", fixed_length,
                   dtype_name(out_type), size);
    length = static_cast<std::size_t>(fixed_length);
  }
  std::string all;
  all.reserve(length * texts.size());
  for (const std::string& text : texts) {
    PLIMSOLL_CHECK(fixed_length || text.size() == length, InvalidArgumentError,
                   "DecodeRaw requires input strings to all be the same size, but element has size "
                   "{} != {}",
                   text.size(), length);
    all.append(text, 0, length);
    all.resize(all.size() + length - std::min(length, text.size()), '\0');
  }
  PLIMSOLL_CHECK(length % size == 0, InvalidArgumentError,
                 "Input to DecodeRaw has length {} that is not a multiple of {}, the size of {}",
                 length, size, dtype_name(out_type));
  if (!little_endian && size > 1) {
    for (std::size_t at = 0; at < all.size(); at += size)
      std::reverse(all.begin() + static_cast<std::ptrdiff_t>(at),
                   all.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  std::vector<std::int64_t> dims(bytes.shape().dims().begin(), bytes.shape().dims().end());
  dims.push_back(static_cast<std::int64_t>(length / size));
  return interop::copy_from_host(out_type, Shape(std::span<const std::int64_t>(dims)), all.data());
}

}  // namespace plimsoll::io
