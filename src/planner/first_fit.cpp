#include <algorithm>

#include "planner/greedy.h"

namespace plimsoll::planner {
namespace {

// What is placed, by offset; flat, since it is scanned from the bottom for every buffer.
struct Placed {
  int64_t offset;
  int64_t top;
  int begin;  // of the hull
  int end;
  int buffer;
};

int64_t lowest_hole(const Instance& instance, const std::vector<Placed>& placed, int b) {
  const Span hull = instance.hull[b];
  const int64_t size = instance.size[b];
  const int64_t alignment = instance.alignment[b];
  int64_t offset = 0;
  for (const Placed& other : placed) {
    if (other.begin >= hull.end || hull.begin >= other.end || other.top <= offset) continue;
    if (instance.has_gaps && !instance.conflict(b, other.buffer)) continue;
    if (offset + size <= other.offset) return offset;
    offset = align_up(other.top, alignment);
  }
  return offset;
}

void insert(const Instance& instance, std::vector<Placed>& placed, int b, int64_t offset) {
  const Placed entry{offset, offset + instance.size[b], instance.hull[b].begin,
                     instance.hull[b].end, b};
  placed.insert(
      std::upper_bound(placed.begin(), placed.end(), entry,
                       [](const Placed& x, const Placed& y) { return x.offset < y.offset; }),
      entry);
}

}  // namespace

std::vector<int64_t> first_fit(const Instance& instance, const std::vector<int>& order) {
  std::vector<int64_t> offsets(instance.count(), 0);
  std::vector<Placed> placed;
  placed.reserve(instance.count());
  for (int b = 0; b < instance.count(); ++b) {
    if (instance.fixed[b] < 0) continue;
    offsets[b] = instance.fixed[b];
    insert(instance, placed, b, offsets[b]);
  }
  for (int b : order) {
    if (instance.fixed[b] >= 0) continue;
    offsets[b] = lowest_hole(instance, placed, b);
    insert(instance, placed, b, offsets[b]);
  }
  return offsets;
}

}  // namespace plimsoll::planner
