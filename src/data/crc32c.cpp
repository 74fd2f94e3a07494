#include "data/crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace plimsoll::data {
namespace {

constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78U : 0);
    table[i] = crc;
  }
  return table;
}();

std::uint32_t by_table(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
  for (const std::byte b : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(
    std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
  std::uint64_t wide = crc;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    wide = _mm_crc32_u64(wide, word);
    bytes = bytes.subspan(8);
  }
  auto narrow = static_cast<std::uint32_t>(wide);
  for (const std::byte b : bytes) narrow = _mm_crc32_u8(narrow, static_cast<unsigned char>(b));
  return narrow;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2");
  if (has_instruction) return ~by_instruction(~0U, bytes);
#endif
  return ~by_table(~0U, bytes);
}

}  // namespace plimsoll::data
