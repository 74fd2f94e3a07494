// Buffers of a made-up training step, always the same for a given count: layers forward, then
// backward, with residual links, saved masks and one-step scratch.
#pragma once

#include <cstdint>

#include "plimsoll/planner.h"

namespace plimsoll::bench {

planner::Problem make_training_problem(int num_buffers, uint64_t seed = 20);

}  // namespace plimsoll::bench
