// The inner loops of elementwise kernels: one function per op and type, over one run of elements.
// Broadcasting, threads and 16-bit storage are around them (elementwise.cpp).
#pragma once

#include <cstdint>

#include "backend/api/kernel.h"
#include "backend/cpu/scalar_math.h"
#include "backend/cpu/types.h"
#include "ops/op_id.h"

namespace plimsoll::cpu {

struct LoopArgs {
  const void* x;
  const void* y;  // null for ops of one operand
  void* out;
  std::int64_t n;
  bool x_is_one = false;  // the same element for all of the run
  bool y_is_one = false;
  double a = 0;  // the op's first attribute
};
// False: an operand has a value that is an error for the op.
using Loop = bool (*)(const LoopArgs&) noexcept;

// The loop of an op, null if it has none for the type. float16 and bfloat16 have float's.
Loop find_loop(OpId op, DType dtype) noexcept;
// 16-bit floats to and from float.
struct Converter {
  void (*widen)(const void* from, float* to, std::int64_t n) noexcept;
  void (*narrow)(const float* from, void* to, std::int64_t n) noexcept;
};
const Converter& converter_of(DType dtype) noexcept;

// Where the parts of the table come from.
struct FloatLoops {
  OpId op;
  Loop f32, f64;
};
std::span<const FloatLoops> float_loops() noexcept;
struct IntLoops {
  OpId op;
  Loop i8, u8, i16, u16, i32, i64, boolean;
};
std::span<const IntLoops> int_loops() noexcept;

// Which C++ types a row of scalar_ops.def is compiled for.
struct FLOATS {
  template <class T>
  static constexpr bool has = std::is_floating_point_v<T>;
  static constexpr DTypeSet set = kFloats;
};
struct INTEGERS {
  template <class T>
  static constexpr bool has = std::is_integral_v<T> && !std::is_same_v<T, bool>;
  static constexpr DTypeSet set = {DType::kInt8,   DType::kUInt8, DType::kInt16,
                                   DType::kUInt16, DType::kInt32, DType::kInt64};
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

// The expressions as functions.
namespace scalar {

#define PLIMSOLL_SCALAR_FN(Name, kArity, kIsTest, kIsChecked, bad, expression)           \
  struct Name##Fn {                                                                      \
    static constexpr int arity = kArity;                                                 \
    static constexpr bool is_test = kIsTest;                                             \
    static constexpr bool is_checked = kIsChecked;                                       \
    template <class T>                                                                   \
    static HWY_INLINE bool is_bad([[maybe_unused]] T x, [[maybe_unused]] T y) noexcept { \
      return bad;                                                                        \
    }                                                                                    \
    template <class T>                                                                   \
    static HWY_INLINE auto apply([[maybe_unused]] T x, [[maybe_unused]] T y,             \
                                 [[maybe_unused]] T a) noexcept {                        \
      return static_cast<std::conditional_t<kIsTest, bool, T>>(expression);              \
    }                                                                                    \
  };
#define UNARY(Name, types, expression) PLIMSOLL_SCALAR_FN(Name, 1, false, false, false, expression)
#define TEST(Name, types, expression) PLIMSOLL_SCALAR_FN(Name, 1, true, false, false, expression)
#define BINARY(Name, types, expression) PLIMSOLL_SCALAR_FN(Name, 2, false, false, false, expression)
#define COMPARE(Name, types, expression) PLIMSOLL_SCALAR_FN(Name, 2, true, false, false, expression)
#define CHECKED(Name, types, bad, expression) \
  PLIMSOLL_SCALAR_FN(Name, 2, false, true, bad, expression)
#include "ops/scalar_ops.def"
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE
#undef CHECKED
#undef PLIMSOLL_SCALAR_FN

// How large operands may be for the function of float; where one is larger, double's is taken.
template <class Fn>
constexpr float kMaxOperand = 0;  // no limit
template <>
inline constexpr float kMaxOperand<SinFn> = kMaxAngle;
template <>
inline constexpr float kMaxOperand<CosFn> = kMaxAngle;

}  // namespace scalar
}  // namespace plimsoll::cpu
