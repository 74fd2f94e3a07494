#include "data/unicode_case.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace plimsoll::data {
namespace {

struct Run {
  char32_t first, last;
  std::uint32_t step;
  std::int32_t distance;
};
struct Long {
  char32_t first;
  char32_t becomes[3];  // 0: no more
};
struct Range {
  char32_t first, last;
};

#define LOWER(...)
#define UPPER(...)
#define UPPER_LONG(...)
#define CASED(...)
#define IGNORED(...)

#undef LOWER
#define LOWER(...) {__VA_ARGS__},
constexpr Run kLower[] = {
#include "data/unicode_case.def"
};
#undef LOWER
#define LOWER(...)

#undef UPPER
#define UPPER(...) {__VA_ARGS__},
constexpr Run kUpper[] = {
#include "data/unicode_case.def"
};
#undef UPPER
#define UPPER(...)

#undef UPPER_LONG
#define UPPER_LONG(letter, ...) {letter, {__VA_ARGS__}},
constexpr Long kUpperLong[] = {
#include "data/unicode_case.def"
};
#undef UPPER_LONG
#define UPPER_LONG(...)

#undef CASED
#define CASED(...) {__VA_ARGS__},
constexpr Range kCased[] = {
#include "data/unicode_case.def"
};
#undef CASED
#define CASED(...)

#undef IGNORED
#define IGNORED(...) {__VA_ARGS__},
constexpr Range kIgnored[] = {
#include "data/unicode_case.def"
};

// The last row that begins at or before the letter.
template <class Row, std::size_t N>
const Row* find_row(const Row (&rows)[N], char32_t letter) noexcept {
  const Row* after = std::upper_bound(std::begin(rows), std::end(rows), letter,
                                      [](char32_t c, const Row& row) { return c < row.first; });
  return after == std::begin(rows) ? nullptr : after - 1;
}
template <std::size_t N>
bool is_in(const Range (&ranges)[N], char32_t letter) noexcept {
  const Range* range = find_row(ranges, letter);
  return range && letter <= range->last;
}
template <std::size_t N>
char32_t changed(const Run (&runs)[N], char32_t letter) noexcept {
  const Run* run = find_row(runs, letter);
  if (!run || letter > run->last || (letter - run->first) % run->step != 0) return letter;
  return static_cast<char32_t>(static_cast<std::int32_t>(letter) + run->distance);
}

constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;
constexpr char32_t kDottedI = 0x130, kDot = 0x307;

// Whether a cased letter follows, beyond those that are ignored.
bool has_cased_next(std::string_view text, std::size_t at) noexcept {
  while (at < text.size()) {
    const char32_t letter = next_letter(text, at);
    if (!is_in(kIgnored, letter)) return is_in(kCased, letter);
  }
  return false;
}

template <class Put>
void each_lower(std::string_view text, Put&& put) noexcept {
  bool is_after_cased = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t letter = next_letter(text, at);
    if (letter == kSigma && is_after_cased && !has_cased_next(text, at)) {
      put(kFinalSigma);
    } else if (letter == kDottedI) {
      put(U'i');
      put(kDot);
    } else {
      put(changed(kLower, letter));
    }
    if (!is_in(kIgnored, letter)) is_after_cased = is_in(kCased, letter);
  }
}
template <class Put>
void each_upper(std::string_view text, Put&& put) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t letter = next_letter(text, at);
    if (const Long* row = find_row(kUpperLong, letter); row && row->first == letter) {
      for (const char32_t c : row->becomes) {
        if (c) put(c);
      }
    } else {
      put(changed(kUpper, letter));
    }
  }
}
template <class Put>
void each_in_case(std::string_view text, Case to, Put&& put) noexcept {
  to == Case::kLower ? each_lower(text, put) : each_upper(text, put);
}

std::size_t size_of_letter(char32_t letter) noexcept {
  return letter < 0x80 ? 1 : letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
}
void append_letter(std::string& text, char32_t letter) {
  const std::size_t size = size_of_letter(letter);
  if (size == 1) {
    text += static_cast<char>(letter);
    return;
  }
  constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLead[size] | letter >> 6 * (size - 1));
  for (std::size_t i = size - 1; i-- > 0;)
    text += static_cast<char>(0x80U | (letter >> 6 * i & 0x3FU));
}

}  // namespace

char32_t next_letter(std::string_view text, std::size_t& at) noexcept {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  if (lead < 0xC2 || lead > 0xF4) return kNoLetter;
  const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
  char32_t letter = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    unsigned char low = 0x80, high = 0xBF;
    if (i == 0) {  // no letter in more bytes than it needs, no half of a pair, none past the last
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    }
    if (at == text.size()) return kNoLetter;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < low || byte > high) return kNoLetter;
    letter = letter << 6 | (byte & 0x3FU);
    ++at;
  }
  return letter;
}

std::size_t size_in_case(std::string_view text, Case to) noexcept {
  std::size_t size = 0;
  each_in_case(text, to, [&](char32_t letter) noexcept { size += size_of_letter(letter); });
  return size;
}

std::string to_case(std::string_view text, Case to, std::size_t size) {
  std::string made;
  made.reserve(size);
  each_in_case(text, to, [&](char32_t letter) noexcept { append_letter(made, letter); });
  return made;
}

}  // namespace plimsoll::data
