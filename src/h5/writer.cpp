#include "h5/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"
#include "base/files.h"
#include "h5/encoder.h"
#include "h5/object_header.h"
#include "h5/path.h"

namespace plimsoll::h5 {
namespace {

constexpr std::size_t kMaxWriterDepth = 128;
constexpr std::size_t kMaxAttributesPerObject = 65000;
constexpr std::size_t kHeapBytes = 4096;  // the smallest collection that libraries take

bool is_writable(const Type& type) {
  switch (type.kind) {
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
      return type.nbytes == 1 || type.nbytes == 2 || type.nbytes == 4 || type.nbytes == 8;
    case TypeKind::kFloat:
      return type.nbytes == 2 || type.nbytes == 4 || type.nbytes == 8;
    case TypeKind::kBool:
      return type.nbytes == 1;
    case TypeKind::kFixedString:
      return type.nbytes > 0;
    case TypeKind::kString:
      return type.nbytes == 16;
  }
  return false;
}

// The bytes of an array. throws: InvalidArgumentError for one that cannot be written.
std::uint64_t array_nbytes(std::string_view path, const Type& type, const Shape& shape) {
  PLIMSOLL_CHECK(is_writable(type), InvalidArgumentError, "'{}' has a type of {} bytes, {}", path,
                 type.nbytes, type.name());
  PLIMSOLL_CHECK(shape.size() <= kMaxRank, InvalidArgumentError,
                 "'{}' has {} dimensions; HDF5 takes at most {}", path, shape.size(), kMaxRank);
  std::uint64_t nbytes = type.nbytes;
  for (const std::uint64_t size : shape) nbytes = product(nbytes, size);
  PLIMSOLL_CHECK(nbytes <= kMaxElements, InvalidArgumentError, "'{}' is too large", path);
  return nbytes;
}

std::vector<std::byte> message(MessageType type, std::uint8_t flags,
                               std::span<const std::byte> body) {
  Encoder out;
  const std::size_t padded = (body.size() + 7) / 8 * 8;
  out.u16(static_cast<std::uint16_t>(type)).u16(static_cast<std::uint16_t>(padded)).u8(flags);
  return out.zeros(3).bytes(body).align(8).finish();
}

bool is_ascii(std::string_view text) {
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) >= 128) return false;
  }
  return true;
}

}  // namespace

Writer::Writer(std::string path) : path_(std::move(path)) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = temporary_name(path_);
    file_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) return;
    if (errno != EEXIST) break;
  }
  throw_file_error(path_, "written");
}

Writer::~Writer() {
  give_up();
}

void Writer::give_up() noexcept {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
  file_ = -1;
}

void Writer::check_open() const {
  PLIMSOLL_CHECK(file_ >= 0, FailedPreconditionError, "'{}' is finished; nothing can be added",
                 path_);
  PLIMSOLL_CHECK(data_left_ == 0, FailedPreconditionError,
                 "dataset '{}' of '{}' still lacks {} bytes", data_path_, path_, data_left_);
}

Writer::Node& Writer::make_node(std::string_view path, bool is_group) {
  const std::vector<std::string> parts = split_path(path);
  PLIMSOLL_CHECK(parts.size() <= kMaxWriterDepth, InvalidArgumentError,
                 "'{}' is {} groups deep; at most {} are written", path, parts.size(),
                 kMaxWriterDepth);
  PLIMSOLL_CHECK(is_group || !parts.empty(), InvalidArgumentError, "a dataset needs a name");
  PLIMSOLL_CHECK(path.find('\0') == std::string_view::npos, InvalidArgumentError,
                 "a path holds a NUL");
  Node* node = &root_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PLIMSOLL_CHECK(node->is_group, InvalidArgumentError,
                   "'{}' cannot be made in '{}': a dataset stands on the way", path, path_);
    const bool is_last = i + 1 == parts.size();
    const auto [child, is_new] = node->children.try_emplace(parts[i]);
    if (is_new) {
      child->second = std::make_unique<Node>();
      child->second->is_group = !is_last || is_group;
    } else {
      PLIMSOLL_CHECK(!is_last || (is_group && child->second->is_group), InvalidArgumentError,
                     "'{}' is already in '{}'", path, path_);
    }
    node = child->second.get();
  }
  return *node;
}

