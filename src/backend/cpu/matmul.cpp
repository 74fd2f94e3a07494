// Products of matrices: our own blocked kernel (gemm.h) for floats, by itself on one thread while
// the product is small; a plain one for integers; oneDNN where it is faster.
#include "backend/cpu/matmul.h"
#include <limits>

#include "backend/cpu/bias_activation.h"
#include "backend/cpu/broadcast.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {

Matrices matrices_of(const KernelCall& call) noexcept {
  const bool ta = call.attrs[attr::MatMul::transpose_a].as_bool();
  const bool tb = call.attrs[attr::MatMul::transpose_b].as_bool();
  const auto last = [](const Shape& s, int back) { return s.dim(s.rank() - back); };
  const Shape& a = call.in[0].shape;
  const Shape& b = call.in[1].shape;
  return {.m = last(call.out[0].shape, 2),
          .n = last(call.out[0].shape, 1),
          .k = last(a, ta ? 2 : 1),
          .a_row = ta ? 1 : last(a, 1),
          .a_col = ta ? last(a, 1) : 1,
          .b_row = tb ? 1 : last(b, 1),
          .b_col = tb ? last(b, 1) : 1};
}

namespace {

Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 2)));
}

// Calls f(a, b, c) with the matrices [begin, end) of the batch.
template <class T, class F>
void for_each_product(const RunArgs& args, const Matrices& s, std::int64_t begin, std::int64_t end,
                      F&& f) noexcept {
  const T* a = args.in[0].as<const T>();
  const T* b = args.in[1].as<const T>();
  T* c = args.out[0].as<T>();
  if (args.call.out[0].shape.rank() == 2) {
    if (begin < end) f(a, b, c);
    return;
  }
  const Shape batch_a = batch_of(args.call.in[0].shape);
  const Shape batch_b = batch_of(args.call.in[1].shape);
  const Shape batch = batch_of(args.call.out[0].shape);
  const auto plan = make_broadcast_plan<2>(batch, {&batch_a, &batch_b});
  for_each_run<2>(plan, begin, end,
                  [&](std::int64_t at, auto offset, auto step, std::int64_t count) {
                    for (std::int64_t q = 0; q < count; ++q)
                      f(a + (offset[0] + q * step[0]) * s.m * s.k,
                        b + (offset[1] + q * step[1]) * s.k * s.n, c + (at + q) * s.m * s.n);
                  });
}
std::int64_t num_products(const KernelCall& call) noexcept {
  std::int64_t count = 1;
  const Shape& out = call.out[0].shape;
  for (int d = 0; d + 2 < out.rank(); ++d) count *= out.dim(d);
  return count;
}

template <class T>
Gemm<T> gemm_of(const Matrices& s, const T* a, const T* b, T* c) noexcept {
  return {s.m, s.n, s.k, a, s.a_row, s.a_col, b, s.b_row, s.b_col, c, s.n};
}

template <class F>
void visit_float(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) f(tag);
  });
}

// Small: needs no scratch, and a second thread would cost more than it gives.
constexpr double kSmallWork = 64 * 64 * 64;

bool is_small(const KernelCall& call) noexcept {
  const Matrices s = matrices_of(call);
  const auto work = static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  if (work * static_cast<double>(num_products(call)) > kSmallWork) return false;
  std::uint64_t scratch = 0;
  visit_float(call.in[0].dtype, [&](auto tag) {
    scratch = gemm_scratch_bytes<typename decltype(tag)::type>(s.m, s.n, s.k, s.b_col == 1);
  });
  return scratch == 0;
}

Status run_small(const RunArgs& args) noexcept {
  const Matrices s = matrices_of(args.call);
  visit_float(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_product<T>(args, s, 0, num_products(args.call),
                        [&](const T* a, const T* b, T* c) { gemm(gemm_of(s, a, b, c), nullptr); });
  });
  return {};
}

// How a product is shared: whole matrices of a batch, or a grid of blocks of each.
struct BlockedState final : KernelState {
  Matrices s;
  std::int64_t batch, parts;
  std::int64_t rows, columns;    // of the grid
  std::uint64_t part_bytes = 0;  // scratch of one part
  std::uint64_t nbytes() const noexcept override { return sizeof(BlockedState); }

  std::int64_t row_begin(std::int64_t i) const noexcept { return s.m * i / rows; }
  std::int64_t column_begin(std::int64_t j) const noexcept { return s.n * j / columns; }
};

KernelStatePtr prepare_blocked(const KernelCall& call, ScratchBook& book) {
  auto state = std::make_shared<BlockedState>();
  BlockedState& t = *state;
  t.s = matrices_of(call);
  t.batch = num_products(call);
  t.parts = omp_get_max_threads();
  t.rows = t.columns = 1;
  if (t.batch < t.parts) {  // the grid whose blocks need the least packing
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t rows = 1; rows <= t.parts; ++rows) {
      if (t.parts % rows != 0) continue;
      const std::int64_t cost = t.s.m / rows + t.s.n / (t.parts / rows);
      if (cost >= least) continue;
      least = cost;
      t.rows = rows;
      t.columns = t.parts / rows;
    }
  }
  const std::int64_t m = (t.s.m + t.rows - 1) / t.rows, n = (t.s.n + t.columns - 1) / t.columns;
  visit_float(call.in[0].dtype, [&](auto tag) {
    t.part_bytes = gemm_scratch_bytes<typename decltype(tag)::type>(m, n, t.s.k, t.s.b_col == 1);
  });
  t.part_bytes = (t.part_bytes + 63) / 64 * 64;
  book.book(t.part_bytes * static_cast<std::uint64_t>(t.parts));
  return state;
}

