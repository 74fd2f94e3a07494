#include "planner/instance.h"

#include <algorithm>

namespace plimsoll::planner {
namespace {

struct Event {
  int64_t time;
  bool starts;
  int buffer;
};

std::vector<Event> make_events(const Problem& problem) {
  std::vector<Event> events;
  events.reserve(2 * problem.buffers.size());
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.size == 0) continue;
    int64_t begin = buffer.lower;
    const auto add = [&](int64_t end) {
      if (begin == end) return;
      events.push_back({begin, true, i});
      events.push_back({end, false, i});
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

void append(Instance& instance, int source, const Buffer& buffer, std::span<const Span> spans) {
  instance.source.push_back(source);
  instance.size.push_back(buffer.size);
  instance.alignment.push_back(buffer.alignment);
  instance.fixed.push_back(buffer.offset.value_or(-1));
  const uint64_t steps = static_cast<uint64_t>(buffer.upper) - static_cast<uint64_t>(buffer.lower);
  instance.lifetime.push_back(static_cast<int64_t>(std::min<uint64_t>(steps, kUnlimited)));
  instance.has_fixed |= buffer.offset.has_value();
  instance.has_gaps |= spans.size() > 1;
  instance.hull.push_back({spans.front().begin, spans.back().end});
  instance.spans.insert(instance.spans.end(), spans.begin(), spans.end());
  instance.first_span.push_back(static_cast<int>(instance.spans.size()));
}

}  // namespace

bool Instance::conflict(int a, int b) const {
  if (hull[a].begin >= hull[b].end || hull[b].begin >= hull[a].end) return false;
  if (!has_gaps) return true;
  for (const Span& x : spans_of(a)) {
    for (const Span& y : spans_of(b)) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

Instance make_instance(const Problem& problem) {
  std::vector<std::vector<Span>> spans(problem.buffers.size());
  Instance instance;
  bool started = false;
  for (const Event& event : make_events(problem)) {
    auto& list = spans[event.buffer];
    if (event.starts) {
      list.push_back({instance.num_sections, 0});
      started = true;
      continue;
    }
    if (started) ++instance.num_sections;  // an end after a start closes a section
    started = false;
    list.back().end = instance.num_sections;
  }
  instance.first_span.push_back(0);
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    auto& list = spans[i];
    if (list.empty()) continue;
    size_t kept = 0;  // join what a gap too short to matter had cut
    for (size_t k = 1; k < list.size(); ++k) {
      if (list[k].begin <= list[kept].end) {
        list[kept].end = list[k].end;
      } else {
        list[++kept] = list[k];
      }
    }
    list.resize(kept + 1);
    append(instance, i, problem.buffers[i], list);
  }
  return instance;
}

std::vector<Instance> split(const Instance& instance) {
  std::vector<int> joins(instance.num_sections + 1, 0);  // hulls over the boundary before s
  for (const Span& hull : instance.hull) {
    ++joins[hull.begin + 1];
    --joins[hull.end];
  }
  std::vector<int> part_of(instance.num_sections, 0);
  std::vector<int> first;  // section of each part
  int over = 0;
  for (int s = 0; s < instance.num_sections; ++s) {
    over += joins[s];
    if (s == 0 || over == 0) first.push_back(s);
    part_of[s] = static_cast<int>(first.size()) - 1;
  }
  first.push_back(instance.num_sections);
  std::vector<Instance> parts(first.size() - 1);
  for (size_t p = 0; p < parts.size(); ++p) {
    parts[p].num_sections = first[p + 1] - first[p];
    parts[p].first_span.push_back(0);
  }
  std::vector<Span> moved;
  for (int b = 0; b < instance.count(); ++b) {
    const int p = part_of[instance.hull[b].begin];
    moved.assign(instance.spans_of(b).begin(), instance.spans_of(b).end());
    for (Span& span : moved) span = {span.begin - first[p], span.end - first[p]};
    Buffer buffer{.upper = instance.lifetime[b],
                  .size = instance.size[b],
                  .alignment = instance.alignment[b]};
    if (instance.fixed[b] >= 0) buffer.offset = instance.fixed[b];
    append(parts[p], instance.source[b], buffer, moved);
  }
  return parts;
}

int64_t height_of(const Instance& instance, const std::vector<int64_t>& offsets) {
  int64_t height = 0;
  for (int b = 0; b < instance.count(); ++b) {
    height = std::max(height, offsets[b] + instance.size[b]);
  }
  return height;
}

}  // namespace plimsoll::planner
