// Letters of UTF-8, and their upper and lower case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plimsoll::data {

inline constexpr char32_t kNoLetter = 0xFFFD;  // stands for bytes that are none

// The letter at `at`, which moves behind it; kNoLetter for as many bytes as can begin one and do
// not go on. pre: at < text.size().
char32_t next_letter(std::string_view text, std::size_t& at) noexcept;

enum class Case { kLower, kUpper };
// Bytes that to_case makes.
std::size_t size_in_case(std::string_view text, Case to) noexcept;
// With all of Unicode's rules that are of no language: a letter may become several, and a sigma at
// the end of a word is another one.
// size: what size_in_case says.
std::string to_case(std::string_view text, Case to, std::size_t size);

}  // namespace plimsoll::data
