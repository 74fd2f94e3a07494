// What the sum of a segment is divided by.
#pragma once

#include <cstdint>

namespace plimsoll {

enum class SegmentScale : std::int64_t { kNone, kCount, kSqrtCount };  // the values are attributes

}  // namespace plimsoll
