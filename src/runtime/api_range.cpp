// Tensors of numbers in a row, of strings, and shapes as tensors.
#include <cmath>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/budget_scope.h"
#include "runtime/call_site.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/strings.h"

namespace plimsoll {
namespace {

std::uint64_t string_bytes(std::size_t nbytes) {
  return sizeof(std::string) + nbytes;
}

Tensor make_strings(std::vector<std::string> values, const Shape& shape) {
  PLIMSOLL_CHECK(static_cast<std::int64_t>(values.size()) == shape.num_elements(),
                 InvalidArgumentError, "constant of shape {} needs {} values, got {}",
                 shape.to_string(), shape.num_elements(), values.size());
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  std::uint64_t nbytes = values.size() * sizeof(std::string);
  for (const std::string& value : values) nbytes += value.size();
  const Device& cpu = Context::get().cpu();
  BufferRef buffer(new Buffer);
  buffer->claim = host_budget().reserve(nbytes, TagScope::retagged(owner));
  buffer->device = &cpu;
  buffer->strings = std::move(values);
  return make_tensor(DType::kString, shape, std::move(buffer));
}

}  // namespace

NewString allocate_string(std::size_t nbytes) {
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  const Device& cpu = Context::get().cpu();
  BufferRef buffer(new Buffer);
  buffer->claim = host_budget().reserve(string_bytes(nbytes), TagScope::retagged(owner));
  buffer->device = &cpu;
  buffer->strings.resize(1);
  std::string* const bytes = buffer->strings.data();
  bytes->resize(nbytes);
  return {make_tensor(DType::kString, Shape(), std::move(buffer)), bytes};
}

void resize_string(NewString& made, std::size_t nbytes) {
  memory::Reservation& claim = made.tensor.impl()->buffer->claim;
  // While it grows, the old one is there too.
  const memory::Reservation old = host_budget().reserve(made.bytes->size(), claim.owner());
  PLIMSOLL_CHECK(claim.try_resize(string_bytes(nbytes)), ResourceExhaustedError,
                 "OOM when making a string of {} bytes on {}", nbytes,
                 Context::get().cpu().full_name());
  std::string other(nbytes, '\0');  // of its own: resize() would take twice as much
  made.bytes->copy(other.data(), nbytes);
  made.bytes->swap(other);
}

Tensor constant(std::span<const std::string> values, const Shape& shape) {
  return make_strings({values.begin(), values.end()}, shape);
}
Tensor constant(std::initializer_list<std::string> values, const Shape& shape) {
  return make_strings({values.begin(), values.end()}, shape);
}
Tensor constant(const std::string& value) {
  const NewString made = allocate_string(value.size());
  made.bytes->assign(value);
  return made.tensor;
}
Tensor fill(const Shape& dims, const std::string& value) {
  return make_strings(
      std::vector<std::string>(static_cast<std::size_t>(dims.num_elements()), value), dims);
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
