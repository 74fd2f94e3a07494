#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"
#include "ops/reduce_shape.h"

namespace plimsoll::cpu {
namespace {

// Sums are kept in a wider type: 16-bit and float in double, small integers in 64 bits.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<compute_t<T>>, double, std::int64_t>;

// A part of a shape as dimensions with strides, innermost first.
struct Walk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t count = 1;

  void add(std::int64_t dim, std::int64_t stride) noexcept {
    count *= dim;
    const auto last = static_cast<std::size_t>(rank - 1);
    if (rank > 0 && stride == dims[last] * strides[last]) {
      dims[last] *= dim;
      return;
    }
    dims[static_cast<std::size_t>(rank)] = dim;
    strides[static_cast<std::size_t>(rank++)] = stride;
  }
  std::int64_t offset(std::int64_t index) const noexcept {
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<std::size_t>(d);
      at += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return at;
  }
};

template <class T>
void sum_typed(const RunArgs& args, const Walk& kept, const Walk& reduced) noexcept {
  const T* in = args.in[0].as<const T>();
  T* out = args.out[0].as<T>();
  const std::int64_t run = reduced.rank ? reduced.dims[0] : 1;
  const std::int64_t step = reduced.rank ? reduced.strides[0] : 1;
  const std::int64_t grain =
      std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(reduced.count, 1));
  parallel_for(kept.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* base = in + kept.offset(i);
      Sum<T> sum = 0;
      for (std::int64_t r = 0; r < reduced.count; r += run) {
        const T* from = base + reduced.offset(r);
        for (std::int64_t k = 0; k < run; ++k)
          sum += static_cast<Sum<T>>(static_cast<compute_t<T>>(from[k * step]));
      }
      out[i] = static_cast<T>(static_cast<compute_t<T>>(sum));
    }
  });
}

Status run_sum(const RunArgs& args) noexcept {
  const Shape& in = args.call.in[0].shape;
  const ReduceShape shape =
      reduce_shape(in, args.attrs()[attr::ReduceSum::axes].as_ints(), true, "ReduceSum");
  Walk kept, reduced;
  std::int64_t stride = 1;
  for (int d = in.rank() - 1; d >= 0; --d) {
    (shape.is_reduced[static_cast<std::size_t>(d)] ? reduced : kept).add(in.dim(d), stride);
    stride *= in.dim(d);
  }
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) sum_typed<T>(args, kept, reduced);
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::ReduceSum, .dtypes = kNumbers, .run = run_sum},
};

}  // namespace

std::span<const KernelDef> reduce_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
