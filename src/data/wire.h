// Protocol buffers on the wire, as far as tensors and examples need them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::data {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// A message from front to back. Every read is checked against its end.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : left_(bytes) {}

  // The next field; false at the end and where the message is damaged.
  bool next() {
    if (left_.empty() || !is_ok_) return false;
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 32) return fail();
    number_ = static_cast<std::uint32_t>(*tag >> 3);
    const auto type = static_cast<std::uint8_t>(*tag & 7);
    if (type != 0 && type != 1 && type != 2 && type != 5) return fail();
    type_ = static_cast<WireType>(type);
    value_ = {};
    switch (type_) {
      case WireType::kVarint: {
        const auto found = varint();
        if (!found) return fail();
        integer_ = *found;
        return true;
      }
      case WireType::kFixed64:
        return take(8);
      case WireType::kFixed32:
        return take(4);
      case WireType::kBytes: {
        const auto size = varint();
        return size && *size <= left_.size() ? take(static_cast<std::size_t>(*size)) : fail();
      }
    }
    return fail();
  }
  bool is_ok() const noexcept { return is_ok_; }  // false: damaged
  std::uint32_t number() const noexcept { return number_; }
  WireType type() const noexcept { return type_; }
  std::uint64_t integer() const noexcept { return integer_; }  // of kVarint
  std::string_view bytes() const noexcept { return value_; }   // of the others

  // A number from the front of the rest.
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (left_.empty()) return {};
      const auto byte = static_cast<std::uint8_t>(left_.front());
      left_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (!(byte & 128)) return value;
    }
    return {};
  }
  std::string_view rest() const noexcept { return left_; }

 private:
  bool take(std::size_t count) {
    if (left_.size() < count) return fail();
    value_ = left_.substr(0, count);
    left_.remove_prefix(count);
    return true;
  }
  bool fail() {
    is_ok_ = false;
    return false;
  }

  std::string_view left_, value_;
  std::uint64_t integer_ = 0;
  std::uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  bool is_ok_ = true;
};

inline void put_varint(std::string& to, std::uint64_t value) {
  while (value > 127) {
    to.push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  to.push_back(static_cast<char>(value));
}
inline void put_tag(std::string& to, std::uint32_t number, WireType type) {
  put_varint(to, number << 3 | static_cast<std::uint32_t>(type));
}
inline void put_integer(std::string& to, std::uint32_t number, std::uint64_t value) {
  put_tag(to, number, WireType::kVarint);
  put_varint(to, value);
}
inline void put_bytes(std::string& to, std::uint32_t number, std::string_view bytes) {
  put_tag(to, number, WireType::kBytes);
  put_varint(to, bytes.size());
  to += bytes;
}

// Fields of numbers: one value, or many packed into one field. f(value) for each; false: damaged.
template <class F>
bool each_varint(const WireReader& field, F&& f) {
  if (field.type() == WireType::kVarint) {
    f(field.integer());
    return true;
  }
  if (field.type() != WireType::kBytes) return false;
  WireReader packed(field.bytes());
  while (!packed.rest().empty()) {
    const auto value = packed.varint();
    if (!value) return false;
    f(*value);
  }
  return true;
}
template <class T, class F>
bool each_fixed(const WireReader& field, F&& f) {
  const std::string_view bytes = field.bytes();
  if (field.type() == WireType::kVarint || bytes.size() % sizeof(T) != 0) return false;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    f(value);
  }
  return true;
}

}  // namespace plimsoll::data
