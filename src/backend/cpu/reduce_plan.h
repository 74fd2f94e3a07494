// How a reduction walks through its input; made once per shape.
#pragma once

#include <array>
#include <cstdint>

#include "backend/api/kernel.h"

namespace plimsoll::cpu {

inline constexpr std::int64_t kReduceGrain = 32768;  // elements that are worth a thread
inline constexpr std::int64_t kReduceColumns = 512;  // accumulators that stay in the first cache

// Some dimensions of a shape with their strides, innermost first, merged where they can be.
struct Walk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t count = 1;

  void add(std::int64_t dim, std::int64_t stride) noexcept {
    count *= dim;
    if (dim == 1) return;
    const auto last = static_cast<std::size_t>(rank - 1);
    if (rank > 0 && stride == dims[last] * strides[last]) {
      dims[last] *= dim;
      return;
    }
    dims[static_cast<std::size_t>(rank)] = dim;
    strides[static_cast<std::size_t>(rank++)] = stride;
  }
  std::int64_t offset(std::int64_t index) const noexcept {
    if (rank == 1) return index * strides[0];
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<std::size_t>(d);
      at += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return at;
  }
};

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
