// Input is checked once, here; what comes after may rely on it.
#include <algorithm>
#include <bit>
#include <string>
#include <unordered_set>

#include "base/check.h"
#include "planner/names.h"
#include "plimsoll/planner.h"

namespace plimsoll::planner {
namespace {

constexpr int64_t kMaxSum = int64_t{1} << 62;

void check_gaps(const Problem& problem, int index) {
  const Buffer& buffer = problem.buffers[index];
  int64_t reached = buffer.lower;
  bool is_alive = buffer.gaps.empty();
  for (const Gap& gap : buffer.gaps) {
    PLIMSOLL_CHECK(gap.lower < gap.upper, InvalidArgumentError,
                   "buffer {}: gap [{}, {}) is empty or inverted", name_of(problem, index),
                   gap.lower, gap.upper);
    PLIMSOLL_CHECK(
        gap.lower >= reached && gap.upper <= buffer.upper, InvalidArgumentError,
        "buffer {}: gap [{}, {}) must lie in the lifetime [{}, {}), after the gap before",
        name_of(problem, index), gap.lower, gap.upper, buffer.lower, buffer.upper);
    is_alive |= gap.lower > reached;
    reached = gap.upper;
  }
  PLIMSOLL_CHECK(is_alive || reached < buffer.upper, InvalidArgumentError,
                 "buffer {}: its gaps cover the whole lifetime [{}, {})", name_of(problem, index),
                 buffer.lower, buffer.upper);
}

void check_buffer(const Problem& problem, int index) {
  const Buffer& buffer = problem.buffers[index];
  PLIMSOLL_CHECK(buffer.size >= 0 && buffer.size < kMaxSum, InvalidArgumentError,
                 "buffer {}: size must be in [0, 2^62), received {}", name_of(problem, index),
                 buffer.size);
  PLIMSOLL_CHECK(buffer.lower < buffer.upper, InvalidArgumentError,
                 "buffer {}: lifetime [{}, {}) is empty or inverted", name_of(problem, index),
                 buffer.lower, buffer.upper);
  PLIMSOLL_CHECK(buffer.alignment > 0 && buffer.alignment < kMaxSum &&
                     std::has_single_bit(static_cast<uint64_t>(buffer.alignment)),
                 InvalidArgumentError, "buffer {}: alignment must be a power of two, received {}",
                 name_of(problem, index), buffer.alignment);
  if (buffer.offset) {
    PLIMSOLL_CHECK(*buffer.offset >= 0 && *buffer.offset < kMaxSum, InvalidArgumentError,
                   "buffer {}: fixed offset must be in [0, 2^62), received {}",
                   name_of(problem, index), *buffer.offset);
    PLIMSOLL_CHECK(*buffer.offset % buffer.alignment == 0, InvalidArgumentError,
                   "buffer {}: fixed offset {} is not a multiple of its alignment {}",
                   name_of(problem, index), *buffer.offset, buffer.alignment);
  }
  check_gaps(problem, index);
}

bool alive_together(const Buffer& a, const Buffer& b) {
  int64_t at = std::max(a.lower, b.lower);
  const int64_t end = std::min(a.upper, b.upper);
  size_t i = 0;
  size_t j = 0;
  while (at < end) {  // skip forward past the gaps of either
    const int64_t before = at;
    while (i < a.gaps.size() && a.gaps[i].upper <= at) ++i;
    while (j < b.gaps.size() && b.gaps[j].upper <= at) ++j;
    if (i < a.gaps.size() && a.gaps[i].lower <= at) at = a.gaps[i].upper;
    if (j < b.gaps.size() && b.gaps[j].lower <= at) at = std::max(at, b.gaps[j].upper);
    if (at == before) return true;
  }
  return false;
}

// Fixed buffers by offset; a pair conflicts if it overlaps in bytes and in time.
void check_fixed(const Problem& problem) {
  std::vector<int> fixed;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    if (problem.buffers[i].offset && problem.buffers[i].size > 0) fixed.push_back(i);
  }
  std::sort(fixed.begin(), fixed.end(),
            [&](int a, int b) { return *problem.buffers[a].offset < *problem.buffers[b].offset; });
  for (size_t i = 0; i < fixed.size(); ++i) {
    const Buffer& a = problem.buffers[fixed[i]];
    for (size_t j = i + 1; j < fixed.size(); ++j) {
      const Buffer& b = problem.buffers[fixed[j]];
      if (*b.offset >= *a.offset + a.size) break;
      PLIMSOLL_CHECK(!alive_together(a, b), InvalidArgumentError,
                     "buffers {} and {}: fixed at {} (size {}) and {} (size {}), they overlap",
                     name_of(problem, fixed[i]), name_of(problem, fixed[j]), *a.offset, a.size,
                     *b.offset, b.size);
    }
  }
}

void check_ids(const Problem& problem) {
  if (problem.ids.empty()) return;
  PLIMSOLL_CHECK(problem.ids.size() == problem.buffers.size(), InvalidArgumentError,
                 "ids must be empty or one per buffer, received {} ids for {} buffers",
                 problem.ids.size(), problem.buffers.size());
  std::unordered_set<std::string_view> seen;
  for (const std::string& id : problem.ids) {
    PLIMSOLL_CHECK(seen.insert(id).second, InvalidArgumentError, "duplicate buffer id '{}'", id);
  }
}

}  // namespace

std::string name_of(const Problem& problem, int index) {
  if (problem.ids.size() == problem.buffers.size()) return fmt::format("'{}'", problem.ids[index]);
  return fmt::format("#{}", index);
}

void check(const Problem& problem) {
  PLIMSOLL_CHECK(problem.capacity >= 0, InvalidArgumentError,
                 "capacity must not be negative, received {}", problem.capacity);
  PLIMSOLL_CHECK(problem.buffers.size() < (size_t{1} << 30), InvalidArgumentError,
                 "at most 2^30 buffers can be planned, received {}", problem.buffers.size());
  int64_t fixed_top = 0;
  int64_t sum = 0;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    check_buffer(problem, i);
    const Buffer& buffer = problem.buffers[i];
    if (buffer.offset) fixed_top = std::max(fixed_top, *buffer.offset);
    PLIMSOLL_CHECK(fixed_top < kMaxSum - sum && buffer.size < kMaxSum - sum - fixed_top &&
                       buffer.alignment < kMaxSum - sum - fixed_top - buffer.size,
                   InvalidArgumentError,
                   "buffer {}: with size {} and alignment {} the sizes add up to 2^62 or more",
                   name_of(problem, i), buffer.size, buffer.alignment);
    sum += buffer.size + buffer.alignment;
  }
  check_ids(problem);
  check_fixed(problem);
}

}  // namespace plimsoll::planner
