// Byte sizes: one parser and one printer for the whole project.
//
//   parse_bytes("1.5GiB") == 1'610'612'736      parse_bytes("512 MB") == 512'000'000
//   format_bytes(102'760'448) == "98.0 MiB"     64_MiB == 67'108'864
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

// Reads a number with an optional unit: B, kB/KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB
// and K, M, G, T (powers of 1024); blanks around and between are allowed, case does not matter.
// throws: InvalidArgumentError for anything else, for negative values and for 2^63 and above.
std::uint64_t parse_bytes(std::string_view text);

// "0 B", "640 B", "1.5 KiB", "98.0 MiB": one decimal, binary units.
std::string format_bytes(std::uint64_t nbytes);

inline namespace literals {
consteval std::uint64_t operator""_KiB(unsigned long long n) {
  return n << 10;
}
consteval std::uint64_t operator""_MiB(unsigned long long n) {
  return n << 20;
}
consteval std::uint64_t operator""_GiB(unsigned long long n) {
  return n << 30;
}
}  // namespace literals

}  // namespace plimsoll
