// The floor under every plan.
#include <algorithm>

#include "planner/instance.h"

namespace plimsoll::planner {
namespace {

int64_t largest_sum(const Instance& instance, int64_t granule) {
  std::vector<int64_t> change(instance.num_sections + 1, 0);
  for (int b = 0; b < instance.count(); ++b) {
    const int64_t size = align_up(instance.size[b], granule);
    for (const Span& span : instance.spans_of(b)) {
      change[span.begin] += size;
      change[span.end] -= size;
    }
  }
  int64_t sum = 0;
  int64_t largest = 0;
  for (int64_t delta : change) largest = std::max(largest, sum += delta);
  return largest;
}

}  // namespace

int64_t live_bound(const Instance& instance) {
  if (instance.count() == 0) return 0;
  int64_t bound = largest_sum(instance, 1);
  // Every offset is a multiple of the smallest alignment, so all but the topmost buffer of a
  // section take a multiple of it too.
  const int64_t granule = *std::min_element(instance.alignment.begin(), instance.alignment.end());
  int64_t padding = 0;
  for (int b = 0; b < instance.count(); ++b) {
    padding = std::max(padding, align_up(instance.size[b], granule) - instance.size[b]);
    if (instance.fixed[b] >= 0) bound = std::max(bound, instance.fixed[b] + instance.size[b]);
  }
  return std::max(bound, largest_sum(instance, granule) - padding);
}

int64_t lower_bound(const Problem& problem) {
  check(problem);
  return live_bound(make_instance(problem));
}

}  // namespace plimsoll::planner
