// How operands of broadcast shapes lie under a common one.
#pragma once

#include <array>
#include <cstdint>

#include "plimsoll/shape.h"

namespace plimsoll {

// Strides in elements of N operands over a common shape, 0 along broadcast dimensions; dimensions
// that walk alike are merged.
template <int N>
struct BroadcastPlan {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::array<std::array<std::int64_t, kMaxRank>, N> strides{};
};

template <int N>
BroadcastPlan<N> make_broadcast_plan(const Shape& out,
                                     const std::array<const Shape*, N>& in) noexcept {
  BroadcastPlan<N> full;
  full.rank = out.rank();
  for (int d = 0; d < out.rank(); ++d) full.dims[static_cast<std::size_t>(d)] = out.dim(d);
  for (std::size_t k = 0; k < N; ++k) {
    std::int64_t stride = 1;
    const int lead = out.rank() - in[k]->rank();
    for (int d = out.rank() - 1; d >= lead; --d) {
      const std::int64_t dim = in[k]->dim(d - lead);
      full.strides[k][static_cast<std::size_t>(d)] = dim == 1 ? 0 : stride;
      stride *= dim;
    }
  }
  BroadcastPlan<N> plan;  // merged, from the innermost dimension outwards, then reversed
  for (int d = out.rank() - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    if (full.dims[at] == 1) continue;
    bool merges = plan.rank > 0;
    const auto last = static_cast<std::size_t>(plan.rank - 1);
    for (std::size_t k = 0; merges && k < N; ++k) {
      merges = full.strides[k][at] == plan.strides[k][last] * plan.dims[last];
    }
    if (merges) {
      plan.dims[last] *= full.dims[at];
      continue;
    }
    const auto next = static_cast<std::size_t>(plan.rank++);
    plan.dims[next] = full.dims[at];
    for (std::size_t k = 0; k < N; ++k) plan.strides[k][next] = full.strides[k][at];
  }
  return plan;  // dims[0] is the innermost
}

}  // namespace plimsoll