template <class T>
void multiply_block(const BlockedState& t, std::int64_t part, const T* a, const T* b, T* c,
                    void* scratch) noexcept {
  const std::int64_t i0 = t.row_begin(part / t.columns), j0 = t.column_begin(part % t.columns);
  Matrices block = t.s;
  block.m = t.row_begin(part / t.columns + 1) - i0;
  block.n = t.column_begin(part % t.columns + 1) - j0;
  Gemm<T> g = gemm_of(block, a + i0 * t.s.a_row, b + j0 * t.s.b_col, c + i0 * t.s.n + j0);
  g.c_row = t.s.n;
  gemm(g, scratch);
}

Status run_blocked(const RunArgs& args) noexcept {
  const auto& t = *static_cast<const BlockedState*>(args.state);
  const auto each_part = [&](auto&& f) {
    parallel_for(t.parts, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        f(part, args.scratch[0].as<char>() + static_cast<std::uint64_t>(part) * t.part_bytes);
    });
  };
  visit_float(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (t.rows * t.columns == 1) {
      each_part([&](std::int64_t part, void* scratch) {
        for_each_product<T>(
            args, t.s, t.batch * part / t.parts, t.batch * (part + 1) / t.parts,
            [&](const T* a, const T* b, T* c) { gemm(gemm_of(t.s, a, b, c), scratch); });
      });
    } else {
      for_each_product<T>(args, t.s, 0, t.batch, [&](const T* a, const T* b, T* c) {
        each_part(
            [&](std::int64_t part, void* scratch) { multiply_block(t, part, a, b, c, scratch); });
      });
    }
  });
  return {};
}

template <class T>
void multiply_rows(const Matrices& s, const T* a, const T* b, T* c, std::int64_t begin,
                   std::int64_t end) noexcept {
  constexpr std::int64_t kColumns = 256;  // accumulators of a row, on the stack
  T sums[kColumns];
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t j0 = 0; j0 < s.n; j0 += kColumns) {
      const std::int64_t width = std::min(kColumns, s.n - j0);
      std::fill(sums, sums + width, T(0));
      for (std::int64_t p = 0; p < s.k; ++p) {
        const T x = a[i * s.a_row + p * s.a_col];
        const T* row = b + p * s.b_row + j0 * s.b_col;
        for (std::int64_t j = 0; j < width; ++j)
          sums[j] = static_cast<T>(sums[j] + x * row[j * s.b_col]);
      }
      std::copy(sums, sums + width, c + i * s.n + j0);
    }
  }
}

Status run_integers(const RunArgs& args) noexcept {
  const Matrices s = matrices_of(args.call);
  const std::int64_t grain =
      std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(s.n * s.k, 1));
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      for_each_product<T>(args, s, 0, num_products(args.call), [&](const T* a, const T* b, T* c) {
        parallel_for(s.m, grain, [&](std::int64_t begin, std::int64_t end) {
          multiply_rows(s, a, b, c, begin, end);
        });
      });
    }
  });
  return {};
}

// The same with a bias and an activation behind it.
template <Status (*kMultiply)(const RunArgs&) noexcept>
Status run_with_bias(const RunArgs& args) noexcept {
  const Status status = kMultiply(args);
  if (!status.ok()) return status;
  const TensorSpec& out = args.call.out[0];
  const std::int64_t n = args.call.in[2].shape.dim(0);
  add_bias_and_activate(out.dtype, args.out[0].as<void>(), n ? out.shape.num_elements() / n : 0, n,
                        args.in[2].as<void>(), matmul_activation(args.attrs()));
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::MatMulBias,
     .dtypes = kWideFloats,
     .accepts = is_small,
     .run = run_with_bias<run_small>},
    {.op = OpId::MatMulBias,
     .dtypes = {DType::kFloat32},
     .accepts = onednn_matmul_accepts,
     .prepare = onednn_matmul_prepare,
     .run = onednn_matmul_run},
    {.op = OpId::MatMulBias,
     .dtypes = kWideFloats,
     .prepare = prepare_blocked,
     .run = run_with_bias<run_blocked>},
    {.op = OpId::MatMul, .dtypes = kFloats, .accepts = is_small, .run = run_small},
    {.op = OpId::MatMul,
     .dtypes = {DType::kFloat32, DType::kBFloat16},
     .accepts = onednn_matmul_accepts,
     .prepare = onednn_matmul_prepare,
     .run = onednn_matmul_run},
    {.op = OpId::MatMul, .dtypes = kFloats, .prepare = prepare_blocked, .run = run_blocked},
    {.op = OpId::MatMul, .dtypes = kNumbers, .run = run_integers},
};

}  // namespace

std::span<const KernelDef> matmul_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
