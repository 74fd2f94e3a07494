// Orders in which buffers are preferred, by heuristics and search alike.
#pragma once

#include <string_view>
#include <vector>

#include "planner/instance.h"

namespace plimsoll::planner {

// What an order compares, most important first, one letter each; larger comes first:
// W lifetime (steps), C lifetime (sections), Z size, A size times lifetime, T largest live sum it
// takes part in, O buffers whose hull it meets, E earliest first section, L latest first section.
std::vector<int> make_order(const Instance& instance, std::string_view keys);

// rank[order[i]] = i.
std::vector<int> to_rank(const std::vector<int>& order);

}  // namespace plimsoll::planner
