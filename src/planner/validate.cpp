// Judges a plan by a sweep of its own over time: it knows nothing of the solver's structures.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "planner/names.h"
#include "plimsoll/planner.h"

namespace plimsoll::planner {
namespace {

struct Event {
  int64_t time;
  bool starts;
  int buffer;
};

// What each buffer occupies, gap by gap, as starts and ends in order of time; ends come first.
std::vector<Event> make_events(const Problem& problem) {
  std::vector<Event> events;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.size == 0) continue;
    int64_t begin = buffer.lower;
    const auto add = [&](int64_t end) {
      if (begin < end) {
        events.push_back({begin, true, i});
        events.push_back({end, false, i});
      }
    };
    for (const Gap& gap : buffer.gaps) {
      add(gap.lower);
      begin = gap.upper;
    }
    add(buffer.upper);
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.starts != b.starts) return b.starts;
    return a.buffer < b.buffer;
  });
  return events;
}

std::string check_each(const Problem& problem, const Solution& solution) {
  int64_t height = 0;
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const int64_t offset = solution.offsets[i];
    if (offset < 0) return fmt::format("buffer {} has no offset ({})", name_of(problem, i), offset);
    if (offset % buffer.alignment != 0) {
      return fmt::format("buffer {} at offset {} is not aligned to {}", name_of(problem, i), offset,
                         buffer.alignment);
    }
    if (buffer.offset && *buffer.offset != offset) {
      return fmt::format("buffer {} at offset {} is fixed at {}", name_of(problem, i), offset,
                         *buffer.offset);
    }
    if (offset > problem.capacity || buffer.size > problem.capacity - offset) {
      return fmt::format("buffer {} at offset {} with size {} is above the capacity {}",
                         name_of(problem, i), offset, buffer.size, problem.capacity);
    }
    if (offset > kUnlimited - buffer.size) return "an offset plus a size overflows";
    if (buffer.size > 0) height = std::max(height, offset + buffer.size);
  }
  if (height != solution.height) {
    return fmt::format("height is {}, the solution says {}", height, solution.height);
  }
  return {};
}

}  // namespace

std::string validate(const Problem& problem, const Solution& solution) {
  if (solution.offsets.size() != problem.buffers.size()) {
    return fmt::format("{} offsets for {} buffers", solution.offsets.size(),
                       problem.buffers.size());
  }
  if (std::string wrong = check_each(problem, solution); !wrong.empty()) return wrong;
  std::map<int64_t, int> alive;  // offset -> buffer
  for (const Event& event : make_events(problem)) {
    const int64_t offset = solution.offsets[event.buffer];
    if (!event.starts) {
      alive.erase(offset);
      continue;
    }
    const auto above = alive.lower_bound(offset);
    int other = -1;
    if (above != alive.end() && above->first < offset + problem.buffers[event.buffer].size) {
      other = above->second;
    } else if (above != alive.begin()) {
      const auto below = std::prev(above);
      if (below->first + problem.buffers[below->second].size > offset) other = below->second;
    }
    if (other >= 0) {
      return fmt::format("buffers {} (offset {}) and {} (offset {}) overlap at step {}",
                         name_of(problem, event.buffer), offset, name_of(problem, other),
                         solution.offsets[other], event.time);
    }
    alive.emplace(offset, event.buffer);
  }
  return {};
}

}  // namespace plimsoll::planner
