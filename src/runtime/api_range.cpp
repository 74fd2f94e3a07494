// Tensors of numbers in a row, of strings, and shapes as tensors.
#include <cmath>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/string_builder.h"

namespace plimsoll {
namespace {

memory::Owner const_owner() {
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  return owner;
}

}  // namespace

Tensor constant(std::span<const std::string> values, const Shape& shape) {
  std::uint64_t nbytes = 0;
  for (const std::string& value : values) nbytes += value.size();
  StringBuilder made(values.size(), const_owner(), nbytes);
  for (const std::string& value : values) made.add_copy(value);
  return made.finish(shape);
}
Tensor constant(std::initializer_list<std::string> values, const Shape& shape) {
  return constant(std::span<const std::string>(values.begin(), values.size()), shape);
}
Tensor constant(const std::string& value) {
  return constant(std::span<const std::string>(&value, 1), Shape());
}
Tensor fill(const Shape& dims, const std::string& value) {
  const auto num = static_cast<std::size_t>(dims.num_elements());
  // As many bytes as overflow are as good as all.
  const std::uint64_t nbytes = value.empty() || num <= ~std::uint64_t{0} / value.size()
                                   ? num * value.size()
                                   : ~std::uint64_t{0};
  StringBuilder made(num, const_owner(), nbytes);
  for (std::size_t i = 0; i < num; ++i) made.add_copy(value);
  return made.finish(dims);
}

Tensor stop_gradient(const Tensor& input) {
  return call(OpId::StopGradient, {input});
}

Tensor range(std::int64_t start, std::int64_t limit, std::int64_t delta, DType dtype) {
  if (is_floating(dtype))
    return range(static_cast<double>(start), static_cast<double>(limit), static_cast<double>(delta),
                 dtype);
  PLIMSOLL_CHECK(delta != 0, InvalidArgumentError, "Requires delta != 0: {} [Op:Range]", delta);
  PLIMSOLL_CHECK(delta < 0 || start <= limit, InvalidArgumentError,
                 "Requires start <= limit when delta > 0: {}/{} [Op:Range]", start, limit);
  PLIMSOLL_CHECK(delta > 0 || start >= limit, InvalidArgumentError,
                 "Requires start >= limit when delta < 0: {}/{} [Op:Range]", start, limit);
  // In unsigned numbers, which hold the distance of any two signed ones.
  const auto distance = delta > 0
                            ? static_cast<std::uint64_t>(limit) - static_cast<std::uint64_t>(start)
                            : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(limit);
  const std::uint64_t step =
      delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  const std::uint64_t size = distance / step + (distance % step != 0);
  PLIMSOLL_CHECK(size <= INT64_MAX, InvalidArgumentError,
                 "Requires ((limit - start) / delta) <= 2**63 - 1: ({} - {}) / {} [Op:Range]",
                 limit, start, delta);
  return call(OpId::Range, {}, {dtype, static_cast<std::int64_t>(size), start, delta, 0.0, 0.0});
}

Tensor range(double start, double limit, double delta, DType dtype) {
  PLIMSOLL_CHECK(is_floating(dtype), InvalidArgumentError,
                 "range from {} by {} needs a floating point type, got {} [Op:Range]", start, delta,
                 dtype_name(dtype));
  PLIMSOLL_CHECK(delta != 0, InvalidArgumentError, "Requires delta != 0: {} [Op:Range]", delta);
  PLIMSOLL_CHECK(!(delta > 0) || start <= limit, InvalidArgumentError,
                 "Requires start <= limit when delta > 0: {}/{} [Op:Range]", start, limit);
  PLIMSOLL_CHECK(!(delta < 0) || start >= limit, InvalidArgumentError,
                 "Requires start >= limit when delta < 0: {}/{} [Op:Range]", start, limit);
  const double size = std::ceil((limit - start) / delta);
  PLIMSOLL_CHECK(size >= 0 && size < 0x1p62, InvalidArgumentError,
                 "Requires ((limit - start) / delta) <= 2**63 - 1: ({} - {}) / {} [Op:Range]",
                 limit, start, delta);
  return call(OpId::Range, {}, {dtype, static_cast<std::int64_t>(size), 0, 0, start, delta});
}

Tensor linspace(double start, double stop, std::int64_t num, DType dtype) {
  return call(OpId::LinSpace, {}, {dtype, num, start, stop});
}

Tensor eye(std::int64_t num_rows, std::optional<std::int64_t> num_columns,
           const std::vector<std::int64_t>& batch_shape, DType dtype) {
  std::vector<std::int64_t> dims = batch_shape;
  dims.push_back(num_rows);
  dims.push_back(num_columns.value_or(num_rows));
  return call(OpId::Eye, {}, {dtype, AttrValue(std::span<const std::int64_t>(dims))});
}

Tensor one_hot(const Tensor& indices, std::int64_t depth, double on_value, double off_value,
               std::int64_t axis, DType dtype) {
  return call(OpId::OneHot, {indices}, {depth, axis, on_value, off_value, dtype});
}

Tensor shape(const Tensor& input, DType out_type) {
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "shape of an empty Tensor");
  PLIMSOLL_CHECK(out_type == int32 || out_type == int64, InvalidArgumentError,
                 "out_type must be int32 or int64, got {}", dtype_name(out_type));
  if (out_type == int64) return constant(input.shape().dims(), {input.rank()});
  std::vector<std::int32_t> dims;
  for (const std::int64_t dim : input.shape().dims()) {
    PLIMSOLL_CHECK(dim <= INT32_MAX, InvalidArgumentError,
                   "Shape output type is 32-bit but dim is {}", dim);
    dims.push_back(static_cast<std::int32_t>(dim));
  }
  return constant(std::span<const std::int32_t>(dims), {input.rank()});
}

Tensor size(const Tensor& input, DType out_type) {
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "size of an empty Tensor");
  PLIMSOLL_CHECK(out_type == int32 || out_type == int64, InvalidArgumentError,
                 "out_type must be int32 or int64, got {}", dtype_name(out_type));
  if (out_type == int64) return constant(input.num_elements());
  PLIMSOLL_CHECK(input.num_elements() <= INT32_MAX, InvalidArgumentError,
                 "Number of elements was larger than representable by 32-bit output type: {}",
                 input.num_elements());
  return constant(static_cast<std::int32_t>(input.num_elements()));
}

Tensor rank(const Tensor& input) {
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "rank of an empty Tensor");
  return constant(static_cast<std::int32_t>(input.rank()));
}

}  // namespace plimsoll
