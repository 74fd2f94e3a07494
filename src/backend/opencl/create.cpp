#include <cstring>

#include "backend/gpu/expressions.h"
#include "backend/opencl/fill_pattern.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"

namespace plimsoll::opencl {
namespace {

struct FillState final : ClState {
  using ClState::ClState;
  FillPattern pattern;
};

KernelStatePtr prepare_fill(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<FillState>(call);
  state->pattern = FillPattern(call.attrs[attr::Fill::value].as_float(), call.out[0].dtype);
  return state;
}
Status run_fill(const RunArgs& args) noexcept {
  const auto& state = static_cast<const FillState&>(*args.state);
  return state.device.fill(args.out[0], state.pattern.bytes, state.pattern.size);
}

KernelStatePtr prepare_copy(const KernelCall& call, ScratchBook&) {
  return std::make_shared<ClState>(call);
}
Status run_copy(const RunArgs& args) noexcept {
  const auto& state = static_cast<const ClState&>(*args.state);
  return state.device.move(args.out[0].buffer + args.out[0].offset,
                           args.in[0].buffer + args.in[0].offset, args.in[0].nbytes);
}

struct CastState final : ClState {
  using ClState::ClState;
  ClKernel kernel;
};
KernelStatePtr prepare_cast(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<CastState>(call);
  state->kernel =
      state->device.kernel(gpu::cast_source(call.in[0].dtype, call.out[0].dtype), "cast");
  return state;
}
Status run_cast(const RunArgs& args) noexcept {
  const auto& state = static_cast<const CastState&>(*args.state);
  const std::int64_t n = args.call.out[0].shape.num_elements();
  return state.device.launch(state.kernel, static_cast<std::uint64_t>(n),
                             {n, args.out[0], args.in[0]});
}

const KernelDef kRows[] = {
    {.op = OpId::Fill, .dtypes = gpu::kAll, .prepare = prepare_fill, .run = run_fill},
    {.op = OpId::Copy, .dtypes = gpu::kAll, .prepare = prepare_copy, .run = run_copy},
    {.op = OpId::Cast, .dtypes = gpu::kAll, .prepare = prepare_cast, .run = run_cast},
};

}  // namespace

std::span<const KernelDef> create_kernels() {
  return kRows;
}

}  // namespace plimsoll::opencl
