#include "h5/type.h"

#include <fmt/core.h>

#include "h5/encoder.h"

namespace plimsoll::h5 {
namespace {

enum TypeClass : int { kFixedPoint = 0, kFloatingPoint = 1, kText = 3, kEnum = 8, kVariable = 9 };

// Where the parts of an IEEE number stand.
struct FloatForm {
  std::uint32_t nbytes;
  std::uint8_t exponent_at, exponent_bits, mantissa_bits;
  std::uint32_t bias;
};
constexpr FloatForm kFloatForms[] = {
    {2, 10, 5, 10, 15}, {4, 23, 8, 23, 127}, {8, 52, 11, 52, 1023}};

struct TypeHead {
  int version;
  int type_class;
  std::uint32_t bits;
  std::uint32_t nbytes;
};

TypeHead read_head(Cursor& cursor) {
  const std::uint8_t first = cursor.u8();
  TypeHead head{first >> 4, first & 15, 0, 0};
  cursor.require(head.version >= 1 && head.version <= 5, "a datatype of version 1 to 5");
  head.bits = static_cast<std::uint32_t>(cursor.uint(3));
  head.nbytes = cursor.u32();
  return head;
}

Type read_integer(const TypeHead& head, Cursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const std::uint16_t bit_offset = cursor.u16();
  const std::uint16_t precision = cursor.u16();
  if (head.bits & 1) cursor.source().unimplemented(at, "a big-endian type, which is not read");
  const bool is_whole =
      head.nbytes == 1 || head.nbytes == 2 || head.nbytes == 4 || head.nbytes == 8;
  if (!is_whole || bit_offset != 0 || precision != 8 * head.nbytes) {
    cursor.source().unimplemented(
        at, fmt::format("an integer of {} bits in {} bytes, which is not read", precision,
                        head.nbytes));
  }
  return (head.bits & 8) ? Type::signed_int(head.nbytes) : Type::unsigned_int(head.nbytes);
}

Type read_float(const TypeHead& head, Cursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const std::uint16_t bit_offset = cursor.u16();
  const std::uint16_t precision = cursor.u16();
  const std::uint8_t exponent_at = cursor.u8();
  const std::uint8_t exponent_bits = cursor.u8();
  const std::uint8_t mantissa_at = cursor.u8();
  const std::uint8_t mantissa_bits = cursor.u8();
  const std::uint32_t bias = cursor.u32();
  if (head.bits & 0x41) cursor.source().unimplemented(at, "a big-endian type, which is not read");
  for (const FloatForm& form : kFloatForms) {
    if (form.nbytes == head.nbytes && bit_offset == 0 && precision == 8 * form.nbytes &&
        exponent_at == form.exponent_at && exponent_bits == form.exponent_bits &&
        mantissa_at == 0 && mantissa_bits == form.mantissa_bits && bias == form.bias &&
        ((head.bits >> 4) & 3) == 2 && ((head.bits >> 8) & 0xff) == 8 * form.nbytes - 1) {
      return Type::floating(form.nbytes);
    }
  }
  cursor.source().unimplemented(
      at, fmt::format("a floating type of {} bytes with {} bits of exponent and {} of mantissa; "
                      "only float16, float32 and float64 are read",
                      head.nbytes, exponent_bits, mantissa_bits));
}

Type read_fixed_string(const TypeHead& head, Cursor& cursor) {
  const std::uint32_t padding = head.bits & 15;
  cursor.require(padding <= 2 && head.nbytes > 0, "a string that NULs or blanks fill up");
  Type type = Type::fixed_string(head.nbytes);
  type.is_utf8 = ((head.bits >> 4) & 15) == 1;
  type.padding = padding == 2 ? ' ' : '\0';
  return type;
}

// h5py's boolean: {FALSE = 0, TRUE = 1} in a byte.
Type read_enum(const TypeHead& head, Cursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const std::uint32_t num_members = head.bits & 0xffff;
  const TypeHead base = read_head(cursor);
  bool is_bool = base.type_class == kFixedPoint && base.nbytes == 1 && num_members == 2;
  if (is_bool) {
    cursor.skip(4);
    const std::size_t step = head.version >= 3 ? 1 : 8;
    const auto name = [&](std::size_t length) {
      const std::size_t padded = (length + 1 + step - 1) / step * step;
      return padded <= cursor.left() ? cursor.text(padded) : std::string();
    };
    is_bool = name(5) == "FALSE" && name(4) == "TRUE" && cursor.left() >= 2 && cursor.u8() == 0 &&
              cursor.u8() == 1;
  }
  if (!is_bool) cursor.source().unimplemented(at, "an enumeration other than h5py's boolean");
  return Type::boolean();
}

Type read_variable(const TypeHead& head, Cursor& cursor) {
  if ((head.bits & 15) != 1) {
    cursor.source().unimplemented(cursor.offset(),
                                  "sequences of variable length, which are not read");
  }
  cursor.require(head.nbytes == 16, "a variable string of 16 bytes");
  Type type = Type::string();
  type.is_utf8 = ((head.bits >> 8) & 15) == 1;
  return type;
}

}  // namespace

std::string Type::name() const {
  switch (kind) {
    case TypeKind::kSigned:
      return fmt::format("int{}", 8 * nbytes);
    case TypeKind::kUnsigned:
      return fmt::format("uint{}", 8 * nbytes);
    case TypeKind::kFloat:
      return fmt::format("float{}", 8 * nbytes);
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kFixedString:
      return fmt::format("S{}", nbytes);
    case TypeKind::kString:
      return "string";
  }
  return "";
}

std::uint64_t Space::num_elements() const noexcept {
  std::uint64_t count = is_null ? 0 : 1;
  for (const std::uint64_t size : shape) count *= size;
  return count;
}

Type read_type(Cursor cursor) {
  const std::uint64_t at = cursor.offset();
  const TypeHead head = read_head(cursor);
  switch (head.type_class) {
    case kFixedPoint:
      return read_integer(head, cursor);
    case kFloatingPoint:
      return read_float(head, cursor);
    case kText:
      return read_fixed_string(head, cursor);
    case kEnum:
      return read_enum(head, cursor);
    case kVariable:
      return read_variable(head, cursor);
    default:
      cursor.source().unimplemented(
          at, fmt::format("a datatype of class {}; numbers, booleans and strings are read",
                          head.type_class));
  }
}

Space read_space(Cursor cursor) {
  const std::uint8_t version = cursor.u8();
  cursor.require(version == 1 || version == 2, "a dataspace of version 1 or 2");
  const std::uint8_t rank = cursor.u8();
  cursor.require(rank <= kMaxRank, "at most 32 dimensions");
  cursor.skip(1);  // whether there are maximal sizes, which do not matter here
  Space space;
  const std::uint8_t kind = cursor.u8();
  if (version == 1) {
    cursor.skip(4);
  } else {
    cursor.require(kind <= 2, "a scalar, simple or null dataspace");
    space.is_null = kind == 2;
  }
  // Zeros count as ones here: what overflows is refused even if another dimension is empty.
  std::uint64_t count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const std::uint64_t size = cursor.u64();
    count = product(count, size == 0 ? 1 : size);
    cursor.require(count <= kMaxElements, "fewer elements");
    space.shape.push_back(size);
  }
  return space;
}

