// Reductions over any dimensions. What matters is whether the innermost dimension is reduced (then
// runs of elements become one) or kept (then rows are added to rows); either way the inner loop is
// over neighbours, and sums are kept in a wider type.
#include <limits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"
#include "ops/reduce_shape.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread
constexpr std::int64_t kColumns = 512;  // accumulators that stay in the first cache
constexpr int kLanes = 16;              // of a run that becomes one

// Sums are kept in double, or in 64 bits that wrap around.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<compute_t<T>>, double, std::uint64_t>;

struct SumOf {
  template <class T>
  using Acc = Wide<T>;
  template <class T>
  static Acc<T> first() noexcept {
    return 0;
  }
  template <class A>
  static A add(A a, A x) noexcept {
    return a + x;
  }
  template <class T>
  static T last(Acc<T> a, std::int64_t) noexcept {
    return static_cast<T>(static_cast<compute_t<T>>(a));
  }
};
struct MeanOf : SumOf {
  template <class T>
  static T last(Acc<T> a, std::int64_t count) noexcept {
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      return static_cast<T>(static_cast<compute_t<T>>(a / static_cast<double>(count)));
    } else {
      return static_cast<T>(count ? static_cast<std::int64_t>(a) / count : 0);
    }
  }
};
struct ProdOf : SumOf {
  template <class T>
  static Acc<T> first() noexcept {
    return 1;
  }
  template <class A>
  static A add(A a, A x) noexcept {
    return a * x;
  }
};

// Of a nan and a number, the nan.
template <bool kMax>
struct ExtremeOf {
  template <class T>
  using Acc = compute_t<T>;
  template <class T>
  static Acc<T> first() noexcept {
    using Limits = std::numeric_limits<Acc<T>>;
    if constexpr (Limits::has_infinity) {
      return kMax ? -Limits::infinity() : Limits::infinity();
    } else {
      return kMax ? Limits::lowest() : Limits::max();
    }
  }
  template <class A>
  static A add(A a, A x) noexcept {
    const bool is_nan = x != x;
    return ((kMax ? x > a : x < a) || is_nan) ? x : a;
  }
  template <class T>
  static T last(Acc<T> a, std::int64_t) noexcept {
    return static_cast<T>(a);
  }
};

template <bool kAny>
struct LogicOf {
  template <class T>
  using Acc = std::uint8_t;
  template <class T>
  static std::uint8_t first() noexcept {
    return kAny ? 0 : 1;
  }
  template <class A>
  static A add(A a, A x) noexcept {
    return static_cast<A>(kAny ? (a | x) : (a & x));
  }
  template <class T>
  static T last(std::uint8_t a, std::int64_t) noexcept {
    return static_cast<T>(a != 0);
  }
};

// Some dimensions of a shape with their strides, innermost first, merged where they can be.
struct Walk {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t count = 1;

  void add(std::int64_t dim, std::int64_t stride) noexcept {
    count *= dim;
    if (dim == 1) return;
    const auto last = static_cast<std::size_t>(rank - 1);
    if (rank > 0 && stride == dims[last] * strides[last]) {
      dims[last] *= dim;
      return;
    }
    dims[static_cast<std::size_t>(rank)] = dim;
    strides[static_cast<std::size_t>(rank++)] = stride;
  }
  std::int64_t offset(std::int64_t index) const noexcept {
    if (rank == 1) return index * strides[0];
    std::int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      const auto i = static_cast<std::size_t>(d);
      at += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return at;
  }
};

struct ReducePlan final : KernelState {
  bool is_inner_reduced = true;
  std::int64_t inner = 1;   // elements of the innermost dimension
  Walk kept, reduced;       // the other dimensions
  std::int64_t count = 1;   // elements that become one
  std::int64_t splits = 1;  // parts of a reduction that are done apart, then put together
  std::int64_t num_out = 1;
};

template <class A, class T>
A load(T x) noexcept {
  return static_cast<A>(static_cast<compute_t<T>>(x));
}

template <class R, class T>
auto reduce_run(const T* x, std::int64_t n) noexcept {
  using A = typename R::template Acc<T>;
  A total = R::template first<T>();
  std::int64_t i = 0;
  if (n >= kLanes) {
    A lanes[kLanes];
    for (A& lane : lanes) lane = R::template first<T>();
    for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) lanes[l] = R::add(lanes[l], load<A>(x[i + l]));
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lanes[l] = R::add(lanes[l], lanes[l + half]);
    }
    total = lanes[0];
  }
  for (; i < n; ++i) total = R::add(total, load<A>(x[i]));
  return total;
}

// Elements [begin, end) of those that become the output whose first element is *base.
template <class R, class T>
auto reduce_part(const ReducePlan& plan, const T* base, std::int64_t begin,
                 std::int64_t end) noexcept {
  using A = typename R::template Acc<T>;
  A total = R::template first<T>();
  while (begin < end) {
    const std::int64_t column = begin % plan.inner;
    const std::int64_t n = std::min(plan.inner - column, end - begin);
    total =
        R::add(total, reduce_run<R, T>(base + plan.reduced.offset(begin / plan.inner) + column, n));
    begin += n;
  }
  return total;
}

template <class R, class T, class A>
void add_row(A* acc, const T* x, std::int64_t n) noexcept {
#pragma omp simd
  for (std::int64_t c = 0; c < n; ++c) acc[c] = R::add(acc[c], load<A>(x[c]));
}

