// Strings from their elements, fixed or variable.
#pragma once

#include "h5/type.h"

namespace plimsoll::h5 {

// pre: type.is_string() and raw.size() is a multiple of type.nbytes.
// memory: the strings, which together are no larger than the file.
std::vector<std::string> read_strings(const Source& source, const Type& type,
                                      std::span<const std::byte> raw);

}  // namespace plimsoll::h5
