#include "h5/file.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

#include "base/check.h"
#include "h5/path.h"

namespace plimsoll::h5 {

struct FileState {
  std::unique_ptr<const Source> source;
  std::uint64_t root = kUndefined;  // the address of its header
};

namespace {

constexpr char kSignature[] = "\x89HDF\r\n\x1a\n";

void check_end(const Source& source, std::uint64_t end) {
  PLIMSOLL_CHECK(end <= source.size(), DataLossError,
                 "'{}' is cut short: it says that it has {} bytes, but has {}", source.name(), end,
                 source.size());
}

void check_sizes(Cursor& cursor) {
  const int offset_nbytes = cursor.u8();
  const int length_nbytes = cursor.u8();
  if (offset_nbytes != 8 || length_nbytes != 8) {
    cursor.source().unimplemented(
        cursor.offset(), fmt::format("addresses of {} and lengths of {} bytes; only 8 are read",
                                     offset_nbytes, length_nbytes));
  }
}

std::uint64_t read_old_superblock(const Source& source, int version) {
  const std::uint64_t nbytes = version == 0 ? 96 : 100;
  const auto bytes = source.read(0, nbytes, "a superblock");
  Cursor cursor(source, 0, bytes);
  cursor.skip(8 + 1 + 4);
  check_sizes(cursor);
  cursor.skip(1 + 2 + 2 + 4);
  if (version == 1) cursor.skip(4);
  cursor.require(cursor.u64() == 0, "addresses from the beginning of the file");
  cursor.skip(8);
  check_end(source, cursor.u64());
  if (cursor.u64() != kUndefined)
    source.unimplemented(cursor.offset(), "a driver, which is not read");
  cursor.skip(8);
  return cursor.u64();
}

std::uint64_t read_new_superblock(const Source& source) {
  const auto bytes = source.read(0, 48, "a superblock");
  check_checksum(source, 0, bytes, "a superblock");
  Cursor cursor(source, 0, bytes);
  cursor.skip(8 + 1);
  check_sizes(cursor);
  cursor.skip(1);
  cursor.require(cursor.u64() == 0, "addresses from the beginning of the file");
  cursor.skip(8);
  check_end(source, cursor.u64());
  return cursor.u64();
}

std::uint64_t read_superblock(const Source& source) {
  std::byte start[9] = {};
  if (source.size() >= sizeof start) source.read(0, start, "a superblock");
  PLIMSOLL_CHECK(std::memcmp(start, kSignature, 8) == 0, DataLossError, "'{}' is not an HDF5 file",
                 source.name());
  const int version = static_cast<int>(start[8]);
  source.require(version <= 3, 8, "a superblock of version 0 to 3");
  return version <= 1 ? read_old_superblock(source, version) : read_new_superblock(source);
}

void prepend_parts(std::string_view path, std::deque<std::string>& parts) {
  const std::vector<std::string> own = split_path(path);
  PLIMSOLL_CHECK(own.size() + parts.size() <= kMaxPathParts, InvalidArgumentError,
                 "a path has {} parts; at most {} are followed", own.size() + parts.size(),
                 kMaxPathParts);
  parts.insert(parts.begin(), own.begin(), own.end());
}

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? group + name : group + "/" + name;
}

}  // namespace

Object::Object(std::shared_ptr<const FileState> file, std::uint64_t address, std::string path)
    : file_(std::move(file)),
      address_(address),
      path_(std::move(path)),
      messages_(read_object_header(*file_->source, address)) {}

std::uint64_t Object::header_nbytes() const noexcept {
  std::uint64_t nbytes = 0;
  for (const Message& message : messages_) nbytes += message.body.size();
  return nbytes;
}

std::uint64_t Object::file_nbytes() const noexcept {
  return file_->source->size();
}

bool Object::is_group() const noexcept {
  return h5::is_group(messages_);
}

bool Object::is_dataset() const noexcept {
  return find_message(messages_, MessageType::kLayout) != nullptr;
}

std::vector<Link> Object::links() const {
  PLIMSOLL_CHECK(is_group(), InvalidArgumentError, "'{}' in '{}' is not a group", path_,
                 file_->source->name());
  return read_links(*file_->source, messages_);
}

std::vector<std::string> Object::link_names() const {
  std::vector<std::string> names;
  for (Link& link : links()) names.push_back(std::move(link.name));
  return names;
}

bool Object::has(std::string_view path) const {
  try {
    find(path);
    return true;
  } catch (const NotFoundError&) {
    return false;
  }
}