Writer::Node& Writer::find_node(std::string_view path) {
  Node* node = &root_;
  for (const std::string& part : split_path(path)) {
    const auto child = node->children.find(part);
    PLIMSOLL_CHECK(child != node->children.end(), NotFoundError, "there is no '{}' in '{}'", path,
                   path_);
    node = child->second.get();
  }
  return *node;
}

void Writer::group(std::string_view path) {
  check_open();
  make_node(path, true);
}

void Writer::begin_dataset(std::string_view path, const Type& type, const Shape& shape) {
  check_open();
  const std::uint64_t nbytes = array_nbytes(path, type, shape);
  Node& node = make_node(path, false);
  data_at_ = nbytes == 0 ? kUndefined : allocate(nbytes);
  data_left_ = nbytes;
  data_path_ = path;
  Encoder fill, layout;
  fill.u8(2).u8(2).u8(2).u8(1).u32(0);  // late, if it is set, and it is not
  layout.u8(3).u8(1).u64(data_at_).u64(nbytes);
  node.messages.push_back(message(MessageType::kDataspace, 0, write_space(shape)));
  node.messages.push_back(message(MessageType::kDatatype, 1, write_type(type)));
  node.messages.push_back(message(MessageType::kFillValue, 1, fill.finish()));
  node.messages.push_back(message(MessageType::kLayout, 0, layout.finish()));
}

void Writer::append(std::span<const std::byte> data) {
  PLIMSOLL_CHECK(file_ >= 0 && data.size() <= data_left_, InvalidArgumentError,
                 "dataset '{}' of '{}' takes {} more bytes; received {}", data_path_, path_,
                 data_left_, data.size());
  write_at(data_at_, data);
  data_at_ += data.size();
  data_left_ -= data.size();
}

void Writer::dataset(std::string_view path, const Type& type, const Shape& shape,
                     std::span<const std::byte> data) {
  const std::uint64_t nbytes = array_nbytes(path, type, shape);
  PLIMSOLL_CHECK(nbytes == data.size(), InvalidArgumentError,
                 "'{}' has {} bytes by its shape; received {}", path, nbytes, data.size());
  begin_dataset(path, type, shape);
  append(data);
}

void Writer::dataset(std::string_view path, const std::vector<std::string>& strings,
                     const Shape& shape, const Type& type) {
  check_open();
  dataset(path, type, shape, encode_strings(strings, type));
}

void Writer::attribute(std::string_view path, const std::string& name, const Type& type,
                       const Shape& shape, std::span<const std::byte> data) {
  check_open();
  Node& node = find_node(path);
  const std::uint64_t nbytes = array_nbytes(name, type, shape);
  PLIMSOLL_CHECK(nbytes == data.size(), InvalidArgumentError,
                 "attribute '{}' has {} bytes by its shape; received {}", name, nbytes,
                 data.size());
  PLIMSOLL_CHECK(!name.empty() && name.find('\0') == std::string::npos && name.size() < 32768,
                 InvalidArgumentError,
                 "an attribute needs a name of 1 to 32767 bytes without NUL; received {} bytes",
                 name.size());
  PLIMSOLL_CHECK(node.attribute_order.size() < kMaxAttributesPerObject, InvalidArgumentError,
                 "'{}' has {} attributes; no more are written", path, kMaxAttributesPerObject);
  const std::vector<std::byte> type_bytes = write_type(type);
  const std::vector<std::byte> space_bytes = write_space(shape);
  Encoder out;
  out.u8(3).u8(0).u16(static_cast<std::uint16_t>(name.size() + 1));
  out.u16(static_cast<std::uint16_t>(type_bytes.size()));
  out.u16(static_cast<std::uint16_t>(space_bytes.size()));
  out.u8(is_ascii(name) ? 0 : 1).text(name).u8(0);
  out.bytes(type_bytes).bytes(space_bytes);
  PLIMSOLL_CHECK(out.size() + data.size() <= kMaxAttributeBytes, InvalidArgumentError,
                 "attribute '{}' of '{}' has {} bytes; HDF5 takes at most {} with its name", name,
                 path, data.size(), kMaxAttributeBytes);
  out.bytes(data);
  const bool is_new =
      node.attributes.try_emplace(name, message(MessageType::kAttribute, 0, out.finish())).second;
  PLIMSOLL_CHECK(is_new, InvalidArgumentError, "'{}' already has an attribute '{}'", path, name);
  node.attribute_order.push_back(name);
}

