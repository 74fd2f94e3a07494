// Walking several operands of broadcast shapes together.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "plimsoll/shape.h"

namespace plimsoll::cpu {

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

// Calls f(out_begin, offsets, strides, count) for runs of the innermost dimension that cover the
// output elements [begin, end).
template <int N, class F>
void for_each_run(const BroadcastPlan<N>& plan, std::int64_t begin, std::int64_t end,
                  F&& f) noexcept {
  if (begin >= end) return;
  std::array<std::int64_t, kMaxRank> at{};
  std::array<std::int64_t, N> offset{};
  std::int64_t rest = begin;
  for (int d = 0; d < plan.rank; ++d) {
    const auto i = static_cast<std::size_t>(d);
    at[i] = rest % plan.dims[i];
    rest /= plan.dims[i];
    for (std::size_t k = 0; k < N; ++k) offset[k] += at[i] * plan.strides[k][i];
  }
  std::array<std::int64_t, N> step{};
  for (std::size_t k = 0; k < N; ++k) step[k] = plan.rank ? plan.strides[k][0] : 0;
  while (begin < end) {
    const std::int64_t count = std::min(end - begin, (plan.rank ? plan.dims[0] : 1) - at[0]);
    f(begin, offset, step, count);
    begin += count;
    at[0] += count;
    for (std::size_t k = 0; k < N; ++k) offset[k] += count * step[k];
    for (int d = 0; d + 1 < plan.rank &&
                    at[static_cast<std::size_t>(d)] == plan.dims[static_cast<std::size_t>(d)];
         ++d) {
      const auto i = static_cast<std::size_t>(d);
      for (std::size_t k = 0; k < N; ++k)
        offset[k] += plan.strides[k][i + 1] - plan.dims[i] * plan.strides[k][i];
      at[i] = 0;
      ++at[i + 1];
    }
  }
}

}  // namespace plimsoll::cpu