// Rows [begin, end) of those that are added up, `width` columns of them, into `acc`.
template <class R, class T, class A>
void reduce_rows(const ReducePlan& plan, const T* base, std::int64_t width, std::int64_t begin,
                 std::int64_t end, A* acc) noexcept {
  std::fill(acc, acc + kColumns, R::template first<T>());
  const std::int64_t together = kColumns / plan.inner;  // narrow rows, as one wide row
  if (together > 1 && plan.reduced.rank == 1 && plan.reduced.strides[0] == plan.inner &&
      end - begin >= together) {
    const std::int64_t wide = together * plan.inner;
    for (; begin + together <= end; begin += together)
      add_row<R>(acc, base + begin * plan.inner, wide);
    for (std::int64_t at = plan.inner; at < wide; ++at) {
      A& sum = acc[at % plan.inner];
      sum = R::add(sum, acc[at]);
    }
  }
  for (; begin < end; ++begin) add_row<R>(acc, base + plan.reduced.offset(begin), width);
}

// Calls put(part, output, accumulator) for all outputs and parts.
template <class R, class T, class Put>
void reduce_all(const ReducePlan& plan, const T* in, Put put) noexcept {
  using A = typename R::template Acc<T>;
  if (plan.is_inner_reduced) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain * plan.splits / plan.count);
    parallel_for(plan.num_out * plan.splits, grain, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t unit = first; unit < last; ++unit) {
        const std::int64_t out = unit / plan.splits, part = unit % plan.splits;
        put(part, out,
            reduce_part<R, T>(plan, in + plan.kept.offset(out), plan.count * part / plan.splits,
                              plan.count * (part + 1) / plan.splits));
      }
    });
    return;
  }
  const std::int64_t blocks = (plan.inner + kColumns - 1) / kColumns;
  const std::int64_t width_of_all = std::min(plan.inner, kColumns);
  const std::int64_t grain = std::max<std::int64_t>(
      1, kGrain * plan.splits / std::max<std::int64_t>(1, plan.count * width_of_all));
  parallel_for(plan.kept.count * blocks * plan.splits, grain,
               [&](std::int64_t first, std::int64_t last) {
                 A acc[kColumns];
                 for (std::int64_t unit = first; unit < last; ++unit) {
                   const std::int64_t part = unit % plan.splits;
                   const std::int64_t column = unit / plan.splits % blocks * kColumns;
                   const std::int64_t row = unit / plan.splits / blocks;
                   const std::int64_t width = std::min(kColumns, plan.inner - column);
                   reduce_rows<R, T>(plan, in + plan.kept.offset(row) + column, width,
                                     plan.count * part / plan.splits,
                                     plan.count * (part + 1) / plan.splits, acc);
                   for (std::int64_t c = 0; c < width; ++c)
                     put(part, row * plan.inner + column + c, acc[c]);
                 }
               });
}

template <class R, class T>
void reduce_typed(const RunArgs& args, const ReducePlan& plan) noexcept {
  using A = typename R::template Acc<T>;
  T* out = args.out[0].as<T>();
  if (plan.count == 0) {
    std::fill(out, out + plan.num_out, R::template last<T>(R::template first<T>(), 0));
    return;
  }
  if (plan.num_out == 0) return;
  const T* in = args.in[0].as<const T>();
  if (plan.splits == 1) {
    reduce_all<R, T>(plan, in, [&](std::int64_t, std::int64_t i, A acc) {
      out[i] = R::template last<T>(acc, plan.count);
    });
    return;
  }
  A* parts = args.scratch[0].as<A>();
  reduce_all<R, T>(plan, in, [&](std::int64_t part, std::int64_t i, A acc) {
    parts[part * plan.num_out + i] = acc;
  });
  for (std::int64_t i = 0; i < plan.num_out; ++i) {
    A acc = parts[i];
    for (std::int64_t p = 1; p < plan.splits; ++p) acc = R::add(acc, parts[p * plan.num_out + i]);
    out[i] = R::template last<T>(acc, plan.count);
  }
}

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
      plan->is_inner_reduced ? kept.count : kept.count * ((plan->inner + kColumns - 1) / kColumns);
  if (units > 0 && units < threads && in.num_elements() >= 2 * kGrain) {
    plan->splits = std::clamp<std::int64_t>(plan->count / 64, 1, threads);
    if (plan->splits > 1) {
      book.book(static_cast<std::uint64_t>(plan->splits * plan->num_out) * sizeof(double));
    }
  }
  return plan;
}

template <class R>
Status run_reduce(const RunArgs& args) noexcept {
  const auto& plan = static_cast<const ReducePlan&>(*args.state);
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr bool kForBool = std::is_same_v<R, LogicOf<true>> || std::is_same_v<R, LogicOf<false>>;
    if constexpr (std::is_same_v<T, bool> == kForBool) reduce_typed<R, T>(args, plan);
  });
  return {};
}

template <class R>
constexpr KernelDef row(OpId op, DTypeSet dtypes) {
  return {.op = op, .dtypes = dtypes, .prepare = prepare_reduce, .run = run_reduce<R>};
}

const KernelDef kRows[] = {
    row<SumOf>(OpId::ReduceSum, kNumbers),
    row<MeanOf>(OpId::ReduceMean, kNumbers),
    row<ExtremeOf<true>>(OpId::ReduceMax, kNumbers),
    row<ExtremeOf<false>>(OpId::ReduceMin, kNumbers),
    row<ProdOf>(OpId::ReduceProd, kNumbers),
    row<LogicOf<true>>(OpId::ReduceAny, kBools),
    row<LogicOf<false>>(OpId::ReduceAll, kBools),
};

}  // namespace

std::span<const KernelDef> reduce_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
