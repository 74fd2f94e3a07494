// Elementwise ops, alone or fused: a kernel is written for each, from the expressions of
// scalar_ops.def.
#include <array>

#include "backend/api/broadcast.h"
#include "backend/gpu/expressions.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"

namespace plimsoll::opencl {
namespace {

constexpr std::size_t kMaxOperands = 16;  // of a kernel: all of a walk's dimensions

struct MapState final : ClState {
  using ClState::ClState;
  ClKernel kernel;
  gpu::WalkArg walk;
  std::int64_t num_elements = 0;
};

template <int N>
void set_walk(gpu::WalkArg& walk, const KernelCall& call) {
  std::array<const Shape*, N> shapes{};
  for (std::size_t i = 0; i < N; ++i) shapes[i] = &call.in[i].shape;
  const BroadcastPlan<N> plan = make_broadcast_plan<N>(call.out[0].shape, shapes);
  walk.rank = plan.rank;
  for (int d = 0; d < plan.rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    walk.dims[d] = plan.dims[at];
    for (std::size_t i = 0; i < N; ++i) walk.strides[i][d] = plan.strides[i][at];
  }
}

// The kernel of a program over the operands of a call.
KernelStatePtr prepare(const KernelCall& call, gpu::MapKernel map) {
  auto state = std::make_shared<MapState>(call);
  const Shape& out = call.out[0].shape;
  state->num_elements = out.num_elements();
  if (call.in.size() > kMaxOperands)
    throw UnimplementedError(fmt::format("{} operands are too many", call.in.size()));
  bool is_strided = false;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    map.in.push_back(call.in[i].dtype);
    map.reach.push_back(fused_reach(call.in[i].shape, out));
    state->walk.dims[i] = std::max<std::int64_t>(1, call.in[i].shape.num_elements());
    is_strided |= map.reach.back() == FusedReach::kNot;
  }
  for (const TensorSpec& spec : call.out) map.out.push_back(spec.dtype);
  if (is_strided) {
    map.reach.assign(call.in.size(), FusedReach::kNot);
    if (call.in.size() > 3) throw UnimplementedError("more than three operands broadcast");
    call.in.size() == 1   ? set_walk<1>(state->walk, call)
    : call.in.size() == 2 ? set_walk<2>(state->walk, call)
                          : set_walk<3>(state->walk, call);
  }
  state->kernel = state->device.kernel(gpu::map_source(map), "map");
  return state;
}

KernelStatePtr prepare_map(const KernelCall& call, ScratchBook&) {
  gpu::MapKernel map;
  map.compute = call.op == OpId::Select ? call.out[0].dtype : call.in[0].dtype;
  gpu::MapStep step{.op = call.op};
  for (std::size_t i = 0; i < call.in.size(); ++i) step.operands.push_back(static_cast<int>(i));
  if (!op_info(call.op).attrs.empty()) step.a = call.attrs[0].as_float();
  map.steps.push_back(step);
  map.outputs = {0};
  return prepare(call, std::move(map));
}

KernelStatePtr prepare_fused(const KernelCall& call, ScratchBook&) {
  gpu::MapKernel map;
  map.compute = call.out[0].dtype;
  for (const FusedProgram::Step& step : call.program->steps) {
    gpu::MapStep made{.op = step.op, .a = step.a, .operands = {step.x}};
    if (step.y != FusedProgram::kNone) made.operands.push_back(step.y);
    map.steps.push_back(std::move(made));
  }
  map.outputs = call.program->outputs;
  return prepare(call, std::move(map));
}

Status run_map(const RunArgs& args) noexcept {
  const auto& state = static_cast<const MapState&>(*args.state);
  const Arg n(state.num_elements), walk(state.walk);
  Arg list[2 + 2 * kMaxOperands] = {n, walk};
  std::size_t num = 2;
  for (const DeviceSpan& span : args.out) list[num++] = Arg(span);
  for (const DeviceSpan& span : args.in) list[num++] = Arg(span);
  return state.device.launch(state.kernel, static_cast<std::uint64_t>(state.num_elements),
                             std::span<const Arg>(list, num));
}

std::vector<KernelDef> make_rows() {
  std::vector<KernelDef> rows;
  for (const gpu::Expression& e : gpu::expressions())
    rows.push_back({.op = e.op, .dtypes = e.dtypes, .prepare = prepare_map, .run = run_map});
  rows.push_back(
      {.op = OpId::Select, .dtypes = gpu::kBools, .prepare = prepare_map, .run = run_map});
  rows.push_back({.op = OpId::Fused,
                  .dtypes = {DType::kFloat32, DType::kFloat64},
                  .prepare = prepare_fused,
                  .run = run_map});
  return rows;
}

}  // namespace

std::span<const KernelDef> elementwise_kernels() {
  static const auto& rows = *new std::vector<KernelDef>(make_rows());
  return rows;
}

}  // namespace plimsoll::opencl
