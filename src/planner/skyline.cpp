#include <algorithm>
#include <queue>

#include "planner/greedy.h"

namespace plimsoll::planner {
namespace {

// A flat stretch [begin, end) at one level. Stretches are kept by their first section; `version`
// tells stale queue entries from live ones.
struct Stretch {
  int end = 0;
  int previous = -1;  // first section of the neighbour to the left, -1 at the edge
  int64_t level = 0;
  int version = 0;  // 0: not a stretch now
};

struct Entry {
  int64_t level;
  int begin;
  int version;
  bool operator>(const Entry& other) const {
    return level != other.level ? level > other.level : begin > other.begin;
  }
};

class Skyline {
 public:
  explicit Skyline(int num_sections) : stretches_(num_sections + 1), sections_(num_sections) {
    set(0, num_sections, -1, 0);
  }

  int pop_lowest() {
    while (true) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (stretches_[entry.begin].version == entry.version) return entry.begin;
    }
  }
  const Stretch& at(int begin) const { return stretches_[begin]; }

  // Occupies `hull`, which lies in the stretch at `begin`, up to `top`.
  void raise_part(int begin, const Span& hull, int64_t top) {
    const Stretch old = stretches_[begin];
    int previous = old.previous;
    drop(begin);
    if (begin < hull.begin) {
      set(begin, hull.begin, previous, old.level);
      previous = begin;
    }
    set(hull.begin, hull.end, previous, top);
    if (hull.end < old.end) set(hull.end, old.end, hull.begin, old.level);
    join_right(hull.begin);
    if (stretches_[hull.begin].previous >= 0) join_right(stretches_[hull.begin].previous);
  }

  // Raises the stretch at `begin` to its lower neighbour; false if it has none.
  bool raise_to_neighbour(int begin) {
    const Stretch old = stretches_[begin];
    int64_t level = kUnlimited;
    if (old.previous >= 0) level = stretches_[old.previous].level;
    if (old.end < sections_) level = std::min(level, stretches_[old.end].level);
    if (level == kUnlimited) return false;
    set(begin, old.end, old.previous, level);
    join_right(begin);
    if (old.previous >= 0) join_right(old.previous);
    return true;
  }

 private:
  void set(int begin, int end, int previous, int64_t level) {
    stretches_[begin] = {end, previous, level, ++versions_};
    if (end < sections_) stretches_[end].previous = begin;
    queue_.push({level, begin, versions_});
  }
  void drop(int begin) { stretches_[begin].version = 0; }
  // Joins the stretch at `begin` with the next if they are level.
  void join_right(int begin) {
    const Stretch left = stretches_[begin];
    if (left.end >= sections_ || stretches_[left.end].level != left.level) return;
    const int end = stretches_[left.end].end;
    drop(left.end);
    set(begin, end, left.previous, left.level);
  }

  std::vector<Stretch> stretches_;
  int sections_;
  int versions_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace

std::vector<int64_t> skyline_fit(const Instance& instance, HullTree& tree) {
  std::vector<int64_t> offsets(instance.count(), 0);
  Skyline skyline(instance.num_sections);
  for (int left = instance.count(); left > 0;) {
    const int begin = skyline.pop_lowest();
    const Stretch stretch = skyline.at(begin);
    const int b = tree.best_inside(begin, stretch.end);
    if (b < 0) {
      if (!skyline.raise_to_neighbour(begin)) break;
      continue;
    }
    offsets[b] = align_up(stretch.level, instance.alignment[b]);
    tree.remove(b);
    --left;
    skyline.raise_part(begin, instance.hull[b], offsets[b] + instance.size[b]);
  }
  return offsets;
}

}  // namespace plimsoll::planner