Object Object::find(std::string_view path) const {
  Object at = path.starts_with('/') ? Object(file_, file_->root, "/") : *this;
  std::deque<std::string> parts;
  prepend_parts(path, parts);
  int num_soft_links = 0;
  while (!parts.empty()) {
    const std::string name = std::move(parts.front());
    parts.pop_front();
    PLIMSOLL_CHECK(at.is_group(), NotFoundError, "there is no '{}' in '{}': '{}' is not a group",
                   path, file_->source->name(), at.path_);
    const std::vector<Link> links = at.links();
    const auto link =
        std::lower_bound(links.begin(), links.end(), name,
                         [](const Link& a, const std::string& b) { return a.name < b; });
    PLIMSOLL_CHECK(link != links.end() && link->name == name, NotFoundError,
                   "there is no '{}' in '{}': group '{}' has no '{}'", path, file_->source->name(),
                   at.path_, name);
    switch (link->kind) {
      case LinkKind::kHard:
        at = Object(file_, link->address, join(at.path_, name));
        break;
      case LinkKind::kSoft:
        PLIMSOLL_CHECK(++num_soft_links <= kMaxSoftLinks, DataLossError,
                       "'{}' in '{}' leads over more than {} soft links", path,
                       file_->source->name(), kMaxSoftLinks);
        prepend_parts(link->target, parts);
        if (link->target.starts_with('/')) at = Object(file_, file_->root, "/");
        break;
      case LinkKind::kExternal:
        throw UnimplementedError(
            fmt::format("'{}' in '{}' is a link to another file, which is not opened",
                        join(at.path_, name), file_->source->name()));
    }
  }
  return at;
}

Object Object::follow(const Link& link) const {
  if (link.kind != LinkKind::kHard) return find(link.name);
  return Object(file_, link.address, join(path_, link.name));
}

Dataset Object::dataset() const {
  PLIMSOLL_CHECK(is_dataset(), InvalidArgumentError, "'{}' in '{}' is not a dataset", path_,
                 file_->source->name());
  return Dataset(std::shared_ptr<const Source>(file_, file_->source.get()), path_, messages_);
}

std::vector<std::string> Object::attribute_names() const {
  return h5::attribute_names(*file_->source, messages_);
}

bool Object::has_attribute(std::string_view name) const {
  const std::vector<std::string> names = attribute_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

Attribute Object::attribute(std::string_view name) const {
  return read_attribute(std::shared_ptr<const Source>(file_, file_->source.get()), messages_, name);
}

File::File(const std::string& path) {
  open(std::make_unique<Source>(path));
}

File::File(const std::string& path, std::uint64_t offset, std::uint64_t nbytes) {
  open(std::make_unique<Source>(path, offset, nbytes));
}

File::File(std::string name, std::vector<std::byte> bytes) {
  open(std::make_unique<Source>(std::move(name), std::move(bytes)));
}

File::File(std::string name, std::uint64_t nbytes, Source::ReadAt read_at) {
  open(std::make_unique<Source>(std::move(name), nbytes, std::move(read_at)));
}

void File::open(std::unique_ptr<const Source> source) {
  auto state = std::make_shared<FileState>();
  state->root = read_superblock(*source);
  state->source = std::move(source);
  state_ = std::move(state);
}

Object File::root() const {
  return Object(state_, state_->root, "/");
}

namespace {

constexpr std::uint64_t kLinkBytes = 4;  // a link takes more than that beside its message

// Objects and links share no bytes in a sound file, so their sum shows where a walk would not end.
struct Walk {
  const std::function<void(const Object&)>& visit;
  std::set<std::uint64_t> seen;  // addresses
  std::uint64_t nbytes = 0;      // of headers and links

  void spend(const Object& object, std::uint64_t amount) {
    nbytes += amount;
    PLIMSOLL_CHECK(nbytes <= object.file_nbytes(), DataLossError,
                   "the groups of a file share links or headers; seen at '{}'", object.path());
  }

  void run(const Object& object, int depth) {
    PLIMSOLL_CHECK(depth <= kMaxGroupDepth, DataLossError, "group '{}' is more than {} groups deep",
                   object.path(), kMaxGroupDepth);
    if (!seen.insert(object.address()).second) return;
    spend(object, object.header_nbytes());
    visit(object);
    if (!object.is_group()) return;
    const std::vector<Link> links = object.links();
    spend(object, links.size() * kLinkBytes);
    for (const Link& link : links) {
      if (link.kind == LinkKind::kHard && !seen.contains(link.address)) {
        run(object.follow(link), depth + 1);
      }
    }
  }
};

}  // namespace

void for_each_object(const Object& object, const std::function<void(const Object&)>& visit) {
  Walk{visit, {}}.run(object, 0);
}

}  // namespace plimsoll::h5
