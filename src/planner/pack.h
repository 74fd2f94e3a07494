// The heuristics in the order that pays, until one reaches the goal.
#pragma once

#include <string>
#include <vector>

#include "planner/instance.h"
#include "planner/limits.h"

namespace plimsoll::planner {

struct Packing {
  std::vector<int64_t> offsets;
  int64_t height = 0;
  std::string method;
};

// The best packing found; stops at one of at most `goal`. At least one is always made, whatever
// the limits.
Packing pack(const Instance& instance, int64_t goal, const Techniques& techniques,
             const Limits& limits);

}  // namespace plimsoll::planner
