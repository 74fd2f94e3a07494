#include <cmath>

#include "backend/cpu/cpu.h"
#include "backend/cpu/norm_rows.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kWork = 32768;  // elements that are worth a thread

// Rows of n elements, cut into as many parts as there are sums in the scratch: the threads' own.
struct Rows {
  std::int64_t n, num;

  Rows(const Shape& shape, std::int64_t row_size)
      : n(row_size), num(row_size ? shape.num_elements() / row_size : 0) {}
  std::int64_t grain() const noexcept {
    return std::max<std::int64_t>(1, kWork / std::max<std::int64_t>(n, 1));
  }
  // Books two sums per element of a row and part.
  void book_sums(ScratchBook& scratch) const {
    const std::int64_t parts = std::clamp<std::int64_t>(num / grain(), 1, omp_get_max_threads());
    scratch.book(static_cast<std::uint64_t>(parts * 2 * n) * sizeof(double));
  }
  // Calls f(first row, last row, sums) for each part, and adds the sums up in the first part's.
  template <class F>
  double* sum(const DeviceSpan& scratch, F&& f) const noexcept {
    double* sums = scratch.as<double>();
    const std::int64_t size = 2 * n;
    const std::int64_t parts =
        size ? static_cast<std::int64_t>(scratch.nbytes / sizeof(double)) / size : 1;
    std::fill_n(sums, parts * size, 0.0);
    parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t p = begin; p < end; ++p)
        f(num * p / parts, num * (p + 1) / parts, sums + p * size);
    });
    for (std::int64_t p = 1; p < parts; ++p) {
      for (std::int64_t i = 0; i < size; ++i) sums[i] += sums[p * size + i];
    }
    return sums;
  }
};

Rows channel_rows(const Shape& shape) {
  return Rows(shape, shape.dim(shape.rank() - 1));
}

template <class F>
void visit_parameters(DType dtype, F&& f) {
  if (dtype == DType::kFloat64) return f(double());
  return f(float());
}
template <class C>
void copy_sums(const double* from, const DeviceSpan& to, std::int64_t n) noexcept {
  C* out = to.as<C>();
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(from[i]);
}

// Factors per channel that a kernel keeps in its scratch.
KernelStatePtr prepare_batch_norm(const KernelCall& call, ScratchBook& scratch) {
  const TensorSpec& x = call.in[0];
  const Rows rows = channel_rows(x.shape);
  rows.book_sums(scratch);
  const std::int64_t size = x.dtype == DType::kFloat64 ? 8 : 4;
  for (int i = 0; i < 3; ++i) scratch.book(static_cast<std::uint64_t>(rows.n * size));
  return nullptr;
}
KernelStatePtr prepare_factor(const KernelCall& call, ScratchBook& scratch) {
  const TensorSpec& scale = call.in[1];
  scratch.book(static_cast<std::uint64_t>(scale.shape.num_elements() * dtype_size(scale.dtype)));
  return nullptr;
}

// Whether the op has an activation in it; those have it as the last attribute.
bool is_activated(OpId op) noexcept {
  return op == OpId::BatchNormAct || op == OpId::BatchNormActInference ||
         op == OpId::BatchNormActGrad;
}
std::size_t activation_index(const RunArgs& args) noexcept {
  return is_activated(args.call.op)
             ? static_cast<std::size_t>(args.attrs()[attr::BatchNormAct::activation].as_int())
             : static_cast<std::size_t>(Activation::kNone);
}

// What x - mean is multiplied with.
template <class C>
void channel_factors(const C* scale, const C* variance, double epsilon, std::int64_t n,
                     C* factor) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    factor[i] = static_cast<C>(static_cast<double>(scale[i]) /
                               std::sqrt(static_cast<double>(variance[i]) + epsilon));
  }
}

