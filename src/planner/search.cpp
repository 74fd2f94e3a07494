#include "planner/search.h"

#include <algorithm>
#include <bit>

namespace plimsoll::planner {
namespace {

constexpr int kFailureBits = 16;

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

}  // namespace

Search::Search(const Instance& instance, const Techniques& techniques)
    : instance_(instance), techniques_(techniques), failures_(size_t{1} << kFailureBits) {
  const int count = instance.count();
  first_member_.assign(instance.num_sections + 1, 0);
  for (const Span& span : instance.spans) {
    for (int s = span.begin; s < span.end; ++s) ++first_member_[s + 1];
  }
  for (int s = 0; s < instance.num_sections; ++s) first_member_[s + 1] += first_member_[s];
  members_.resize(first_member_.back());
  std::vector<int> next(first_member_.begin(), first_member_.end() - 1);
  for (int b = 0; b < count; ++b) {
    for (const Span& span : instance.spans_of(b)) {
      for (int s = span.begin; s < span.end; ++s) members_[next[s]++] = b;
    }
  }
  first_neighbour_.push_back(0);
  std::vector<int> seen(count, -1);
  for (int b = 0; b < count; ++b) {
    seen[b] = b;
    for (const Span& span : instance.spans_of(b)) {
      for (int i = first_member_[span.begin]; i < first_member_[span.end]; ++i) {
        const int other = members_[i];
        if (seen[other] == b) continue;
        seen[other] = b;
        neighbours_.push_back(other);
      }
    }
    first_neighbour_.push_back(static_cast<int>(neighbours_.size()));
  }
  candidates_.resize(count + 1);
  load_.resize(count);
  is_dirty_.assign(instance.num_sections, 0);
}

void Search::reset(int64_t target, const std::vector<int>& order) {
  const int count = instance_.count();
  target_ = target;
  next_bound_ = kUnlimited;
  nodes_ = 0;
  depth_ = 0;
  salt_ = mix(salt_ + 1);
  changes_.clear();
  failed_.assign(instance_.num_sections, 0);
  placed_.assign(count, 0);
  passed_.assign(count, 0);
  lowest_.assign(count, 0);
  floor_.assign(instance_.num_sections, kUnlimited);
  to_come_.assign(instance_.num_sections, 0);
  joins_.assign(instance_.num_sections, 0);
  for (int b = 0; b < count; ++b) {
    if (instance_.fixed[b] >= 0) lowest_[b] = instance_.fixed[b];
    for (const Span& span : instance_.spans_of(b)) {
      for (int s = span.begin; s < span.end; ++s) {
        to_come_[s] += instance_.size[b];
        floor_[s] = std::min(floor_[s], lowest_[b]);
      }
    }
    for (int s = instance_.hull[b].begin; s + 1 < instance_.hull[b].end; ++s) ++joins_[s];
  }
  lists_ = order;
}

SearchRun Search::run(int64_t target, const Preference& preference, int64_t node_limit,
                      const std::function<bool()>& interrupted) {
  reset(target, preference.order);
  by_load_ = preference.by_load;
  node_limit_ = node_limit;
  interrupted_ = &interrupted;
  SearchRun result;
  const Part all{0, instance_.count(), 0, instance_.num_sections, 0};
  Outcome outcome = Outcome::kFailed;
  int64_t height = 0;
  for (int s = 0; s < instance_.num_sections; ++s) {
    height = std::max(height, floor_[s] + to_come_[s]);
  }
  next_bound_ = std::max(height, target_ + 1);
  if (height <= target_) {
    next_bound_ = kUnlimited;
    outcome = visit(all, 0);
  }
  result.nodes = nodes_;
  if (outcome == Outcome::kFound) {
    result.end = SearchRun::End::kFound;
    result.offsets = lowest_;
  } else if (outcome == Outcome::kFailed) {
    result.end = SearchRun::End::kExhausted;
    result.next_bound = next_bound_;
  }
  result.failed = failed_;
  return result;
}

// Remembers by how much a branch missed: the smallest miss bounds every plan from below.
bool Search::fail(int64_t bound, int section) {
  next_bound_ = std::min(next_bound_, bound);
  ++failed_[section];
  return false;
}

// Gathers what may be placed next, lowest first, and the key of this state. A buffer that was
// passed over can only be placed once something is put under it, so its own offset does not matter
// any more.
bool Search::collect(const Part& part, int64_t floor, std::vector<Candidate>& candidates) {
  int64_t lowest_top = kUnlimited;
  uint64_t key = salt_;
  uint64_t check = 0;
  candidates.clear();
  for (int i = part.begin; i < part.end; ++i) {
    const int b = lists_[i];
    const int64_t offset = lowest_[b];
    const bool passed = offset < floor || passed_[b];
    if (!passed) {
      candidates.push_back({offset, i, b});
    } else if (instance_.fixed[b] >= 0) {
      return false;
    }
    lowest_top = std::min(lowest_top, std::max(offset, floor) + instance_.size[b]);
    const uint64_t hash = mix(static_cast<uint64_t>(b + 1) * 0x9e3779b97f4a7c15u +
                              (passed ? 0 : static_cast<uint64_t>(offset) + 1));
    key += hash;
    check ^= std::rotl(hash, 23) * 0xc2b2ae3d27d4eb4fu;
  }
  key_ = key;
  check_ = check;
  if (techniques_.dominance) {
    std::erase_if(candidates, [&](const Candidate& c) { return c.offset >= lowest_top; });
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.place < b.place;
  });
  return true;
}

