// For proofs that a plan was kept, found independently of it.
#pragma once

#include <cstdint>
#include <span>

#include "plimsoll/function.h"

namespace plimsoll {

// Runs a function and returns the end of the highest byte that was written in its arena.
std::uint64_t measure_written_height(const Function& function, std::span<const Tensor> inputs,
                                     std::span<Tensor> outputs);

}  // namespace plimsoll
