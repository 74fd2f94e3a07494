// A way through some dimensions of a tensor.
#pragma once

#include <array>
#include <cstdint>

#include "plimsoll/shape.h"

namespace plimsoll {

// Some dimensions of a shape with their strides, innermost first, merged where they can be.
struct Walk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t count = 1;

  void add(std::int64_t dim, std::int64_t stride) noexcept {
    count *= dim;
    if (dim == 1) return;
    const auto last = static_cast<std::size_t>(rank - 1);
    if (rank > 0 && stride == dims[last] * strides[last]) {
      dims[last] *= dim;
      return;
    }
    dims[static_cast<std::size_t>(rank)] = dim;
    strides[static_cast<std::size_t>(rank++)] = stride;
  }
  std::int64_t offset(std::int64_t index) const noexcept {
    if (rank == 1) return index * strides[0];
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<std::size_t>(d);
      at += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return at;
  }
};

}  // namespace plimsoll
