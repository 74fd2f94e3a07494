// What elements are, and how many: the datatype and dataspace messages.
#pragma once

#include "h5/bytes.h"

namespace plimsoll::h5 {

enum class TypeKind : std::uint8_t { kSigned, kUnsigned, kFloat, kBool, kFixedString, kString };

// The type of an element. Numbers are little endian; a boolean is h5py's enumeration of one byte.
struct Type {
  TypeKind kind = TypeKind::kFloat;
  std::uint32_t nbytes = 4;  // of an element as it is stored; of a variable string: of its pointer
  bool is_utf8 = false;      // strings only
  char padding = '\0';       // fixed strings: what fills them up, NUL or a blank

  static Type signed_int(std::uint32_t nbytes) { return {TypeKind::kSigned, nbytes}; }
  static Type unsigned_int(std::uint32_t nbytes) { return {TypeKind::kUnsigned, nbytes}; }
  static Type floating(std::uint32_t nbytes) { return {TypeKind::kFloat, nbytes}; }
  static Type boolean() { return {TypeKind::kBool, 1}; }
  static Type fixed_string(std::uint32_t nbytes) { return {TypeKind::kFixedString, nbytes}; }
  static Type string() { return {TypeKind::kString, 16, true}; }

  bool is_string() const noexcept {
    return kind == TypeKind::kFixedString || kind == TypeKind::kString;
  }
  // "float32", "int8", "bool", as NumPy has them; "S12" for fixed strings, "string" for others.
  std::string name() const;

  friend bool operator==(const Type&, const Type&) = default;
};

using Shape = std::vector<std::uint64_t>;

struct Space {
  Shape shape;           // empty: a scalar
  bool is_null = false;  // no elements at all and no shape, such as h5py.Empty

  std::uint64_t num_elements() const noexcept;
};

// throws: UnimplementedError for compounds, big endian and the like; DataLossError.
Type read_type(Cursor cursor);
// throws: DataLossError, also where the number of elements is beyond kMaxElements.
Space read_space(Cursor cursor);

// The bodies of the messages. pre: a type that exists and a shape of at most kMaxRank dimensions.
std::vector<std::byte> write_type(const Type& type);
std::vector<std::byte> write_space(const Shape& shape);

inline constexpr std::size_t kMaxRank = 32;

}  // namespace plimsoll::h5
