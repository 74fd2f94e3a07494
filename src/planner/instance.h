// What the solver works on: a checked problem with time compressed into sections.
//
// A section is a moment at which the set of live buffers is largest: between the last start and the
// next end. Two buffers conflict exactly if they share a section, and every bound on what is alive
// is reached in one. Buffers without bytes are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plimsoll/planner.h"

namespace plimsoll::planner {

struct Span {
  int begin = 0;  // first section
  int end = 0;    // section after the last
};

struct Instance {
  int num_sections = 0;
  std::vector<int> source;         // index in the problem
  std::vector<int64_t> size;       // > 0
  std::vector<int64_t> alignment;  // power of two
  std::vector<int64_t> fixed;      // offset, or -1
  std::vector<int64_t> lifetime;   // steps from first to last; saturated
  std::vector<Span> hull;          // first to last section
  std::vector<Span> spans;         // live sections; more than one for a buffer with gaps
  std::vector<int> first_span;     // spans of b: first_span[b] .. first_span[b + 1]
  bool has_fixed = false;
  bool has_gaps = false;

  int count() const { return static_cast<int>(size.size()); }
  std::span<const Span> spans_of(int b) const {
    return {spans.data() + first_span[b], spans.data() + first_span[b + 1]};
  }
  bool conflict(int a, int b) const;  // share a section
};

Instance make_instance(const Problem& problem);

// Parts of `instance` that share no section hull, each with its own sections; `source` still
// points into the problem.
std::vector<Instance> split(const Instance& instance);

inline int64_t align_up(int64_t value, int64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// The largest sum of sizes over a section, with the padding that common alignment forces.
int64_t live_bound(const Instance& instance);

// Largest offset + size.
int64_t height_of(const Instance& instance, const std::vector<int64_t>& offsets);

}  // namespace plimsoll::planner
