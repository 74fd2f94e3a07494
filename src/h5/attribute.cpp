#include "h5/attribute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "base/check.h"
#include "h5/btree.h"
#include "h5/heap.h"
#include "h5/strings.h"

namespace plimsoll::h5 {
namespace {

constexpr int kAttributeNames = 8;  // type of the B-tree
constexpr std::size_t kMaxAttributes = 1u << 16;

// The parts of an attribute message of version 1 to 3.
struct Parts {
  std::string name;
  Cursor type, space, data;
  bool is_shared;
};

Parts split(Cursor cursor) {
  const int version = cursor.u8();
  cursor.require(version >= 1 && version <= 3, "an attribute of version 1 to 3");
  const std::uint8_t flags = cursor.u8();
  const std::uint16_t name_nbytes = cursor.u16();
  const std::uint16_t type_nbytes = cursor.u16();
  const std::uint16_t space_nbytes = cursor.u16();
  if (version == 3) cursor.skip(1);  // character set
  const auto part = [&](std::uint16_t nbytes) {
    Cursor whole = cursor.part(version == 1 ? (nbytes + 7u) / 8 * 8 : nbytes);
    return whole.part(nbytes);
  };
  Cursor name = part(name_nbytes);
  const Cursor type = part(type_nbytes);
  const Cursor space = part(space_nbytes);
  return {name.text(name_nbytes), type, space, cursor, version > 1 && (flags & 3) != 0};
}

// Calls `visit` with each attribute until it says false.
void for_each(const Source& source, const std::vector<Message>& messages,
              const std::function<bool(const Parts&)>& visit) {
  std::size_t count = 0;
  for (const Message& message : messages) {
    if (message.type != MessageType::kAttribute) continue;
    if (message.is_shared)
      source.unimplemented(message.offset, "a shared attribute, which is not read");
    if (!visit(split(message.cursor(source)))) return;
  }
  const Message* info = find_message(messages, MessageType::kAttributeInfo);
  if (info == nullptr) return;
  Cursor cursor = info->cursor(source);
  cursor.require(cursor.u8() == 0, "version 0 of the attributes of an object");
  if (cursor.u8() & 1) cursor.skip(2);
  const std::uint64_t heap_address = cursor.u64();
  const std::uint64_t tree = cursor.u64();
  if (heap_address == kUndefined || tree == kUndefined) return;
  FractalHeap heap(source, heap_address);
  bool is_wanted = true;
  walk_tree_v2(source, tree, kAttributeNames, [&](Cursor record) {
    if (!is_wanted) return;
    record.require(++count <= kMaxAttributes, "fewer attributes");
    const FractalHeap::Object object = heap.object(record.part(8));
    if (record.u8() & 2)
      source.unimplemented(record.offset(), "a shared attribute, which is not read");
    is_wanted = visit(split(Cursor(source, object.offset, object.bytes)));
  });
}

template <class T>
T element(std::span<const std::byte> raw, std::size_t i) {
  T value;
  std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = mantissa != 0 ? NAN : INFINITY;
  } else {
    value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  }
  return bits >> 15 ? -value : value;
}

double number(const Type& type, std::span<const std::byte> raw, std::size_t i) {
  if (type.kind == TypeKind::kFloat) {
    if (type.nbytes == 2) return half_to_double(element<std::uint16_t>(raw, i));
    return type.nbytes == 4 ? element<float>(raw, i) : element<double>(raw, i);
  }
  const bool is_signed = type.kind == TypeKind::kSigned;
  switch (type.nbytes) {
    case 1:
      return is_signed ? element<std::int8_t>(raw, i) : element<std::uint8_t>(raw, i);
    case 2:
      return is_signed ? element<std::int16_t>(raw, i) : element<std::uint16_t>(raw, i);
    case 4:
      return is_signed ? element<std::int32_t>(raw, i) : element<std::uint32_t>(raw, i);
    default:
      return is_signed ? static_cast<double>(element<std::int64_t>(raw, i))
                       : static_cast<double>(element<std::uint64_t>(raw, i));
  }
}

}  // namespace

std::vector<std::string> Attribute::strings() const {
  PLIMSOLL_CHECK(type_.is_string(), InvalidArgumentError,
                 "attribute '{}' in '{}' holds {}, not strings", name_, source_->name(),
                 type_.name());
  return read_strings(*source_, type_, raw_);
}

std::string Attribute::string() const {
  std::vector<std::string> all = strings();
  PLIMSOLL_CHECK(all.size() == 1, InvalidArgumentError,
                 "attribute '{}' in '{}' holds {} strings, not one", name_, source_->name(),
                 all.size());
  return std::move(all.front());
}

std::vector<double> Attribute::numbers() const {
  PLIMSOLL_CHECK(!type_.is_string(), InvalidArgumentError,
                 "attribute '{}' in '{}' holds strings, not numbers", name_, source_->name());
  std::vector<double> values(raw_.size() / type_.nbytes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = number(type_, raw_, i);
  return values;
}

std::int64_t Attribute::integer() const {
  const bool is_integer = type_.kind == TypeKind::kSigned || type_.kind == TypeKind::kUnsigned ||
                          type_.kind == TypeKind::kBool;
  PLIMSOLL_CHECK(is_integer && raw_.size() == type_.nbytes, InvalidArgumentError,
                 "attribute '{}' in '{}' holds {} x {}, not one integer", name_, source_->name(),
                 raw_.size() / type_.nbytes, type_.name());
  std::uint64_t bits = 0;
  std::memcpy(&bits, raw_.data(), raw_.size());
  PLIMSOLL_CHECK(type_.kind == TypeKind::kSigned || bits >> 63 == 0, InvalidArgumentError,
                 "attribute '{}' in '{}' holds {}, which is too large", name_, source_->name(),
                 bits);
  const int shift = 64 - 8 * static_cast<int>(type_.nbytes);
  if (type_.kind != TypeKind::kSigned) return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

std::vector<std::string> attribute_names(const Source& source,
                                         const std::vector<Message>& messages) {
  std::vector<std::string> names;
  for_each(source, messages, [&](const Parts& parts) {
    names.push_back(parts.name);
    return true;
  });
  return names;
}

Attribute read_attribute(const std::shared_ptr<const Source>& source,
                         const std::vector<Message>& messages, std::string_view name) {
  std::optional<Attribute> found;
  for_each(*source, messages, [&](const Parts& parts) {
    if (parts.name != name) return true;
    if (parts.is_shared) {
      source->unimplemented(parts.type.offset(), "a committed datatype, which is not read");
    }
    const Type type = read_type(parts.type);
    Space space = read_space(parts.space);
    Cursor data = parts.data;
    const std::uint64_t nbytes = product(space.num_elements(), type.nbytes);
    const auto raw = data.take(nbytes);
    found.emplace(source, parts.name, type, std::move(space),
                  std::vector<std::byte>(raw.begin(), raw.end()));
    return false;
  });
  PLIMSOLL_CHECK(found.has_value(), NotFoundError, "there is no attribute '{}' in '{}'", name,
                 source->name());
  return std::move(*found);
}

}  // namespace plimsoll::h5
