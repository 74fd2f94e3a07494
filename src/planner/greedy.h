// The heuristics: quick, and often at the bound already.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/hull_tree.h"
#include "planner/instance.h"

namespace plimsoll::planner {

// Fills the lowest flat stretch of the skyline with the preferred buffer that fits in it whole, so
// that nothing is wasted below it; a stretch into which nothing fits is raised to its lower
// neighbour. Gaps count as occupied. About n log n. pre: no fixed offsets; `tree` is full.
std::vector<int64_t> skyline_fit(const Instance& instance, HullTree& tree);

// Places buffers in `order`, each into the lowest hole it fits; fixed ones first. Quadratic with a
// small constant; uses gaps.
std::vector<int64_t> first_fit(const Instance& instance, const std::vector<int>& order);

}  // namespace plimsoll::planner
