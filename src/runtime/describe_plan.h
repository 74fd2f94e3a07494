// Writes down what everything in a compiled graph costs.
#pragma once

#include "runtime/executable.h"

namespace plimsoll {

// Fills in c.plan. pre: steps and offsets are there.
void describe_plan(CompiledGraph& c);

}  // namespace plimsoll
