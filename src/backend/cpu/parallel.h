// Splitting work over the cores.
#pragma once

#include <algorithm>
#include <cstdint>

#include <omp.h>

namespace plimsoll::cpu {

// Calls f(begin, end) for parts of [0, n); in one piece if n is below `grain`. Parts depend only on
// n, the grain and the number of threads, so results are the same from run to run.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, F&& f) noexcept {
  const std::int64_t max_parts = omp_in_parallel() ? 1 : omp_get_max_threads();
  const std::int64_t parts = std::min(max_parts, n / std::max<std::int64_t>(grain, 1));
  if (parts <= 1) {
    if (n > 0) f(std::int64_t{0}, n);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (std::int64_t p = 0; p < parts; ++p) f(n * p / parts, n * (p + 1) / parts);
}

}  // namespace plimsoll::cpu
