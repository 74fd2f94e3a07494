// The checksum of TFRecord files: CRC-32C (Castagnoli).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plimsoll::data {

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;
// Rotated and moved, as it stands in files, so that a checksum of checksums is no fixed point.
inline std::uint32_t masked_crc32c(std::span<const std::byte> bytes) noexcept {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace plimsoll::data
