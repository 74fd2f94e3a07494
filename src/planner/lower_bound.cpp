// The floor under every plan.
#include <algorithm>
#include <queue>

#include "planner/instance.h"

namespace plimsoll::planner {
namespace {

struct Piece {
  int begin;
  int end;
  int64_t size;     // rounded up to the granule
  int64_t padding;  // of which this is rounding
};

// The largest sum over a section of sizes rounded up to `granule`, which all offsets are multiples
// of: every buffer but the topmost takes whole granules. The topmost may be any.
int64_t largest_sum(const Instance& instance, int64_t granule) {
  std::vector<Piece> pieces;
  std::vector<int64_t> ended(instance.num_sections + 1, 0);
  for (int b = 0; b < instance.count(); ++b) {
    const int64_t size = align_up(instance.size[b], granule);
    for (const Span& span : instance.spans_of(b)) {
      pieces.push_back({span.begin, span.end, size, size - instance.size[b]});
      ended[span.end] += size;
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::priority_queue<std::pair<int64_t, int>> paddings;  // with the end; ended ones linger
  int64_t sum = 0;
  int64_t largest = 0;
  size_t next = 0;
  for (int s = 0; s < instance.num_sections; ++s) {
    sum -= ended[s];
    for (; next < pieces.size() && pieces[next].begin == s; ++next) {
      sum += pieces[next].size;
      paddings.push({pieces[next].padding, pieces[next].end});
    }
    while (!paddings.empty() && paddings.top().second <= s) paddings.pop();
    largest = std::max(largest, sum - (paddings.empty() ? 0 : paddings.top().first));
  }
  return largest;
}

}  // namespace

int64_t live_bound(const Instance& instance) {
  if (instance.count() == 0) return 0;
  const int64_t granule = *std::min_element(instance.alignment.begin(), instance.alignment.end());
  int64_t bound = largest_sum(instance, granule);
  for (int b = 0; b < instance.count(); ++b) {
    if (instance.fixed[b] >= 0) bound = std::max(bound, instance.fixed[b] + instance.size[b]);
  }
  return bound;
}

int64_t lower_bound(const Problem& problem) {
  check(problem);
  return live_bound(make_instance(problem));
}

}  // namespace plimsoll::planner
