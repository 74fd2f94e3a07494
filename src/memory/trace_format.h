// Kinds of records in a trace file; plimsoll/memory/trace.h describes them.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll::memory::trace_format {

inline constexpr std::string_view kMagic = "PLTRACE1";
inline constexpr std::uint8_t kName = 0;
inline constexpr std::uint8_t kHeap = 1;
inline constexpr std::uint8_t kAllocate = 2;
inline constexpr std::uint8_t kFree = 3;
inline constexpr std::uint8_t kReserve = 4;
inline constexpr std::uint8_t kStep = 5;

}  // namespace plimsoll::memory::trace_format
