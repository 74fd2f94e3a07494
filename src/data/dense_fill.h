// Dense tensors from values for some of their places.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "data/host_values.h"
#include "runtime/budget_scope.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::data {

// walk(value, gap) goes through the places in order and calls value(i) for the i-th row of
// `values`, of `width` elements, and gap(n) for n rows that there are none for.
template <class Walk>
Tensor fill_strings(const Walk& walk, const Tensor& values, std::int64_t width,
                    const std::string& fill, const Shape& shape, const char* op) {
  const std::span<const std::string> texts = strings_of(values, op);
  StringBuilder made(static_cast<std::size_t>(shape.num_elements()),
                     memory::Owner(memory::Tag::kActivations, op));
  walk(
      [&](std::int64_t i) {
        for (const std::string& text :
             texts.subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width)))
          made.add_copy(text);
      },
      [&](std::int64_t num) {
        for (std::int64_t i = 0; i < num * width; ++i) made.add_copy(fill);
      });
  return made.finish(shape);
}

template <class Walk>
Tensor fill_numbers(const Walk& walk, const Tensor& values, std::int64_t width, const Tensor& fill,
                    const Shape& shape, const char* op) {
  const auto size = static_cast<std::size_t>(dtype_size(values.dtype()));
  const std::size_t row_bytes = size * static_cast<std::size_t>(width);
  const std::uint64_t all_bytes = checked_tensor_bytes(values.dtype(), shape);
  const auto value_bytes = static_cast<std::size_t>(values.nbytes());
  const memory::Reservation claim =
      host_budget().reserve(all_bytes + value_bytes, memory::Owner(memory::Tag::kStaging, op));
  std::vector<std::byte> from(value_bytes), made(all_bytes), one(size);
  interop::copy_to_host(values, from.data());
  if (fill.is_valid()) interop::copy_to_host(fill, one.data());
  std::byte* at = made.data();
  walk(
      [&](std::int64_t i) {
        if (row_bytes)
          std::memcpy(at, from.data() + static_cast<std::size_t>(i) * row_bytes, row_bytes);
        at += row_bytes;
      },
      [&](std::int64_t num) {
        for (std::int64_t i = 0; i < num * width; ++i, at += size)
          std::memcpy(at, one.data(), size);
      });
  return interop::copy_from_host(values.dtype(), shape, made.data());
}

// default_value: a scalar of the type of the values; none: 0 or "". throws: InvalidArgumentError.
template <class Walk>
Tensor fill_dense(const Walk& walk, const Tensor& values, std::int64_t width,
                  const Tensor& default_value, const Shape& shape, const char* op) {
  check_has_value(values, op);
  PLIMSOLL_CHECK(!default_value.is_valid() ||
                     (default_value.dtype() == values.dtype() && default_value.rank() == 0),
                 InvalidArgumentError,
                 "default_value must be a scalar of {}, received {} of shape {} [Op:{}]",
                 dtype_name(values.dtype()), dtype_name(default_value.dtype()),
                 default_value.shape().to_string(), op);
  if (values.dtype() != DType::kString)
    return fill_numbers(walk, values, width, default_value, shape, op);
  const std::string fill = default_value.is_valid() ? default_value.item<std::string>() : "";
  return fill_strings(walk, values, width, fill, shape, op);
}

}  // namespace plimsoll::data