// `num_parameters`: of the inputs behind x.
template <class C>
void scale_rows(const RunArgs& args, const C* mean, const C* variance, std::size_t num_parameters,
                C* factor) noexcept {
  const TensorSpec& x = args.call.in[0];
  const Rows rows = channel_rows(x.shape);
  const double epsilon = args.attrs()[attr::BatchNorm::epsilon].as_float();
  channel_factors(args.in[1].as<const C>(), variance, epsilon, rows.n, factor);
  ColumnArgs all{};
  all.x = args.in[0].as<void>();
  all.mean = mean;
  all.out = args.out[0].as<void>();
  all.c = rows.n;
  all.a = factor;
  all.b = args.in[2].as<void>();
  if (args.in.size() > num_parameters + 1) all.added = args.in.back().as<void>();
  const ColumnFn run = norm_kernels_of(x.dtype).scale[activation_index(args)];
  parallel_for(rows.num, rows.grain(),
               [&](std::int64_t begin, std::int64_t end) { run(all, begin, end); });
}

Status run_batch_norm(const RunArgs& args) noexcept {
  const TensorSpec& x = args.call.in[0];
  const Rows rows = channel_rows(x.shape);
  const ColumnFn add = norm_kernels_of(x.dtype).sums;
  // Sums of differences from the first row: squares of large numbers would leave no digits.
  ColumnArgs all{};
  all.x = all.mean = args.in[0].as<void>();
  all.c = rows.n;
  const double* sums =
      rows.sum(args.scratch[0], [&](std::int64_t begin, std::int64_t end, double* own) {
        ColumnArgs part = all;
        part.sums = own;
        add(part, begin, end);
      });
  visit_dtype(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = compute_t<T>;
    if constexpr (std::is_floating_point_v<C>) {
      C* mean = args.out[1].as<C>();
      C* variance = args.out[2].as<C>();
      const T* first = args.in[0].as<const T>();
      const auto count = static_cast<double>(rows.num);
      for (std::int64_t i = 0; i < rows.n; ++i) {
        const double d = sums[i] / count;  // nan where there are no rows, as TensorFlow's
        mean[i] =
            static_cast<C>(d + (rows.num ? static_cast<double>(static_cast<C>(first[i])) : 0.0));
        variance[i] = static_cast<C>(std::max(sums[rows.n + i] / count - d * d, 0.0));
      }
      scale_rows<C>(args, mean, variance, 2, args.scratch[1].as<C>());
    }
  });
  return {};
}

Status run_batch_norm_inference(const RunArgs& args) noexcept {
  visit_parameters(args.call.in[1].dtype, [&](auto zero) {
    using C = decltype(zero);
    scale_rows<C>(args, args.in[3].as<const C>(), args.in[4].as<const C>(), 4,
                  args.scratch[0].as<C>());
  });
  return {};
}

template <class C>
void batch_norm_grad(const RunArgs& args) noexcept {
  const TensorSpec& x = args.call.in[1];
  const Rows rows = channel_rows(x.shape);
  const NormKernels& kernels = norm_kernels_of(x.dtype);
  ColumnArgs all{};
  all.dy = args.in[0].as<void>();
  all.x = args.in[1].as<void>();
  all.mean = args.in[3].as<void>();
  all.out = args.out[0].as<void>();
  all.c = rows.n;
  const double epsilon = args.attrs()[attr::BatchNormGrad::epsilon].as_float();
  C* a = args.scratch[1].as<C>();
  C* b = args.scratch[2].as<C>();
  C* d = args.scratch[3].as<C>();
  channel_factors(args.in[2].as<const C>(), args.in[4].as<const C>(), epsilon, rows.n, a);
  all.a = a;
  if (is_activated(args.call.op)) all.offset = args.in[5].as<void>();
  const std::size_t activation = activation_index(args);
  const double* sums =
      rows.sum(args.scratch[0], [&](std::int64_t begin, std::int64_t end, double* own) {
        ColumnArgs part = all;
        part.sums = own;
        kernels.grad_sums[activation](part, begin, end);
      });
  const auto count = static_cast<double>(std::max<std::int64_t>(rows.num, 1));
  for (std::int64_t i = 0; i < rows.n; ++i) {
    const double r = 1 / std::sqrt(static_cast<double>(args.in[4].as<const C>()[i]) + epsilon);
    const double by_x = sums[rows.n + i];
    b[i] = static_cast<C>(sums[i] / count);
    d[i] = static_cast<C>(by_x * r * r / count);
    args.out[1].as<C>()[i] = static_cast<C>(by_x * r);
  }
  copy_sums<C>(sums, args.out[2], rows.n);
  all.b = b;
  all.d = d;
  parallel_for(rows.num, rows.grain(), [&](std::int64_t begin, std::int64_t end) {
    kernels.grad[activation](all, begin, end);
  });
}
Status run_batch_norm_grad(const RunArgs& args) noexcept {
  visit_parameters(args.call.in[2].dtype,
                   [&](auto zero) { batch_norm_grad<decltype(zero)>(args); });
  return {};
}

