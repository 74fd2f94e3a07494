// Ways to resize images.
#pragma once

#include <cstdint>

namespace plimsoll {

// The values are attributes.
enum class ResizeMethod : std::int64_t {
  kNearest,
  kBilinear,
  kBicubic,
  kArea,
  kLanczos3,
  kLanczos5,
  kGaussian,
  kMitchellCubic,
};

inline constexpr std::int64_t kNumResizeMethods = 8;

}  // namespace plimsoll
