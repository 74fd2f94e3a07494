// What kernels of this backend have in common.
#pragma once

#include <fmt/format.h>

#include "backend/api/walk.h"
#include "backend/gpu/source.h"
#include "backend/opencl/device.h"

namespace plimsoll::opencl {

struct ClState : KernelState {
  explicit ClState(const KernelCall& call) : device(static_cast<ClDevice&>(*call.device)) {
    for (const auto specs : {call.in, call.out}) {
      for (const TensorSpec& spec : specs) {
        if (spec.dtype == DType::kFloat64 && !device.has_doubles())
          throw UnimplementedError(fmt::format("{} has no float64", device.name()));
      }
    }
  }
  std::uint64_t nbytes() const noexcept override { return 1024; }  // programs are booked apart

  ClDevice& device;
};

inline gpu::LineArg to_arg(const Walk& walk) noexcept {
  gpu::LineArg arg;
  arg.rank = walk.rank;
  for (int d = 0; d < walk.rank; ++d) {
    arg.dims[d] = walk.dims[static_cast<std::size_t>(d)];
    arg.strides[d] = walk.strides[static_cast<std::size_t>(d)];
  }
  return arg;
}

}  // namespace plimsoll::opencl