Status run_row_norm(const RunArgs& args) noexcept {
  const TensorSpec& x = args.call.in[0];
  const Rows rows(x.shape, args.call.in[1].shape.num_elements());
  const bool has_mean = args.call.op == OpId::LayerNorm;
  RowNormArgs all{};
  all.x = args.in[0].as<void>();
  all.scale = args.in[1].as<void>();
  all.offset = has_mean ? args.in[2].as<void>() : nullptr;
  all.out = args.out[0].as<void>();
  all.n = rows.n;
  all.epsilon = args.attrs()[attr::LayerNorm::epsilon].as_float();
  all.has_mean = has_mean;
  const RowNormFn run = norm_kernels_of(x.dtype).row;
  parallel_for(rows.num, rows.grain(),
               [&](std::int64_t begin, std::int64_t end) { run(all, begin, end); });
  return {};
}

KernelStatePtr prepare_row_norm_grad(const KernelCall& call, ScratchBook& scratch) {
  Rows(call.in[1].shape, call.in[2].shape.num_elements()).book_sums(scratch);
  return nullptr;
}
Status run_row_norm_grad(const RunArgs& args) noexcept {
  const TensorSpec& x = args.call.in[1];
  const Rows rows(x.shape, args.call.in[2].shape.num_elements());
  RowNormArgs all{};
  all.dy = args.in[0].as<void>();
  all.x = args.in[1].as<void>();
  all.scale = args.in[2].as<void>();
  all.out = args.out[0].as<void>();
  all.n = rows.n;
  all.epsilon = args.attrs()[attr::LayerNormGrad::epsilon].as_float();
  all.has_mean = args.call.op == OpId::LayerNormGrad;
  const RowNormFn run = norm_kernels_of(x.dtype).row_grad;
  const double* sums =
      rows.sum(args.scratch[0], [&](std::int64_t begin, std::int64_t end, double* own) {
        RowNormArgs part = all;
        part.sums = own;
        run(part, begin, end);
      });
  visit_parameters(args.call.in[2].dtype, [&](auto zero) {
    using C = decltype(zero);
    copy_sums<C>(sums, args.out[1], rows.n);
    if (all.has_mean) copy_sums<C>(sums + rows.n, args.out[2], rows.n);
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::BatchNorm,
     .dtypes = kFloats,
     .prepare = prepare_batch_norm,
     .run = run_batch_norm},
    {.op = OpId::BatchNormGrad,
     .dtypes = kFloats,
     .prepare = prepare_batch_norm,
     .run = run_batch_norm_grad},
    {.op = OpId::BatchNormAct,
     .dtypes = kFloats,
     .prepare = prepare_batch_norm,
     .run = run_batch_norm},
    {.op = OpId::BatchNormActInference,
     .dtypes = kFloats,
     .prepare = prepare_factor,
     .run = run_batch_norm_inference},
    {.op = OpId::BatchNormActGrad,
     .dtypes = kFloats,
     .prepare = prepare_batch_norm,
     .run = run_batch_norm_grad},
    {.op = OpId::BatchNormInference,
     .dtypes = kFloats,
     .prepare = prepare_factor,
     .run = run_batch_norm_inference},
    {.op = OpId::LayerNorm, .dtypes = kFloats, .run = run_row_norm},
    {.op = OpId::LayerNormGrad,
     .dtypes = kFloats,
     .prepare = prepare_row_norm_grad,
     .run = run_row_norm_grad},
    {.op = OpId::RmsNorm, .dtypes = kFloats, .run = run_row_norm},
    {.op = OpId::RmsNormGrad,
     .dtypes = kFloats,
     .prepare = prepare_row_norm_grad,
     .run = run_row_norm_grad},
};

}  // namespace

std::span<const KernelDef> norm_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
