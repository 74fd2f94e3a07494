// What the cases of convolutions and pools share.
#pragma once

#include <span>
#include <vector>

#include "ops/conv_shape.h"

namespace plimsoll::testing_ops {

// Where a pixel stands in a tensor of this format.
inline std::size_t at(const ImageShape& s, DataFormat format, std::int64_t n, std::int64_t y,
                      std::int64_t x, std::int64_t c) {
  return static_cast<std::size_t>(format == DataFormat::kNhwc
                                      ? ((n * s.h + y) * s.w + x) * s.c + c
                                      : ((n * s.c + c) * s.h + y) * s.w + x);
}

inline AttrValue ints(const std::vector<std::int64_t>& values) {
  return AttrValue(std::span<const std::int64_t>(values));
}

}  // namespace plimsoll::testing_ops
