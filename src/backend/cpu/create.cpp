#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrain = 65536;

Status run_fill(const RunArgs& args) noexcept {
  const double value = args.attrs()[attr::Fill::value].as_float();
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto v = static_cast<T>(static_cast<compute_t<T>>(value));
    T* out = args.out[0].as<T>();
    parallel_for(
        args.call.out[0].shape.num_elements(), kGrain,
        [&](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, v); });
  });
  return {};
}

Status run_cast(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    visit_dtype(args.call.out[0].dtype, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const From* in = args.in[0].as<const From>();
      To* out = args.out[0].as<To>();
      parallel_for(
          args.call.out[0].shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              out[i] =
                  static_cast<To>(static_cast<compute_t<To>>(static_cast<compute_t<From>>(in[i])));
            }
          });
    });
  });
  return {};
}

Status run_range(const RunArgs& args) noexcept {
  using A = attr::Range;
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = args.out[0].as<T>();
    const std::int64_t n = args.call.out[0].shape.num_elements();
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      const double start = args.attrs()[A::float_start].as_float();
      const double delta = args.attrs()[A::float_delta].as_float();
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = static_cast<T>(static_cast<compute_t<T>>(start + static_cast<double>(i) * delta));
    } else {
      std::int64_t value = args.attrs()[A::start].as_int();
      const std::int64_t delta = args.attrs()[A::delta].as_int();
      for (std::int64_t i = 0; i < n; ++i) {
        out[i] = static_cast<T>(value);
        if (i + 1 < n) value += delta;  // no step beyond the last
      }
    }
  });
  return {};
}

Status run_linspace(const RunArgs& args) noexcept {
  using A = attr::LinSpace;
  const double start = args.attrs()[A::start].as_float();
  const double stop = args.attrs()[A::stop].as_float();
  const std::int64_t n = args.call.out[0].shape.num_elements();
  const double delta = n > 1 ? (stop - start) / static_cast<double>(n - 1) : 0;
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = args.out[0].as<T>();
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_last = i > 0 && i + 1 == n;
      out[i] = static_cast<T>(
          static_cast<compute_t<T>>(is_last ? stop : start + static_cast<double>(i) * delta));
    }
  });
  return {};
}

Status run_eye(const RunArgs& args) noexcept {
  const Shape& shape = args.call.out[0].shape;
  const std::int64_t rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1);
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = args.out[0].as<T>();
    const std::int64_t all = shape.num_elements();
    std::fill(out, out + all, static_cast<T>(static_cast<compute_t<T>>(0)));
    if (all == 0) return;
    for (std::int64_t at = 0; at < all; at += rows * columns) {
      for (std::int64_t i = 0; i < std::min(rows, columns); ++i)
        out[at + i * columns + i] = static_cast<T>(static_cast<compute_t<T>>(1));
    }
  });
  return {};
}

template <class T, class I>
void one_hot_typed(const RunArgs& args) noexcept {
  using A = attr::OneHot;
  const Shape& in = args.call.in[0].shape;
  const std::int64_t depth = args.attrs()[A::depth].as_int();
  const std::int64_t given = args.attrs()[A::axis].as_int();
  const int axis = static_cast<int>(given == -1 ? in.rank() : given);
  std::int64_t inner = 1;  // indices behind the new axis
  for (int i = axis; i < in.rank(); ++i) inner *= in.dim(i);
  const auto on = static_cast<T>(static_cast<compute_t<T>>(args.attrs()[A::on_value].as_float()));
  const auto off = static_cast<T>(static_cast<compute_t<T>>(args.attrs()[A::off_value].as_float()));
  const I* indices = args.in[0].as<const I>();
  T* out = args.out[0].as<T>();
  const std::int64_t grain = kGrain / std::max<std::int64_t>(1, depth * inner);
  const std::int64_t outer = inner ? in.num_elements() / inner : 0;
  parallel_for(outer, grain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(out + begin * depth * inner, out + end * depth * inner, off);
    for (std::int64_t o = begin; o < end; ++o) {
      for (std::int64_t i = 0; i < inner; ++i) {
        const auto index = static_cast<std::int64_t>(indices[o * inner + i]);
        if (index >= 0 && index < depth) out[(o * depth + index) * inner + i] = on;
      }
    }
  });
}

Status run_one_hot(const RunArgs& args) noexcept {
  visit_dtype(args.call.out[0].dtype, [&](auto out_tag) {
    using T = typename decltype(out_tag)::type;
    visit_dtype(args.call.in[0].dtype, [&](auto in_tag) {
      using I = typename decltype(in_tag)::type;
      if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>) one_hot_typed<T, I>(args);
    });
  });
  return {};
}

Status run_copy(const RunArgs& args) noexcept {
  const auto* from = args.in[0].as<const char>();
  char* to = args.out[0].as<char>();
  const auto nbytes = static_cast<std::int64_t>(args.in[0].nbytes);
  parallel_for(nbytes, 4 * kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
  return {};
}

constexpr DTypeSet kIntegers{DType::kInt8,   DType::kUInt8, DType::kInt16,
                             DType::kUInt16, DType::kInt32, DType::kInt64};

const KernelDef kRows[] = {
    {.op = OpId::Fill, .dtypes = kAll, .run = run_fill},
    {.op = OpId::Range, .dtypes = kNumbers, .run = run_range},
    {.op = OpId::LinSpace, .dtypes = kFloats, .run = run_linspace},
    {.op = OpId::Eye, .dtypes = kAll, .run = run_eye},
    {.op = OpId::OneHot, .dtypes = kIntegers, .run = run_one_hot},
    {.op = OpId::Copy, .dtypes = kAll, .run = run_copy},
    {.op = OpId::Cast, .dtypes = kAll, .run = run_cast},
};

}  // namespace

std::span<const KernelDef> create_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
