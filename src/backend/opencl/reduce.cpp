#include "backend/gpu/expressions.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"
#include "ops/reduce_shape.h"

namespace plimsoll::opencl {
namespace {

constexpr std::int64_t kSplitElements = 4096;  // of one result that are worth a group of their own
constexpr std::int64_t kMaxSplits = 256;

struct ReduceState final : ClState {
  using ClState::ClState;
  ClKernel kernel, finish;
  bool is_rows = true;
  gpu::LineArg kept, reduced;
  std::int64_t num_out = 1, count = 1, splits = 1;
};

KernelStatePtr prepare_reduce(const KernelCall& call, ScratchBook& book) {
  auto state = std::make_shared<ReduceState>(call);
  const TensorSpec& in = call.in[0];
  const ReduceShape shape =
      reduce_shape(in.shape, call.attrs[attr::ReduceSum::axes].as_ints(), true, "Reduce");
  Walk kept, reduced;
  std::int64_t stride = 1;
  int innermost = -1;  // the dimension of more than one element that is last
  for (int d = in.shape.rank() - 1; d >= 0; --d) {
    const bool is_reduced = shape.is_reduced[static_cast<std::size_t>(d)];
    if (innermost < 0 && in.shape.dim(d) != 1) {
      innermost = d;
      state->is_rows = is_reduced;
    }
    (is_reduced ? reduced : kept).add(in.shape.dim(d), stride);
    stride *= in.shape.dim(d);
  }
  state->num_out = kept.count;
  state->count = reduced.count;
  state->kept = to_arg(kept);
  state->reduced = to_arg(reduced);
  const bool has_doubles = state->device.has_doubles();
  if (state->num_out > 0 && state->num_out < kMaxSplits) {
    state->splits =
        std::clamp<std::int64_t>(state->count / kSplitElements, 1, kMaxSplits / state->num_out);
  }
  if (state->splits > 1) {
    book.book(static_cast<std::uint64_t>(state->splits * state->num_out) *
              gpu::accumulator_bytes(call.op, in.dtype, has_doubles));
  }
  const std::string source = gpu::reduce_source(call.op, in.dtype, has_doubles);
  state->kernel = state->device.kernel(source, state->is_rows ? "rows" : "columns");
  if (state->splits > 1) state->finish = state->device.kernel(source, "finish");
  return state;
}

Status run_reduce(const RunArgs& args) noexcept {
  const auto& s = static_cast<const ReduceState&>(*args.state);
  const bool is_split = s.splits > 1;
  const auto parts = static_cast<std::uint64_t>(s.num_out * s.splits);
  const Status status = s.device.launch(s.kernel, s.is_rows ? parts * ClDevice::kGroup : parts,
                                        {s.num_out, s.count, s.splits, s.kept, s.reduced,
                                         is_split ? args.scratch[0] : args.out[0], args.in[0]});
  if (!status.ok() || !is_split) return status;
  return s.device.launch(s.finish, static_cast<std::uint64_t>(s.num_out),
                         {s.num_out, s.count, s.splits, args.out[0], args.scratch[0]});
}

struct ArgState final : ClState {
  using ClState::ClState;
  ClKernel kernel;
  std::int64_t outer = 1, n = 1, inner = 1;
};

KernelStatePtr prepare_arg(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<ArgState>(call);
  const Shape& shape = call.in[0].shape;
  const std::int64_t given = call.attrs[attr::ArgMax::axis].as_int();
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  for (int d = 0; d < shape.rank(); ++d)
    (d < axis ? state->outer : d == axis ? state->n : state->inner) *= shape.dim(d);
  state->kernel =
      state->device.kernel(gpu::arg_source(call.op, call.in[0].dtype, call.out[0].dtype), "arg");
  return state;
}

Status run_arg(const RunArgs& args) noexcept {
  const auto& s = static_cast<const ArgState&>(*args.state);
  return s.device.launch(s.kernel, static_cast<std::uint64_t>(s.outer * s.inner),
                         {s.outer, s.n, s.inner, args.out[0], args.in[0]});
}

constexpr KernelDef row(OpId op, DTypeSet dtypes) {
  return {.op = op, .dtypes = dtypes, .prepare = prepare_reduce, .run = run_reduce};
}

const KernelDef kRows[] = {
    row(OpId::ReduceSum, gpu::kNumbers),
    row(OpId::ReduceMean, gpu::kNumbers),
    row(OpId::ReduceMax, gpu::kNumbers),
    row(OpId::ReduceMin, gpu::kNumbers),
    row(OpId::ReduceProd, gpu::kNumbers),
    row(OpId::ReduceAny, gpu::kBools),
    row(OpId::ReduceAll, gpu::kBools),
    {.op = OpId::ArgMax, .dtypes = gpu::kNumbers, .prepare = prepare_arg, .run = run_arg},
    {.op = OpId::ArgMin, .dtypes = gpu::kNumbers, .prepare = prepare_arg, .run = run_arg},
};

}  // namespace

std::span<const KernelDef> reduce_kernels() {
  return kRows;
}

}  // namespace plimsoll::opencl
