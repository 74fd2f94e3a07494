// The loops of reductions, compiled for several instruction sets; the compiler vectorises them.
// What matters is whether the innermost dimension is reduced (then runs of elements become one) or
// kept (then rows are added to rows); either way the inner loop is over neighbours.
#include <limits>

#include "backend/cpu/parallel.h"
#include "backend/cpu/reduce_plan.h"
#include "backend/cpu/types.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/reduce_loops.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

constexpr int kLanes = 32;  // of a run that becomes one

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
    return sum_as<T>(a);
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
  template <class T>
  static T last(Acc<T> a, std::int64_t) noexcept {
    return static_cast<T>(static_cast<compute_t<T>>(a));
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
  std::fill(acc, acc + kReduceColumns, R::template first<T>());
  const std::int64_t together = kReduceColumns / plan.inner;  // narrow rows, as one wide row
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
    const std::int64_t grain = std::max<std::int64_t>(1, kReduceGrain * plan.splits / plan.count);
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
  const std::int64_t blocks = (plan.inner + kReduceColumns - 1) / kReduceColumns;
  const std::int64_t width_of_all = std::min(plan.inner, kReduceColumns);
  const std::int64_t grain = std::max<std::int64_t>(
      1, kReduceGrain * plan.splits / std::max<std::int64_t>(1, plan.count * width_of_all));
  parallel_for(plan.kept.count * blocks * plan.splits, grain,
               [&](std::int64_t first, std::int64_t last) {
                 A acc[kReduceColumns];
                 for (std::int64_t unit = first; unit < last; ++unit) {
                   const std::int64_t part = unit % plan.splits;
                   const std::int64_t column = unit / plan.splits % blocks * kReduceColumns;
                   const std::int64_t row = unit / plan.splits / blocks;
                   const std::int64_t width = std::min(kReduceColumns, plan.inner - column);
                   reduce_rows<R, T>(plan, in + plan.kept.offset(row) + column, width,
                                     plan.count * part / plan.splits,
                                     plan.count * (part + 1) / plan.splits, acc);
                   for (std::int64_t c = 0; c < width; ++c)
                     put(part, row * plan.inner + column + c, acc[c]);
                 }
               });
}

template <class R, class T>
void reduce_typed(const ReducePlan& plan, const void* from, void* to, void* scratch) noexcept {
  using A = typename R::template Acc<T>;
  T* out = static_cast<T*>(to);
  if (plan.count == 0) {
    std::fill(out, out + plan.num_out, R::template last<T>(R::template first<T>(), 0));
    return;
  }
  if (plan.num_out == 0) return;
  const T* in = static_cast<const T*>(from);
  if (plan.splits == 1) {
    reduce_all<R, T>(plan, in, [&](std::int64_t, std::int64_t i, A acc) {
      out[i] = R::template last<T>(acc, plan.count);
    });
    return;
  }
  A* parts = static_cast<A*>(scratch);
  reduce_all<R, T>(plan, in, [&](std::int64_t part, std::int64_t i, A acc) {
    parts[part * plan.num_out + i] = acc;
  });
  for (std::int64_t i = 0; i < plan.num_out; ++i) {
    A acc = parts[i];
    for (std::int64_t p = 1; p < plan.splits; ++p) acc = R::add(acc, parts[p * plan.num_out + i]);
    out[i] = R::template last<T>(acc, plan.count);
  }
}

template <class R>
ReduceLoop loop_for(DType dtype) noexcept {
  constexpr bool kForBool = std::is_same_v<R, LogicOf<true>> || std::is_same_v<R, LogicOf<false>>;
  ReduceLoop loop = nullptr;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool> == kForBool) loop = reduce_typed<R, T>;
  });
  return loop;
}

ReduceLoop find_loop(OpId op, DType dtype) {
  switch (op) {
    case OpId::ReduceSum:
      return loop_for<SumOf>(dtype);
    case OpId::ReduceMean:
      return loop_for<MeanOf>(dtype);
    case OpId::ReduceMax:
      return loop_for<ExtremeOf<true>>(dtype);
    case OpId::ReduceMin:
      return loop_for<ExtremeOf<false>>(dtype);
    case OpId::ReduceProd:
      return loop_for<ProdOf>(dtype);
    case OpId::ReduceAny:
      return loop_for<LogicOf<true>>(dtype);
    case OpId::ReduceAll:
      return loop_for<LogicOf<false>>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(find_loop);

ReduceLoop find_reduce_loop(OpId op, DType dtype) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_loop)(op, dtype);
}

}  // namespace plimsoll::cpu
#endif
