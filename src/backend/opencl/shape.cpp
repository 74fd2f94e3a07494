// Shape ops: the copies of backend/api/shape_copies.h, one launch each.
#include "backend/api/shape_copies.h"

#include <optional>

#include "backend/gpu/expressions.h"
#include "backend/opencl/fill_pattern.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"

namespace plimsoll::opencl {
namespace {

struct CopyState final : ClState {
  using ClState::ClState;
  struct Copy {
    std::size_t in, out;
    std::int64_t from, to, count;
    gpu::WalkArg walk;
  };
  ClKernel kernel;
  std::vector<Copy> copies;
  std::optional<FillPattern> fill;  // before them, of what they leave alone

  std::uint64_t nbytes() const noexcept override { return 1024 + copies.size() * sizeof(Copy); }
};

KernelStatePtr prepare_copies(const KernelCall& call, ScratchBook&) {
  static_assert(StridedCopy::kMaxDims <= 16, "as many as a walk has");
  auto state = std::make_shared<CopyState>(call);
  for_each_copy(call, [&](const ShapeCopy& c) {
    CopyState::Copy made{c.in, c.out, c.from, c.to, c.copy.count, {}};
    made.walk.rank = c.copy.rank;
    for (int d = 0; d < c.copy.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      made.walk.dims[d] = c.copy.dims[at];
      made.walk.strides[0][d] = c.copy.in_strides[at];
      made.walk.strides[1][d] = c.copy.out_strides[at];
    }
    if (c.copy.count) state->copies.push_back(made);
  });
  const DType dtype = call.in[0].dtype;
  if (call.op == OpId::StridedSliceGrad) state->fill.emplace(0, dtype);
  if (call.op == OpId::Pad) state->fill.emplace(call.attrs[attr::Pad::value].as_float(), dtype);
  state->kernel = state->device.kernel(gpu::copy_source(dtype_size(dtype)), "copy");
  return state;
}

Status run_copies(const RunArgs& args) noexcept {
  const auto& state = static_cast<const CopyState&>(*args.state);
  if (state.fill) {
    const Status status = state.device.fill(args.out[0], state.fill->bytes, state.fill->size);
    if (!status.ok()) return status;
  }
  for (const CopyState::Copy& copy : state.copies) {
    const Status status = state.device.launch(
        state.kernel, static_cast<std::uint64_t>(copy.count),
        {copy.count, copy.walk, copy.from, copy.to, args.out[copy.out], args.in[copy.in]});
    if (!status.ok()) return status;
  }
  return {};
}

constexpr KernelDef row(OpId op) {
  return {.op = op, .dtypes = gpu::kAll, .prepare = prepare_copies, .run = run_copies};
}

const KernelDef kRows[] = {
    row(OpId::BroadcastTo), row(OpId::Transpose),    row(OpId::Tile),  row(OpId::Reverse),
    row(OpId::Roll),        row(OpId::StridedSlice), row(OpId::Pad),   row(OpId::StridedSliceGrad),
    row(OpId::MirrorPad),   row(OpId::Concat),       row(OpId::Split),
};

}  // namespace

std::span<const KernelDef> shape_kernels() {
  return kRows;
}

}  // namespace plimsoll::opencl
