#include "plimsoll/bytes.h"

#include <array>
#include <cstddef>
#include <limits>

#include "base/check.h"

namespace plimsoll {
namespace {

struct Unit {
  std::string_view name;  // lower case
  std::uint64_t factor;   // bytes
};

constexpr Unit kUnits[] = {
    {"", 1},
    {"b", 1},
    {"k", 1ull << 10},
    {"kib", 1ull << 10},
    {"kb", 1'000},
    {"m", 1ull << 20},
    {"mib", 1ull << 20},
    {"mb", 1'000'000},
    {"g", 1ull << 30},
    {"gib", 1ull << 30},
    {"gb", 1'000'000'000},
    {"t", 1ull << 40},
    {"tib", 1ull << 40},
    {"tb", 1'000'000'000'000},
};

constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// 0 where there is no such unit.
std::uint64_t factor_of(std::string_view unit) {
  std::string lower(unit);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const Unit& u : kUnits) {
    if (u.name == lower) return u.factor;
  }
  return 0;
}

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw InvalidArgumentError(fmt::format(
      "not a byte size: '{}' ({}); a size reads like 1073741824, 512MiB, 1.5 GiB or 2GB", text,
      why));
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  std::string_view rest = trim(text);
  if (rest.empty()) refuse(text, "it is empty");
  if (rest.front() == '-') refuse(text, "it is negative");
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) refuse(text, "it does not begin with a number");
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) refuse(text, "no digit follows the point");
  }
  const std::string_view unit = trim(rest);
  const std::uint64_t factor = factor_of(unit);
  if (factor == 0) refuse(text, fmt::format("unknown unit '{}'", unit));
  if (factor == 1 && !fraction.empty()) refuse(text, "a byte has no fraction");

  std::uint64_t value = 0;
  for (const char c : whole) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (kMaxBytes - digit) / 10) refuse(text, "it is 2^63 bytes or more");
    value = value * 10 + digit;
  }
  if (value > kMaxBytes / factor) refuse(text, "it is 2^63 bytes or more");
  value *= factor;

  // From the last digit to the first, rounding down: exact for any number of digits.
  std::uint64_t part = 0;
  for (auto c = fraction.rbegin(); c != fraction.rend(); ++c) {
    part = (static_cast<std::uint64_t>(*c - '0') * factor + part) / 10;
  }
  if (part > kMaxBytes - value) refuse(text, "it is 2^63 bytes or more");
  return value + part;
}

std::string format_bytes(std::uint64_t nbytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (nbytes < 1024) return fmt::format("{} B", nbytes);
  double value = static_cast<double>(nbytes);
  std::size_t unit = 0;
  // 1023.95 and above would print as 1024.0.
  while (unit + 1 < kNames.size() && value >= 1023.95) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kNames[unit]);
}

}  // namespace plimsoll
