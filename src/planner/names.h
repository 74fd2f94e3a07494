// How messages call a buffer: 'id', or #index where there are no ids.
#pragma once

#include <string>

#include "plimsoll/planner.h"

namespace plimsoll::planner {

std::string name_of(const Problem& problem, int index);

}  // namespace plimsoll::planner
