// Elementwise kernels: the expressions of scalar_ops.def over broadcast operands.
#include <cmath>

#include "backend/cpu/broadcast.h"
#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

using std::exp;
using std::log;
using std::pow;
using std::sqrt;
using std::tanh;

constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread

#define UNARY(Name, types, expression)   \
  struct Name##Fn {                      \
    template <class T>                   \
    static T apply(T x) noexcept {       \
      return static_cast<T>(expression); \
    }                                    \
  };
#define TEST(Name, types, expression)       \
  struct Name##Fn {                         \
    template <class T>                      \
    static bool apply(T x) noexcept {       \
      return static_cast<bool>(expression); \
    }                                       \
  };
#define BINARY(Name, types, expression)  \
  struct Name##Fn {                      \
    template <class T>                   \
    static T apply(T x, T y) noexcept {  \
      return static_cast<T>(expression); \
    }                                    \
  };
#define COMPARE(Name, types, expression)    \
  struct Name##Fn {                         \
    template <class T>                      \
    static bool apply(T x, T y) noexcept {  \
      return static_cast<bool>(expression); \
    }                                       \
  };
#include "ops/scalar_ops.def"
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE

// Which C++ types a row of scalar_ops.def is compiled for.
struct FLOATS {
  template <class T>
  static constexpr bool has = std::is_floating_point_v<compute_t<T>>;
  static constexpr DTypeSet set = kFloats;
};
struct NUMBERS {
  template <class T>
  static constexpr bool has = !std::is_same_v<T, bool>;
  static constexpr DTypeSet set = kNumbers;
};
struct ALL {
  template <class T>
  static constexpr bool has = true;
  static constexpr DTypeSet set = kAll;
};
struct BOOLS {
  template <class T>
  static constexpr bool has = std::is_same_v<T, bool>;
  static constexpr DTypeSet set = kBools;
};

template <class Fn, class Types, bool kToBool>
Status run_unary(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (Types::template has<T>) {
      using C = compute_t<T>;
      using Out = std::conditional_t<kToBool, bool, T>;
      const T* in = args.in[0].as<const T>();
      Out* out = args.out[0].as<Out>();
      parallel_for(args.call.out[0].shape.num_elements(), kGrain,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i)
                       out[i] = static_cast<Out>(Fn::apply(static_cast<C>(in[i])));
                   });
    }
  });
  return {};
}

template <class Fn, class T, class Out>
void run_binary_typed(const RunArgs& args) noexcept {
  using C = compute_t<T>;
  const T* a = args.in[0].as<const T>();
  const T* b = args.in[1].as<const T>();
  Out* out = args.out[0].as<Out>();
  const Shape& shape = args.call.out[0].shape;
  const auto plan = make_broadcast_plan<2>(shape, {&args.call.in[0].shape, &args.call.in[1].shape});
  parallel_for(shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for_each_run<2>(
        plan, begin, end, [&](std::int64_t at, auto offset, auto step, std::int64_t count) {
          const T* x = a + offset[0];
          const T* y = b + offset[1];
          Out* o = out + at;
          if (step[0] && step[1]) {
            for (std::int64_t i = 0; i < count; ++i)
              o[i] = static_cast<Out>(Fn::apply(static_cast<C>(x[i]), static_cast<C>(y[i])));
          } else if (step[0]) {
            const C value = static_cast<C>(*y);
            for (std::int64_t i = 0; i < count; ++i)
              o[i] = static_cast<Out>(Fn::apply(static_cast<C>(x[i]), value));
          } else {
            const C value = static_cast<C>(*x);
            for (std::int64_t i = 0; i < count; ++i)
              o[i] = static_cast<Out>(Fn::apply(value, static_cast<C>(y[i * step[1]])));
          }
        });
  });
}

template <class Fn, class Types, bool kToBool>
Status run_binary(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (Types::template has<T>) {
      run_binary_typed<Fn, T, std::conditional_t<kToBool, bool, T>>(args);
    }
  });
  return {};
}

// where(condition, x, y), by the size of the elements.
template <class T>
void run_select_typed(const RunArgs& args) noexcept {
  const bool* condition = args.in[0].as<const bool>();
  const T* a = args.in[1].as<const T>();
  const T* b = args.in[2].as<const T>();
  T* out = args.out[0].as<T>();
  const auto in = args.call.in;
  const Shape& shape = args.call.out[0].shape;
  const auto plan = make_broadcast_plan<3>(shape, {&in[0].shape, &in[1].shape, &in[2].shape});
  parallel_for(shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for_each_run<3>(
        plan, begin, end, [&](std::int64_t at, auto offset, auto step, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i) {
            out[at + i] = condition[offset[0] + i * step[0]] ? a[offset[1] + i * step[1]]
                                                             : b[offset[2] + i * step[2]];
          }
        });
  });
}

Status run_select(const RunArgs& args) noexcept {
  switch (dtype_size(args.call.out[0].dtype)) {
    case 1:
      run_select_typed<std::uint8_t>(args);
      break;
    case 2:
      run_select_typed<std::uint16_t>(args);
      break;
    case 4:
      run_select_typed<std::uint32_t>(args);
      break;
    default:
      run_select_typed<std::uint64_t>(args);
      break;
  }
  return {};
}

const KernelDef kRows[] = {
#define UNARY(Name, types, expression) \
  {.op = OpId::Name, .dtypes = types::set, .run = run_unary<Name##Fn, types, false>},
#define TEST(Name, types, expression) \
  {.op = OpId::Name, .dtypes = types::set, .run = run_unary<Name##Fn, types, true>},
#define BINARY(Name, types, expression) \
  {.op = OpId::Name, .dtypes = types::set, .run = run_binary<Name##Fn, types, false>},
#define COMPARE(Name, types, expression) \
  {.op = OpId::Name, .dtypes = types::set, .run = run_binary<Name##Fn, types, true>},
#include "ops/scalar_ops.def"
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE
    {.op = OpId::Select, .dtypes = kBools, .run = run_select},
};

}  // namespace

std::span<const KernelDef> elementwise_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
