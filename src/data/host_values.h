// The elements of tensors for functions that run on the host, and are part of no trace.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "runtime/string_builder.h"

namespace plimsoll::data {

inline void check_has_value(const Tensor& t, const char* op) {
  PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError, "{} of an empty Tensor", op);
  PLIMSOLL_CHECK(!interop::is_symbolic(t), UnimplementedError,
                 "{} runs on the host, and is no part of functions that are traced", op);
}

// f(values): a vector of the C++ type of the elements, of strings a span.
template <class F>
decltype(auto) visit_values(const Tensor& t, const char* op, F&& f) {
  check_has_value(t, op);
  switch (t.dtype()) {
    case DType::kFloat32:
      return f(t.to_vector<float>());
    case DType::kFloat64:
      return f(t.to_vector<double>());
    case DType::kFloat16:
      return f(t.to_vector<Half>());
    case DType::kBFloat16:
      return f(t.to_vector<BFloat16>());
    case DType::kInt8:
      return f(t.to_vector<std::int8_t>());
    case DType::kUInt8:
      return f(t.to_vector<std::uint8_t>());
    case DType::kInt16:
      return f(t.to_vector<std::int16_t>());
    case DType::kUInt16:
      return f(t.to_vector<std::uint16_t>());
    case DType::kInt32:
      return f(t.to_vector<std::int32_t>());
    case DType::kInt64:
      return f(t.to_vector<std::int64_t>());
    case DType::kBool:
      return f(t.to_vector<bool>());
    case DType::kString:
      break;
  }
  return f(strings_of(t, op));
}

// Of int32 or int64. throws: InvalidArgumentError that names `what`.
inline std::vector<std::int64_t> integers_of(const Tensor& t, const char* op, const char* what) {
  check_has_value(t, op);
  if (t.dtype() == int64) return t.to_vector<std::int64_t>();
  PLIMSOLL_CHECK(t.dtype() == int32, InvalidArgumentError,
                 "{} must have dtype int32 or int64, received {} [Op:{}]", what,
                 dtype_name(t.dtype()), op);
  const std::vector<std::int32_t> values = t.to_vector<std::int32_t>();
  return {values.begin(), values.end()};
}
// A vector of int32 or int64.
inline Tensor make_integers(const std::vector<std::int64_t>& values, DType dtype) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  if (dtype == int64) return constant(std::span<const std::int64_t>(values), shape);
  const std::vector<std::int32_t> small(values.begin(), values.end());
  return constant(std::span<const std::int32_t>(small), shape);
}

}  // namespace plimsoll::data
