// Where the stateful random functions begin: TensorFlow's rules for the seeds
// of eager calls.
#pragma once

#include <cstdint>
#include <optional>

#include "ops/op_id.h"

namespace plimsoll {

void set_global_seed(std::int64_t seed);

// A place in the stream of Philox: see ops/random.def.
struct RandomState {
  std::int64_t key, low, high;
};
// Takes the next `num_counters` counters of the sequence of (op, dtype, seeds).
// Without a seed of its own, a call takes the next one of a sequence that the
// global seed begins; without either, any.
RandomState next_random_state(OpId op, DType dtype, std::optional<std::int64_t> op_seed,
                              std::uint64_t num_counters);

// A seed for what draws by itself, as shuffles do: the same one after the same global seed.
std::uint64_t make_seed(std::optional<std::int64_t> own);

}  // namespace plimsoll
