// Making tensors.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

template <class T>
Tensor constant(std::span<const T> values, const Shape& shape);
template <class T>
Tensor constant(std::initializer_list<T> values, const Shape& shape) {
  return constant(std::span<const T>(values.begin(), values.size()), shape);
}
template <class T>
Tensor constant(std::initializer_list<T> values) {
  return constant(values, {static_cast<std::int64_t>(values.size())});
}
template <class T>
requires std::is_arithmetic_v<T> Tensor constant(T value) {
  return constant(std::span<const T>(&value, 1), Shape());
}
Tensor fill(const Shape& dims, double value, DType dtype = float32);
Tensor zeros(const Shape& shape, DType dtype = float32);
Tensor ones(const Shape& shape, DType dtype = float32);
Tensor zeros_like(const Tensor& input);
Tensor ones_like(const Tensor& input);
Tensor identity(const Tensor& input);
Tensor stop_gradient(const Tensor& input);  // no gradient flows back through it
Tensor cast(const Tensor& x, DType dtype);

// Strings stand on the host; their bytes are counted there. throws: ResourceExhaustedError.
Tensor constant(std::span<const std::string> values, const Shape& shape);
Tensor constant(std::initializer_list<std::string> values, const Shape& shape);
Tensor constant(const std::string& value);
Tensor fill(const Shape& dims, const std::string& value);

// start, start + delta, ... below limit (above it, if delta is negative).
Tensor range(std::int64_t start, std::int64_t limit, std::int64_t delta = 1, DType dtype = int32);
Tensor range(double start, double limit, double delta = 1, DType dtype = float32);
inline Tensor range(int limit) {
  return range(std::int64_t{0}, std::int64_t{limit});
}
template <class A, class B>
requires(std::is_integral_v<A>&& std::is_integral_v<B>) Tensor
    range(A start, B limit, std::int64_t delta = 1, DType dtype = int32) {
  return range(static_cast<std::int64_t>(start), static_cast<std::int64_t>(limit), delta, dtype);
}
// num numbers from start to stop, both among them.
Tensor linspace(double start, double stop, std::int64_t num, DType dtype = float32);
Tensor eye(std::int64_t num_rows, std::optional<std::int64_t> num_columns = {},
           const std::vector<std::int64_t>& batch_shape = {}, DType dtype = float32);
// An index outside [0, depth) gives off_value only.
Tensor one_hot(const Tensor& indices, std::int64_t depth, double on_value = 1, double off_value = 0,
               std::int64_t axis = -1, DType dtype = float32);

// As tensors; out_type: int32 or int64.
Tensor shape(const Tensor& input, DType out_type = int32);
Tensor size(const Tensor& input, DType out_type = int32);
Tensor rank(const Tensor& input);

}  // namespace plimsoll
