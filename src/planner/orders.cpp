#include "planner/orders.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace plimsoll::planner {
namespace {

// The maximum of any range in constant time.
class RangeMax {
 public:
  explicit RangeMax(std::vector<int64_t> values) {
    levels_.push_back(std::move(values));
    for (size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const std::vector<int64_t>& below = levels_.back();
      std::vector<int64_t> level(below.size() - width);
      for (size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + width]);
      levels_.push_back(std::move(level));
    }
  }
  int64_t of(const Span& span) const {
    const int length = span.end - span.begin;
    const int level = std::bit_width(static_cast<unsigned>(length)) - 1;
    return std::max(levels_[level][span.begin], levels_[level][span.end - (1 << level)]);
  }

 private:
  std::vector<std::vector<int64_t>> levels_;
};

std::vector<int64_t> live_sums(const Instance& instance) {
  std::vector<int64_t> change(instance.num_sections + 1, 0);
  for (int b = 0; b < instance.count(); ++b) {
    for (const Span& span : instance.spans_of(b)) {
      change[span.begin] += instance.size[b];
      change[span.end] -= instance.size[b];
    }
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  change.pop_back();
  return change;
}

// How many hulls meet each hull: those that start before its end less those that end before it.
std::vector<int64_t> count_overlaps(const Instance& instance) {
  std::vector<int64_t> starts(instance.num_sections + 1, 0);
  std::vector<int64_t> ends(instance.num_sections + 1, 0);
  for (const Span& hull : instance.hull) {
    ++starts[hull.begin + 1];  // prefix sums: hulls that begin before s
    ++ends[hull.end];          // and end at s or before
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<int64_t> result;
  for (const Span& hull : instance.hull) result.push_back(starts[hull.end] - ends[hull.begin]);
  return result;
}

std::vector<int64_t> key_values(const Instance& instance, char key) {
  if (key == 'O') return count_overlaps(instance);
  const int count = instance.count();
  std::vector<int64_t> values(count);
  if (key == 'T') {
    const RangeMax sums(live_sums(instance));
    for (int b = 0; b < count; ++b) {
      for (const Span& span : instance.spans_of(b)) values[b] = std::max(values[b], sums.of(span));
    }
    return values;
  }
  for (int b = 0; b < count; ++b) {
    const int64_t width = instance.lifetime[b];
    switch (key) {
      case 'W':
        values[b] = width;
        break;
      case 'C':
        values[b] = instance.hull[b].end - instance.hull[b].begin;
        break;
      case 'Z':
        values[b] = instance.size[b];
        break;
      // A product beyond 64 bits saturates: it only orders.
      case 'A':
        values[b] = instance.size[b] > kUnlimited / width ? kUnlimited : instance.size[b] * width;
        break;
      case 'E':
        values[b] = -instance.hull[b].begin;
        break;
      default:
        values[b] = instance.hull[b].begin;
        break;
    }
  }
  return values;
}

}  // namespace

std::vector<int> make_order(const Instance& instance, std::string_view keys) {
  std::vector<std::vector<int64_t>> values;
  for (char key : keys) values.push_back(key_values(instance, key));
  std::vector<int> order(instance.count());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    for (const std::vector<int64_t>& value : values) {
      if (value[a] != value[b]) return value[a] > value[b];
    }
    return a < b;
  });
  return order;
}

std::vector<int> to_rank(const std::vector<int>& order) {
  std::vector<int> rank(order.size());
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<int>(i);
  return rank;
}

}  // namespace plimsoll::planner
