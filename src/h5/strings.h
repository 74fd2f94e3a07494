// Strings from their elements, fixed or variable.
#pragma once

#include "h5/type.h"

namespace plimsoll::h5 {

inline constexpr std::uint64_t kMaxStrings = 1u << 22;  // of one dataset or attribute

// pre: type.is_string() and raw.size() is a multiple of type.nbytes.
// memory: the strings. throws: ResourceExhaustedError for more than kMaxStrings.
std::vector<std::string> read_strings(const Source& source, const Type& type,
                                      std::span<const std::byte> raw);

}  // namespace plimsoll::h5