bool Search::known_failure(uint64_t key, uint64_t check) const {
  const Failure& failure = failures_[key >> (64 - kFailureBits)];
  return failure.key == key && failure.check == check;
}

Search::Outcome Search::visit(const Part& part, int64_t floor) {
  if (part.begin == part.end) return Outcome::kFound;
  if (nodes_ >= node_limit_) return Outcome::kStopped;
  if (++nodes_ % 256 == 0 && (*interrupted_)()) return Outcome::kStopped;
  std::vector<Candidate>& candidates = candidates_[depth_];
  if (!collect(part, floor, candidates)) return Outcome::kFailed;
  const uint64_t key = key_;
  const uint64_t check = check_;
  if (techniques_.no_goods && known_failure(key, check)) return Outcome::kFailed;
  const size_t entry = changes_.size();
  const int64_t highest = techniques_.section_floor ? highest_offset(part) : target_;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const int b = candidates[i].buffer;
    if (candidates[i].offset > highest) {
      next_bound_ = std::min(next_bound_, candidates[i].offset - highest + target_);
      break;
    }
    const size_t mark = changes_.size();
    bool covered = false;
    if (place(b, covered)) {
      ++depth_;
      const Outcome outcome = descend(part, b);
      --depth_;
      if (outcome != Outcome::kFailed) return outcome;
    }
    undo(mark);
    passed_[b] = 1;
    changes_.push_back({Change::Kind::kPassed, b, 0});
    // With nothing left to come above it, this was the best that could be done at this spot.
    if (techniques_.dominance && !covered) break;
  }
  undo(entry);
  if (techniques_.no_goods) failures_[key >> (64 - kFailureBits)] = {key, check};
  return Outcome::kFailed;
}

Search::Outcome Search::descend(const Part& part, int placed) {
  if (techniques_.decompose) {
    const Span& hull = instance_.hull[placed];
    for (int s = hull.begin; s + 1 < hull.end; ++s) {
      if (joins_[s] == 0) return visit_parts(part, placed);
    }
  }
  const int begin = static_cast<int>(lists_.size());
  for (int i = part.begin; i < part.end; ++i) {
    if (lists_[i] != placed) lists_.push_back(lists_[i]);
  }
  const Part rest{begin, static_cast<int>(lists_.size()), part.lower, part.upper, 0};
  const Outcome outcome = visit(rest, lowest_[placed]);
  lists_.resize(begin);
  return outcome;
}

// The parts between boundaries that nothing crosses any more, tightest first.
Search::Outcome Search::visit_parts(const Part& part, int placed) {
  const int base = static_cast<int>(lists_.size());
  std::vector<Part> parts;
  int lower = part.lower;
  for (int s = part.lower; s < part.upper; ++s) {
    if (s + 1 < part.upper && joins_[s] != 0) continue;
    Part next{static_cast<int>(lists_.size()), 0, lower, s + 1, kUnlimited};
    for (int i = part.begin; i < part.end; ++i) {
      const int b = lists_[i];
      if (!placed_[b] && instance_.hull[b].begin >= lower && instance_.hull[b].end <= s + 1) {
        lists_.push_back(b);
      }
    }
    next.end = static_cast<int>(lists_.size());
    if (by_load_) sort_by_load(next);
    for (int t = lower; t <= s; ++t) {
      if (to_come_[t] > 0) next.slack = std::min(next.slack, target_ - floor_[t] - to_come_[t]);
    }
    if (next.begin < next.end) parts.push_back(next);
    lower = s + 1;
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.slack < b.slack; });
  Outcome outcome = Outcome::kFound;
  for (const Part& next : parts) {
    outcome = visit(next, lowest_[placed]);
    if (outcome != Outcome::kFound) break;
  }
  lists_.resize(base);
  return outcome;
}

