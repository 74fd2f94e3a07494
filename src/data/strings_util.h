// What functions of strings share.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "plimsoll/memory/owner.h"
#include "plimsoll/tensor.h"
#include "runtime/string_builder.h"

namespace plimsoll::strings {

inline memory::Owner owner_of_op(const char* op) {
  return memory::Owner(memory::Tag::kActivations, op);
}

inline bool is_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
inline std::string_view stripped(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}
// Whether a byte goes on with a letter of UTF-8.
inline bool is_trail(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
// Whether it is letters that count. throws: InvalidArgumentError.
inline bool counts_letters(std::string_view unit, const char* op) {
  PLIMSOLL_CHECK(unit == "BYTE" || unit == "UTF8_CHAR", InvalidArgumentError,
                 "Value for attr 'unit' of \"{}\" is not in the list of allowed values: \"BYTE\", "
                 "\"UTF8_CHAR\" [Op:{}]",
                 unit, op);
  return unit == "UTF8_CHAR";
}

// The beginning of a string for a message, with bytes that are no letter in figures.
std::string shown(std::string_view text);

// make(text) of each string. size(text): bytes that it takes, booked before.
template <class Size, class Make>
Tensor each_string(const Tensor& input, const char* op, const Size& size, const Make& make) {
  const std::span<const std::string> texts = strings_of(input, op);
  std::uint64_t nbytes = 0;
  for (const std::string& text : texts) nbytes += size(text);
  StringBuilder made(texts.size(), owner_of_op(op), nbytes);
  for (const std::string& text : texts) made.add(make(text, size(text)));
  return made.finish(input.shape());
}

}  // namespace plimsoll::strings