std::vector<std::byte> write_type(const Type& type) {
  Encoder out;
  const auto head = [&](int type_class, std::uint32_t bits, std::uint32_t nbytes) {
    out.u8(static_cast<std::uint8_t>(0x10 | type_class)).uint(bits, 3).u32(nbytes);
  };
  const auto integer = [&](bool is_signed, std::uint32_t nbytes) {
    head(kFixedPoint, is_signed ? 8 : 0, nbytes);
    out.u16(0).u16(static_cast<std::uint16_t>(8 * nbytes));
  };
  switch (type.kind) {
    case TypeKind::kSigned:
    case TypeKind::kUnsigned:
      integer(type.kind == TypeKind::kSigned, type.nbytes);
      break;
    case TypeKind::kFloat:
      for (const FloatForm& form : kFloatForms) {
        if (form.nbytes != type.nbytes) continue;
        head(kFloatingPoint, 0x20 | (8 * form.nbytes - 1) << 8, form.nbytes);
        out.u16(0).u16(static_cast<std::uint16_t>(8 * form.nbytes));
        out.u8(form.exponent_at).u8(form.exponent_bits).u8(0).u8(form.mantissa_bits);
        out.u32(form.bias);
      }
      break;
    case TypeKind::kBool:
      head(kEnum, 2, 1);
      integer(true, 1);
      out.padded_text("FALSE").padded_text("TRUE").u8(0).u8(1);
      break;
    case TypeKind::kFixedString:
      head(kText, (type.padding == ' ' ? 2 : 1) | (type.is_utf8 ? 0x10 : 0), type.nbytes);
      break;
    case TypeKind::kString:
      head(kVariable, 1 | (type.is_utf8 ? 0x100 : 0), 16);
      integer(false, 1);
      break;
  }
  return out.finish();
}

std::vector<std::byte> write_space(const Shape& shape) {
  Encoder out;
  out.u8(1).u8(static_cast<std::uint8_t>(shape.size())).zeros(6);
  for (const std::uint64_t size : shape) out.u64(size);
  return out.finish();
}

}  // namespace plimsoll::h5
