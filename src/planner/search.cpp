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
  is_dirty_.assign(instance.num_sections, 0);
}

void Search::reset(int64_t target, const std::vector<int>& rank) {
  const int count = instance_.count();
  target_ = target;
  rank_ = rank;
  next_bound_ = kUnlimited;
  nodes_ = 0;
  depth_ = 0;
  salt_ = mix(salt_ + 1);
  changes_.clear();
  placed_.assign(count, 0);
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
  lists_.resize(count);
  for (int b = 0; b < count; ++b) lists_[rank[b]] = b;
}

SearchRun Search::run(int64_t target, const std::vector<int>& rank, int64_t node_limit,
                      const std::function<bool()>& interrupted) {
  reset(target, rank);
  node_limit_ = node_limit;
  interrupted_ = &interrupted;
  SearchRun result;
  const Part all{0, instance_.count(), 0, instance_.num_sections, 0};
  Outcome outcome = Outcome::kFailed;
  if (sections_hold(all, 0)) outcome = visit(all, 0, -1);
  result.nodes = nodes_;
  if (outcome == Outcome::kFound) {
    result.end = SearchRun::End::kFound;
    result.offsets = lowest_;
  } else if (outcome == Outcome::kFailed) {
    result.end = SearchRun::End::kExhausted;
    result.next_bound = next_bound_;
  }
  return result;
}

// Remembers by how much a branch missed: the smallest miss bounds every plan from below.
bool Search::fail(int64_t bound) {
  next_bound_ = std::min(next_bound_, bound);
  return false;
}

// Gathers what may be placed next, lowest first, and the key of this state. Passed-over buffers
// (below the floor) can only be placed once something is put under them, so their own offset does
// not matter any more.
bool Search::collect(const Part& part, int64_t floor, int floor_rank,
                     std::vector<Candidate>& candidates) {
  int64_t lowest_top = kUnlimited;
  uint64_t key = salt_;
  uint64_t check = 0;
  candidates.clear();
  for (int i = part.begin; i < part.end; ++i) {
    const int b = lists_[i];
    const int64_t offset = lowest_[b];
    const bool passed = offset < floor || (offset == floor && rank_[b] < floor_rank);
    if (passed) {
      if (instance_.fixed[b] >= 0) return false;
    } else {
      candidates.push_back({offset, b});
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
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
    return a.offset != b.offset ? a.offset < b.offset : rank_[a.buffer] < rank_[b.buffer];
  });
  return true;
}

bool Search::known_failure(uint64_t key, uint64_t check) const {
  const Failure& failure = failures_[key >> (64 - kFailureBits)];
  return failure.key == key && failure.check == check;
}

Search::Outcome Search::visit(const Part& part, int64_t floor, int floor_rank) {
  if (part.begin == part.end) return Outcome::kFound;
  if (nodes_ >= node_limit_) return Outcome::kStopped;
  if (++nodes_ % 256 == 0 && (*interrupted_)()) return Outcome::kStopped;
  std::vector<Candidate>& candidates = candidates_[depth_];
  if (!collect(part, floor, floor_rank, candidates)) return Outcome::kFailed;
  const uint64_t key = key_;
  const uint64_t check = check_;
  if (techniques_.no_goods && known_failure(key, check)) return Outcome::kFailed;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const int b = candidates[i].buffer;
    const size_t mark = changes_.size();
    bool covered = false;
    if (place(b, part, covered)) {
      ++depth_;
      const Outcome outcome = descend(part, b);
      --depth_;
      if (outcome != Outcome::kFailed) return outcome;
    }
    undo(mark);
    // With nothing left to come above it, this was the best that could be done at this spot.
    if (techniques_.dominance && !covered) break;
  }
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
  const Outcome outcome = visit(rest, lowest_[placed], rank_[placed]);
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
    outcome = visit(next, lowest_[placed], rank_[placed]);
    if (outcome != Outcome::kFound) break;
  }
  lists_.resize(base);
  return outcome;
}

bool Search::place(int buffer, const Part& part, bool& covered) {
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
  update_floors();
  return lifted && sections_hold(part, offset);
}

// Whatever shares a section with `buffer` must go above it from now on.
bool Search::lift_neighbours(int buffer, bool& covered) {
  const int64_t top = lowest_[buffer] + instance_.size[buffer];
  bool holds = top <= target_ || fail(top);
  for (int i = first_neighbour_[buffer]; i < first_neighbour_[buffer + 1]; ++i) {
    const int b = neighbours_[i];
    if (placed_[b]) continue;
    covered = true;
    const int64_t before = lowest_[b];
    if (before >= top) continue;
    lowest_[b] = align_up(top, instance_.alignment[b]);
    changes_.push_back({Change::Kind::kLowest, b, before});
    if (instance_.fixed[b] >= 0) holds = false;
    const int64_t new_top = lowest_[b] + instance_.size[b];
    if (new_top > target_) holds = fail(new_top);
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

void Search::update_floors() {
  for (int s : dirty_) {
    int64_t floor = kUnlimited;
    for (int i = first_member_[s]; i < first_member_[s + 1]; ++i) {
      const int b = members_[i];
      if (!placed_[b]) floor = std::min(floor, lowest_[b]);
    }
    changes_.push_back({Change::Kind::kFloor, s, floor_[s]});
    floor_[s] = floor;
    is_dirty_[s] = 0;
  }
  dirty_.clear();
}

// All that is to come goes at `offset` or higher, and at its section's floor or higher.
bool Search::sections_hold(const Part& part, int64_t offset) {
  int64_t highest = 0;
  for (int s = part.lower; s < part.upper; ++s) {
    const int64_t floor =
        techniques_.section_floor ? std::max(offset, floor_[s]) + to_come_[s] : to_come_[s];
    if (to_come_[s] > 0) highest = std::max(highest, floor);
  }
  return highest <= target_ || fail(highest);
}

void Search::undo(size_t mark) {
  while (changes_.size() > mark) {
    const Change change = changes_.back();
    changes_.pop_back();
    switch (change.kind) {
      case Change::Kind::kLowest:
        lowest_[change.index] = change.before;
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