void Writer::attribute(std::string_view path, const std::string& name,
                       const std::vector<std::string>& strings, const Shape& shape,
                       const Type& type) {
  check_open();
  PLIMSOLL_CHECK(product(strings.size(), type.nbytes) <= kMaxAttributeBytes, InvalidArgumentError,
                 "attribute '{}' of '{}' has {} strings of {} bytes; HDF5 takes at most {} bytes",
                 name, path, strings.size(), type.nbytes, kMaxAttributeBytes);
  attribute(path, name, type, shape, encode_strings(strings, type));
}

void Writer::attribute(std::string_view path, const std::string& name, std::int64_t value) {
  attribute(path, name, Type::signed_int(8), {}, std::as_bytes(std::span(&value, 1)));
}

std::vector<std::byte> Writer::encode_strings(const std::vector<std::string>& strings,
                                              const Type& type) {
  PLIMSOLL_CHECK(type.is_string(), InvalidArgumentError, "strings cannot be written as {}",
                 type.name());
  std::vector<std::byte> elements;
  for (const std::string& text : strings) {
    if (type.kind == TypeKind::kString) {
      put_string(text, elements);
      continue;
    }
    PLIMSOLL_CHECK(text.size() <= type.nbytes, InvalidArgumentError,
                   "'{}' has {} bytes; a fixed string takes {}", text, text.size(), type.nbytes);
    const auto bytes = std::as_bytes(std::span(text));
    elements.insert(elements.end(), bytes.begin(), bytes.end());
    elements.resize(elements.size() + type.nbytes - text.size(),
                    static_cast<std::byte>(type.padding));
  }
  return elements;
}

// Into the collection that is being filled; its place in the file is taken when it begins.
void Writer::put_string(const std::string& text, std::vector<std::byte>& elements) {
  PLIMSOLL_CHECK(text.find('\0') == std::string::npos && text.size() < (1u << 30),
                 InvalidArgumentError,
                 "a string of variable length holds no NUL and less than 1 GiB");
  Encoder element;
  if (text.empty()) {
    element.u32(0).u64(0).u32(0);
  } else {
    const std::size_t needed = 16 + (text.size() + 7) / 8 * 8;
    if (heap_address_ == kUndefined || heap_.size() + needed > heap_nbytes_ ||
        heap_count_ == 0xffff) {
      flush_heap();
      heap_nbytes_ = std::max(kHeapBytes, 16 + needed);
      heap_address_ = allocate(heap_nbytes_);
      heap_count_ = 0;
      heap_ = Encoder().text("GCOL").u8(1).zeros(3).u64(heap_nbytes_).finish();
    }
    Encoder object;
    object.u16(++heap_count_).u16(0).u32(0).u64(text.size()).text(text).align(8);
    const std::vector<std::byte> bytes = object.finish();
    heap_.insert(heap_.end(), bytes.begin(), bytes.end());
    element.u32(static_cast<std::uint32_t>(text.size())).u64(heap_address_).u32(heap_count_);
  }
  const std::vector<std::byte> bytes = element.finish();
  elements.insert(elements.end(), bytes.begin(), bytes.end());
}

void Writer::flush_heap() {
  if (heap_address_ == kUndefined) return;
  const std::size_t left = heap_nbytes_ - heap_.size();
  if (left >= 16) {  // an object that says what is free
    const std::vector<std::byte> bytes = Encoder().u16(0).u16(0).u32(0).u64(left).finish();
    heap_.insert(heap_.end(), bytes.begin(), bytes.end());
  }
  heap_.resize(heap_nbytes_);
  write_at(heap_address_, heap_);
  heap_address_ = kUndefined;
}

void Writer::finish() {
  check_open();
  flush_heap();
  write_superblock(write_node(root_));
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) throw_file_error(path_, "written");
  publish_file(temporary_, path_);
  ::close(file_);
  file_ = -1;
}

std::uint64_t Writer::allocate(std::uint64_t nbytes) {
  const std::uint64_t offset = end_;
  end_ += (nbytes + 7) / 8 * 8;
  return offset;
}

void Writer::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  write_all(file_, offset, bytes, path_);
}

std::uint64_t Writer::put(std::span<const std::byte> bytes) {
  const std::uint64_t offset = allocate(bytes.size());
  write_at(offset, bytes);
  return offset;
}

}  // namespace plimsoll::h5