// Loads have changed: what is part of the fullest sections now comes first.
void Search::sort_by_load(const Part& part) {
  for (int i = part.begin; i < part.end; ++i) {
    const int b = lists_[i];
    load_[b] = 0;
    for (const Span& span : instance_.spans_of(b)) {
      for (int s = span.begin; s < span.end; ++s) load_[b] = std::max(load_[b], to_come_[s]);
    }
  }
  std::stable_sort(lists_.begin() + part.begin, lists_.begin() + part.end,
                   [&](int a, int b) { return load_[a] > load_[b]; });
}

bool Search::place(int buffer, bool& covered) {
  const int64_t offset = lowest_[buffer];
  const int64_t size = instance_.size[buffer];
  placed_[buffer] = 1;
  changes_.push_back({Change::Kind::kPlaced, buffer, 0});
  for (const Span& span : instance_.spans_of(buffer)) {
    for (int s = span.begin; s < span.end; ++s) {
      to_come_[s] -= size;
      if (floor_[s] == offset && !is_dirty_[s]) {
        is_dirty_[s] = 1;
        dirty_.push_back(s);
      }
    }
  }
  const Span& hull = instance_.hull[buffer];
  for (int s = hull.begin; s + 1 < hull.end; ++s) --joins_[s];
  const bool lifted = lift_neighbours(buffer, covered);
  return update_floors(offset) && lifted;
}

// Whatever shares a section with `buffer` must go above it from now on.
bool Search::lift_neighbours(int buffer, bool& covered) {
  const int64_t top = lowest_[buffer] + instance_.size[buffer];
  bool holds = top <= target_ || fail(top, instance_.hull[buffer].begin);
  for (int i = first_neighbour_[buffer]; i < first_neighbour_[buffer + 1]; ++i) {
    const int b = neighbours_[i];
    if (placed_[b]) continue;
    covered = true;
    const int64_t before = lowest_[b];
    if (before >= top) continue;
    lowest_[b] = align_up(top, instance_.alignment[b]);
    changes_.push_back({Change::Kind::kLowest, b, before});
    if (passed_[b]) {
      passed_[b] = 0;
      changes_.push_back({Change::Kind::kPassed, b, 1});
    }
    if (instance_.fixed[b] >= 0) holds = false;
    const int64_t new_top = lowest_[b] + instance_.size[b];
    if (new_top > target_) holds = fail(new_top, instance_.hull[b].begin);
    for (const Span& span : instance_.spans_of(b)) {
      for (int s = span.begin; s < span.end; ++s) {
        if (floor_[s] == before && !is_dirty_[s]) {
          is_dirty_[s] = 1;
          dirty_.push_back(s);
        }
      }
    }
  }
  return holds;
}

// Stops at the first section whose rest does not fit any more.
bool Search::update_floors(int64_t offset) {
  bool holds = true;
  for (int s : dirty_) {
    is_dirty_[s] = 0;
    if (!holds || to_come_[s] == 0) continue;
    int64_t floor = kUnlimited;
    for (int i = first_member_[s]; i < first_member_[s + 1]; ++i) {
      const int b = members_[i];
      if (!placed_[b]) floor = std::min(floor, lowest_[b]);
    }
    changes_.push_back({Change::Kind::kFloor, s, floor_[s]});
    floor_[s] = floor;
    const int64_t height = std::max(offset, floor) + to_come_[s];
    if (techniques_.section_floor && height > target_) holds = fail(height, s);
  }
  dirty_.clear();
  return holds;
}

// The highest offset from which all that is to come in every section still fits.
int64_t Search::highest_offset(const Part& part) const {
  int64_t most = 0;
  for (int s = part.lower; s < part.upper; ++s) most = std::max(most, to_come_[s]);
  return target_ - most;
}

void Search::undo(size_t mark) {
  while (changes_.size() > mark) {
    const Change change = changes_.back();
    changes_.pop_back();
    switch (change.kind) {
      case Change::Kind::kLowest:
        lowest_[change.index] = change.before;
        break;
      case Change::Kind::kPassed:
        passed_[change.index] = static_cast<char>(change.before);
        break;
      case Change::Kind::kFloor:
        floor_[change.index] = change.before;
        break;
      case Change::Kind::kPlaced: {
        placed_[change.index] = 0;
        for (const Span& span : instance_.spans_of(change.index)) {
          for (int s = span.begin; s < span.end; ++s) {
            to_come_[s] += instance_.size[change.index];
          }
        }
        const Span& hull = instance_.hull[change.index];
        for (int s = hull.begin; s + 1 < hull.end; ++s) ++joins_[s];
        break;
      }
    }
  }
}

}  // namespace plimsoll::planner
