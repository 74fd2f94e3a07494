// Constant folding, which has to execute and so is the runtime's.
#pragma once

#include "graph/graph.h"
#include "runtime/device.h"

namespace plimsoll {

// Computes what depends on constants alone, now, if it is small; it becomes a constant.
void fold_constants(graph::Graph& graph, const Device& home);

}  // namespace plimsoll
