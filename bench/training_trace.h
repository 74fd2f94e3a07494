// The memory requests of a training run as a trace: the same ones every time.
//
// A transformer of 8 blocks is trained on batches whose sequence length differs from step to step.
// A step is a forward pass (activations that stay for the backward pass, scratch for one op), a
// backward pass (gradients come, activations go) and Adam. Beside it lives what lives beside
// training: batches that are read ahead, metrics, small caches, masks by length, weights copied
// for a checkpoint and written out over the next steps, a copy of the best weights, evaluation
// passes, and samples whose key/value caches grow token by token.
#pragma once

#include <cstdint>

#include "plimsoll/memory/trace.h"

namespace plimsoll::bench {

struct TrainingOptions {
  std::uint64_t num_events = 1'000'000;
  std::uint64_t seed = 1;
};

// Blocks of 1 KiB to 256 MiB; ids count from 1; what lives at the end is not freed.
memory::Trace make_training_trace(const TrainingOptions& options);

}  // namespace plimsoll::bench
