// Puts little-endian numbers one after another: the metadata that the writer makes.
#pragma once

#include "h5/bytes.h"

namespace plimsoll::h5 {

class Encoder {
 public:
  Encoder& uint(std::uint64_t value, std::size_t nbytes);  // nbytes <= 8
  Encoder& u8(std::uint8_t value) { return uint(value, 1); }
  Encoder& u16(std::uint16_t value) { return uint(value, 2); }
  Encoder& u32(std::uint32_t value) { return uint(value, 4); }
  Encoder& u64(std::uint64_t value) { return uint(value, 8); }
  Encoder& bytes(std::span<const std::byte> values);
  Encoder& text(std::string_view value) { return bytes(std::as_bytes(std::span(value))); }
  Encoder& zeros(std::size_t count);
  // Zeros up to a multiple of `alignment`, counted from the first byte.
  Encoder& align(std::size_t alignment) {
    return zeros((alignment - bytes_.size() % alignment) % alignment);
  }
  // With a NUL, and then with more of them up to a multiple of 8, counted from its first letter.
  Encoder& padded_text(std::string_view value) { return text(value).zeros(8 - value.size() % 8); }

  std::size_t size() const noexcept { return bytes_.size(); }
  std::vector<std::byte> finish() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace plimsoll::h5
