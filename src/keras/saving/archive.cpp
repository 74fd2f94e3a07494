#include "keras/saving/archive.h"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/files.h"

namespace plimsoll::keras {
namespace {

using ZipFile = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

constexpr std::size_t kPieceBytes = 1u << 20;

std::string text_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

Archive::Archive(const std::string& path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) throw_file_error(path, "opened");
  int code = 0;
  zip_t* opened = zip_fdopen(file, ZIP_CHECKCONS, &code);
  if (!opened) {
    ::close(file);
    throw DataLossError(
        fmt::format("'{}' is not a zip archive, which .keras files are: {}", path, text_of(code)));
  }
  zip_.reset(opened, zip_discard);
  const zip_int64_t count = zip_get_num_entries(opened, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t entry;
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(opened, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &entry) != 0 ||
        (entry.valid & kNeeded) != kNeeded)
      damaged(fmt::format("number {}", i), "an entry with a name and a size");
    members_.push_back(
        {entry.name, entry.size, entry.comp_size, entry.comp_method == ZIP_CM_STORE});
  }
}

const Archive::Member* Archive::find(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find_if(members_, [&](const Member& m) { return m.name == name; });
  return found == members_.end() ? nullptr : &*found;
}
std::uint64_t Archive::index_of(const Member& member) const noexcept {
  return static_cast<std::uint64_t>(&member - members_.data());
}

void Archive::damaged(std::string_view member, std::string_view expected) const {
  throw DataLossError(
      fmt::format("'{}' is damaged: member {}: expected {}", path_, member, expected));
}

const Archive::Member& Archive::get(std::string_view name) const {
  const Member* member = find(name);
  PLIMSOLL_CHECK(member, DataLossError, "'{}' has no member '{}', which .keras files have", path_,
                 name);
  if (member->nbytes / kMaxExpansion > member->stored_nbytes)
    damaged(name, fmt::format("fewer than {} bytes out of {} that are stored", member->nbytes,
                              member->stored_nbytes));
  return *member;
}

std::string Archive::text(std::string_view name) const {
  const Member& member = get(name);
  if (member.nbytes > kMaxTextBytes)
    damaged(name, fmt::format("at most {} bytes, it has {}", kMaxTextBytes, member.nbytes));
  const ZipFile file(zip_fopen_index(zip_.get(), index_of(member), 0), zip_fclose);
  if (!file) damaged(name, fmt::format("a member that opens ({})", zip_strerror(zip_.get())));
  std::string text(member.nbytes, '\0');
  std::size_t at = 0;
  char end = 0;
  while (at < text.size()) {
    const zip_int64_t count = zip_fread(file.get(), text.data() + at, text.size() - at);
    if (count <= 0) damaged(name, fmt::format("{} bytes, found {}", text.size(), at));
    at += static_cast<std::size_t>(count);
  }
  if (zip_fread(file.get(), &end, 1) != 0) damaged(name, "its checksum to hold");
  return text;
}

h5::File Archive::h5_file(std::string_view name) const {
  const Member& member = get(name);
  if (!member.is_stored) return unpacked(member);
  std::shared_ptr<zip_file_t> file(zip_fopen_index(zip_.get(), index_of(member), 0),
                                   [zip = zip_](zip_file_t* f) {
                                     if (f) zip_fclose(f);
                                   });
  if (!file) damaged(name, fmt::format("a member that opens ({})", zip_strerror(zip_.get())));
  const std::string label = path_ + ":" + member.name;
  const auto read_at = [file, label](std::uint64_t offset, std::span<std::byte> to) {
    if (zip_fseek(file.get(), static_cast<zip_int64_t>(offset), SEEK_SET) != 0)
      throw DataLossError(fmt::format("'{}' cannot be read at byte {}", label, offset));
    while (!to.empty()) {
      const zip_int64_t count = zip_fread(file.get(), to.data(), to.size());
      if (count <= 0)
        throw DataLossError(fmt::format("'{}' is damaged at byte {}: expected {} bytes more", label,
                                        offset, to.size()));
      to = to.subspan(static_cast<std::size_t>(count));
    }
  };
  return h5::File(label, member.nbytes, read_at);
}

h5::File Archive::unpacked(const Member& member) const {
  const std::string label = path_ + ":" + member.name;
  const ZipFile from(zip_fopen_index(zip_.get(), index_of(member), 0), zip_fclose);
  if (!from)
    damaged(member.name, fmt::format("a member that opens ({})", zip_strerror(zip_.get())));
  const std::shared_ptr<const int> file = make_nameless_file();
  std::vector<char> piece(kPieceBytes);
  std::uint64_t at = 0;
  for (;;) {
    const zip_int64_t count = zip_fread(from.get(), piece.data(), piece.size());
    if (count < 0)
      damaged(member.name,
              fmt::format("data that unpacks, at byte {} ({})", at, zip_file_strerror(from.get())));
    if (count == 0) break;
    if (at + static_cast<std::uint64_t>(count) > member.nbytes)
      damaged(member.name, fmt::format("{} bytes, found more", member.nbytes));
    write_all(*file, at, std::as_bytes(std::span(piece).first(static_cast<std::size_t>(count))),
              label);
    at += static_cast<std::uint64_t>(count);
  }
  if (at != member.nbytes)
    damaged(member.name, fmt::format("{} bytes, found {}", member.nbytes, at));
  return h5::File(label, member.nbytes,
                  [file, label](std::uint64_t offset, std::span<std::byte> to) {
                    read_all(*file, offset, to, label);
                  });
}

ArchiveWriter::ArchiveWriter(std::string path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  int code = 0;
  errno = 0;
  zip_ = zip_open(temporary_.c_str(), ZIP_CREATE | ZIP_EXCL, &code);
  PLIMSOLL_CHECK(zip_, FailedPreconditionError, "'{}' cannot be written: {}", path_, text_of(code));
}

ArchiveWriter::~ArchiveWriter() {
  if (zip_) zip_discard(zip_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void ArchiveWriter::add(const std::string& name, zip_source_t* source) {
  const zip_int64_t index =
      source ? zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    zip_source_free(source);
    throw FailedPreconditionError(
        fmt::format("'{}' cannot be written: {}: {}", path_, name, zip_strerror(zip_)));
  }
  zip_set_file_compression(zip_, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
}

void ArchiveWriter::add_text(const std::string& name, std::string text) {
  const std::string& kept = *texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
  add(name, zip_source_buffer(zip_, kept.data(), kept.size(), 0));
}

void ArchiveWriter::add_file(const std::string& name, const std::string& path) {
  add(name, zip_source_file(zip_, path.c_str(), 0, -1));
}

void ArchiveWriter::finish() {
  errno = 0;
  if (zip_close(zip_) != 0) {
    const int error = zip_error_code_system(zip_get_error(zip_));
    const std::string message =
        fmt::format("'{}' cannot be written: {}", path_, zip_strerror(zip_));
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) throw ResourceExhaustedError(message);
    throw FailedPreconditionError(message);
  }
  zip_ = nullptr;
  publish_file(temporary_, path_);
  temporary_.clear();
}

}  // namespace plimsoll::keras
