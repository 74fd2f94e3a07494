#include "backend/cpu/broadcast.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

struct Matrices {
  std::int64_t m, n, k;
  std::int64_t a_row, a_col;  // strides
  std::int64_t b_row, b_col;
};

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

template <class T>
void multiply_rows(const Matrices& s, const T* a, const T* b, T* c, std::int64_t begin,
                   std::int64_t end) noexcept {
  using C = compute_t<T>;
  constexpr std::int64_t kColumns = 256;  // accumulators of a row, on the stack
  C sums[kColumns];
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t j0 = 0; j0 < s.n; j0 += kColumns) {
      const std::int64_t width = std::min(kColumns, s.n - j0);
      std::fill(sums, sums + width, C(0));
      for (std::int64_t p = 0; p < s.k; ++p) {
        const C x = static_cast<C>(a[i * s.a_row + p * s.a_col]);
        const T* row = b + p * s.b_row + j0 * s.b_col;
        for (std::int64_t j = 0; j < width; ++j)
          sums[j] = static_cast<C>(sums[j] + x * static_cast<C>(row[j * s.b_col]));
      }
      for (std::int64_t j = 0; j < width; ++j) c[i * s.n + j0 + j] = static_cast<T>(sums[j]);
    }
  }
}

Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 2)));
}

template <class T>
void multiply_typed(const RunArgs& args) noexcept {
  const Matrices s = matrices_of(args.call);
  const Shape batch_a = batch_of(args.call.in[0].shape);
  const Shape batch_b = batch_of(args.call.in[1].shape);
  const Shape batch = batch_of(args.call.out[0].shape);
  const auto plan = make_broadcast_plan<2>(batch, {&batch_a, &batch_b});
  const T* a = args.in[0].as<const T>();
  const T* b = args.in[1].as<const T>();
  T* c = args.out[0].as<T>();
  for_each_run<2>(plan, 0, batch.num_elements(),
                  [&](std::int64_t at, auto offset, auto step, std::int64_t count) {
                    for (std::int64_t q = 0; q < count; ++q) {
                      const T* aq = a + (offset[0] + q * step[0]) * s.m * s.k;
                      const T* bq = b + (offset[1] + q * step[1]) * s.k * s.n;
                      T* cq = c + (at + q) * s.m * s.n;
                      const std::int64_t grain =
                          std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(s.n * s.k, 1));
                      parallel_for(s.m, grain, [&](std::int64_t begin, std::int64_t end) {
                        multiply_rows(s, aq, bq, cq, begin, end);
                      });
                    }
                  });
}

Status run_matmul(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) multiply_typed<T>(args);
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::MatMul, .dtypes = kNumbers, .run = run_matmul},
};

}  // namespace

std::span<const KernelDef> matmul_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
