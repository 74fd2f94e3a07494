// Walking several operands of broadcast shapes together.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backend/api/broadcast.h"

namespace plimsoll::cpu {

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
