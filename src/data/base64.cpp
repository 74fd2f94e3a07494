// Base64 for addresses and file names: - and _ in place of + and /.
#include <array>

#include "data/strings_util.h"
#include "plimsoll/data/io.h"

namespace plimsoll::io {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(64);
  for (std::size_t i = 0; i < kLetters.size(); ++i)
    values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

std::size_t encoded_size(std::size_t size, bool pad) noexcept {
  return pad ? (size + 2) / 3 * 4 : (size * 8 + 5) / 6;
}
std::string encoded(std::string_view bytes, bool pad) {
  std::string made;
  made.reserve(encoded_size(bytes.size(), pad));
  std::uint32_t bits = 0;
  int num = 0;  // bits that wait
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (num += 8; num >= 6; num -= 6) made += kLetters[bits >> (num - 6) & 63];
  }
  if (num) made += kLetters[bits << (6 - num) & 63];
  while (pad && made.size() % 4) made += '=';
  return made;
}

// Without padding, which only a last group of four may have.
std::string_view unpadded(std::string_view text) noexcept {
  if (text.size() % 4 != 0) return text;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return text;
}
std::string decoded(std::string_view text) {
  PLIMSOLL_CHECK(text.size() % 4 != 1, InvalidArgumentError,
                 "Base64 string length cannot be 1 modulo 4, received '{}' [Op:DecodeBase64]",
                 strings::shown(text));
  std::string made;
  made.reserve(text.size() * 6 / 8);
  std::uint32_t bits = 0;
  int num = 0;
  for (const char c : text) {
    const std::uint32_t value = kValues[static_cast<unsigned char>(c)];
    PLIMSOLL_CHECK(value < 64, InvalidArgumentError,
                   "Invalid character found in base64: '{}' [Op:DecodeBase64]",
                   strings::shown(text));
    bits = bits << 6 | value;
    if ((num += 6) >= 8) made += static_cast<char>(bits >> (num -= 8) & 0xFF);
  }
  return made;
}

}  // namespace

Tensor encode_base64(const Tensor& input, bool pad) {
  return strings::each_string(
      input, "EncodeBase64",
      [&](const std::string& text) { return encoded_size(text.size(), pad); },
      [&](const std::string& text, std::size_t) { return encoded(text, pad); });
}

Tensor decode_base64(const Tensor& input) {
  return strings::each_string(
      input, "DecodeBase64", [](const std::string& text) { return unpadded(text).size() * 6 / 8; },
      [](const std::string& text, std::size_t) { return decoded(unpadded(text)); });
}

}  // namespace plimsoll::io
