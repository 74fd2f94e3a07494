// Numbers with a point, as TensorFlow shows them.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace plimsoll {

using NumberText = char[40];

// With 6 digits (a double: 15) if they give the number back, else with 9 (17). "inf", "nan".
template <class T>
std::string_view short_number(T value, NumberText& digits) noexcept {
  if (std::isnan(value)) return "nan";
  constexpr bool is_double = std::is_same_v<T, double>;
  constexpr int kFew = is_double ? 15 : 6, kAll = is_double ? 17 : 9;
  for (const int precision : {kFew, kAll}) {
    const auto made = fmt::format_to_n(digits, sizeof digits, "{:.{}g}", value, precision);
    T read = 0;
    std::from_chars(digits, made.out, read);
    if (read == value || precision == kAll || !std::isfinite(value))
      return {digits, static_cast<std::size_t>(made.out - digits)};
  }
  return {};
}

}  // namespace plimsoll
