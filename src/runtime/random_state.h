// Where a random call begins, as a tensor; in a function, where its first run does.
#pragma once

#include "ops/op_id.h"
#include "plimsoll/ops/random.h"

namespace plimsoll {

// Takes the next `num_counters` counters of the call's sequence.
Tensor random_state(OpId op, DType dtype, random::OpSeed seed, std::uint64_t num_counters);
// As many as TensorFlow sets aside for a result of num_elements.
Tensor random_state(OpId op, DType dtype, std::int64_t num_elements, random::OpSeed seed);

}  // namespace plimsoll
