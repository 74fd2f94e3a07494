// How a reduction walks through its input; made once per shape.
#pragma once

#include <cstdint>

#include "backend/api/kernel.h"
#include "backend/api/walk.h"

namespace plimsoll::cpu {

inline constexpr std::int64_t kReduceGrain = 32768;  // elements that are worth a thread
inline constexpr std::int64_t kReduceColumns = 512;  // accumulators that stay in the first cache

struct ReducePlan;
// Scratch: splits * num_out accumulators, of up to 8 bytes each.
using ReduceLoop = void (*)(const ReducePlan&, const void* in, void* out, void* scratch) noexcept;

struct ReducePlan final : KernelState {
  bool is_inner_reduced = true;
  std::int64_t inner = 1;   // elements of the innermost dimension
  Walk kept, reduced;       // the other dimensions
  std::int64_t count = 1;   // elements that become one
  std::int64_t splits = 1;  // parts of a reduction that are done apart, then put together
  std::int64_t num_out = 1;
  ReduceLoop loop = nullptr;
};

// The loop of a reduction, for the instructions of this machine; null for types that it has not.
ReduceLoop find_reduce_loop(OpId op, DType dtype) noexcept;

}  // namespace plimsoll::cpu
