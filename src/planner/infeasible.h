// Which buffers make it impossible?
#pragma once

#include "plimsoll/planner.h"

namespace plimsoll::planner {

// Fills result.infeasible and result.irreducible for a problem known not to fit its capacity.
void explain_infeasible(const Problem& problem, const Options& options, double seconds,
                        Result& result);

}  // namespace plimsoll::planner
