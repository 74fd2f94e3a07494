// From a DType at run time to a C++ type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

// What a type is computed in: 16-bit floats in float, all others in themselves.
template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<Half> {
  using type = float;
};
template <>
struct Compute<BFloat16> {
  using type = float;
};
template <class T>
using compute_t = typename Compute<T>::type;

// A sum that was kept wide, as T: 8- and 16-bit integers stop at their limits, larger ones wrap
// around.
template <class T>
inline constexpr bool kIsSmallInt = std::is_integral_v<T> && sizeof(T) < 4;
template <class T, class A>
T sum_as(A sum) noexcept {
  if constexpr (kIsSmallInt<T>) {
    using Limits = std::numeric_limits<T>;
    const auto value = static_cast<std::int64_t>(sum);
    return static_cast<T>(value < Limits::min() ? Limits::min()
                                                : (value > Limits::max() ? Limits::max() : value));
  } else {
    return static_cast<T>(static_cast<compute_t<T>>(sum));
  }
}

template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>()) with the C++ type of a dtype that is not string.
template <class F>
void visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32:
      return f(TypeTag<float>());
    case DType::kFloat64:
      return f(TypeTag<double>());
    case DType::kFloat16:
      return f(TypeTag<Half>());
    case DType::kBFloat16:
      return f(TypeTag<BFloat16>());
    case DType::kInt8:
      return f(TypeTag<std::int8_t>());
    case DType::kUInt8:
      return f(TypeTag<std::uint8_t>());
    case DType::kInt16:
      return f(TypeTag<std::int16_t>());
    case DType::kUInt16:
      return f(TypeTag<std::uint16_t>());
    case DType::kInt32:
      return f(TypeTag<std::int32_t>());
    case DType::kInt64:
      return f(TypeTag<std::int64_t>());
    case DType::kBool:
      return f(TypeTag<bool>());
    case DType::kString:
      return;
  }
}

inline constexpr DTypeSet kFloats{DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                  DType::kBFloat16};
inline constexpr DTypeSet kWideFloats{DType::kFloat32, DType::kFloat64};
inline constexpr DTypeSet kNumbers{
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
    DType::kUInt8,   DType::kInt16,   DType::kUInt16,  DType::kInt32,    DType::kInt64};
inline constexpr DTypeSet kAll{DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
                               DType::kInt8,    DType::kUInt8,   DType::kInt16,   DType::kUInt16,
                               DType::kInt32,   DType::kInt64,   DType::kBool};
inline constexpr DTypeSet kBools{DType::kBool};

}  // namespace plimsoll::cpu
