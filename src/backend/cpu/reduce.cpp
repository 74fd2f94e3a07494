#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/reduce_plan.h"
#include "backend/cpu/types.h"
#include "ops/reduce_shape.h"

namespace plimsoll::cpu {
namespace {

KernelStatePtr prepare_reduce(const KernelCall& call, ScratchBook& book) {
  const Shape& in = call.in[0].shape;
  const ReduceShape shape =
      reduce_shape(in, call.attrs[attr::ReduceSum::axes].as_ints(), true, "Reduce");
  auto plan = std::make_shared<ReducePlan>();
  Walk kept, reduced;
  std::int64_t stride = 1;
  int innermost = -1;  // the dimension of more than one element that is last
  for (int d = in.rank() - 1; d >= 0; --d) {
    const bool is_reduced = shape.is_reduced[static_cast<std::size_t>(d)];
    if (innermost < 0 && in.dim(d) != 1) {
      innermost = d;
      plan->is_inner_reduced = is_reduced;
    }
    (is_reduced ? reduced : kept).add(in.dim(d), stride);
    stride *= in.dim(d);
  }
  plan->num_out = kept.count;
  plan->count = reduced.count;
  Walk& with_inner = plan->is_inner_reduced ? reduced : kept;
  if (with_inner.rank > 0) {
    plan->inner = with_inner.dims[0];
    if (plan->inner > 0) with_inner.count /= plan->inner;
    std::copy(with_inner.dims.begin() + 1, with_inner.dims.end(), with_inner.dims.begin());
    std::copy(with_inner.strides.begin() + 1, with_inner.strides.end(), with_inner.strides.begin());
    --with_inner.rank;
  }
  plan->kept = kept;
  plan->reduced = reduced;
  const std::int64_t threads = omp_get_max_threads();
  const std::int64_t units =
      plan->is_inner_reduced ? kept.count
                             : kept.count * ((plan->inner + kReduceColumns - 1) / kReduceColumns);
  if (units > 0 && units < threads && in.num_elements() >= 2 * kReduceGrain) {
    plan->splits = std::clamp<std::int64_t>(plan->count / 64, 1, threads);
    if (plan->splits > 1) {
      book.book(static_cast<std::uint64_t>(plan->splits * plan->num_out) * sizeof(double));
    }
  }
  plan->loop = find_reduce_loop(call.op, call.in[0].dtype);
  return plan;
}

Status run_reduce(const RunArgs& args) noexcept {
  const auto& plan = static_cast<const ReducePlan&>(*args.state);
  plan.loop(plan, args.in[0].as<const char>(), args.out[0].as<char>(),
            args.scratch.empty() ? nullptr : args.scratch[0].as<char>());
  return {};
}

constexpr KernelDef row(OpId op, DTypeSet dtypes) {
  return {.op = op, .dtypes = dtypes, .prepare = prepare_reduce, .run = run_reduce};
}

const KernelDef kRows[] = {
    row(OpId::ReduceSum, kNumbers), row(OpId::ReduceMean, kNumbers), row(OpId::ReduceMax, kNumbers),
    row(OpId::ReduceMin, kNumbers), row(OpId::ReduceProd, kNumbers), row(OpId::ReduceAny, kBools),
    row(OpId::ReduceAll, kBools),
};

}  // namespace

std::span<const KernelDef> reduce_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
