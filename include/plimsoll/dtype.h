// Element types, with TensorFlow's names.
#pragma once

#include <cstdint>
#include <string_view>

#include "plimsoll/float16.h"

namespace plimsoll {

enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kInt64,
  kBool,
  kString,
};
inline constexpr int kNumDTypes = 12;

// TensorFlow writes tf.float32; so does this.
inline constexpr DType float32 = DType::kFloat32;
inline constexpr DType float64 = DType::kFloat64;
inline constexpr DType float16 = DType::kFloat16;
inline constexpr DType bfloat16 = DType::kBFloat16;
inline constexpr DType int8 = DType::kInt8;
inline constexpr DType uint8 = DType::kUInt8;
inline constexpr DType int16 = DType::kInt16;
inline constexpr DType uint16 = DType::kUInt16;
inline constexpr DType int32 = DType::kInt32;
inline constexpr DType int64 = DType::kInt64;
inline constexpr DType bool_ = DType::kBool;
inline constexpr DType string = DType::kString;

std::string_view dtype_name(DType dtype) noexcept;  // "float32"
// As TensorFlow's messages say it: "float" for float32, "double" for float64, else the name.
std::string_view dtype_word(DType dtype) noexcept;
// throws: InvalidArgumentError that lists the types.
DType parse_dtype(std::string_view name);

// Bytes of an element; of a string, those of its handle (payload is counted apart).
std::int64_t dtype_size(DType dtype) noexcept;
bool is_floating(DType dtype) noexcept;  // float16, bfloat16, float32, float64
bool is_integer(DType dtype) noexcept;   // signed and unsigned, not bool

// The DType of a C++ type.
template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "no DType for this C++ type");
  return DType::kString;
}();
template <>
inline constexpr DType dtype_of<float> = DType::kFloat32;
template <>
inline constexpr DType dtype_of<double> = DType::kFloat64;
template <>
inline constexpr DType dtype_of<Half> = DType::kFloat16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::kBFloat16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::kInt8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::kUInt8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::kInt16;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::kUInt16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::kInt32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::kInt64;
template <>
inline constexpr DType dtype_of<bool> = DType::kBool;

}  // namespace plimsoll
