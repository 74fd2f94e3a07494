#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "runtime/string_builder.h"

namespace plimsoll {

template <class T>
Tensor constant(std::span<const T> values, const Shape& shape) {
  PLIMSOLL_CHECK(static_cast<std::int64_t>(values.size()) == shape.num_elements(),
                 InvalidArgumentError, "constant of shape {} needs {} values, got {}",
                 shape.to_string(), shape.num_elements(), values.size());
  Device& device = place_value(dtype_of<T>, shape.num_elements());
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  const StagingLease lease =
      StagingLease::between(Context::get().cpu(), device, values.size_bytes());
  Tensor tensor = allocate_tensor(device, dtype_of<T>, shape, owner);
  if (!values.empty())
    copy_from_host(values.data(), device, address_of(tensor), values.size_bytes(), lease);
  if (is_logging_placement.load(std::memory_order_relaxed)) log_placement("_EagerConst", device);
  return tensor;
}
template Tensor constant(std::span<const float>, const Shape&);
template Tensor constant(std::span<const double>, const Shape&);
template Tensor constant(std::span<const Half>, const Shape&);
template Tensor constant(std::span<const BFloat16>, const Shape&);
template Tensor constant(std::span<const std::int8_t>, const Shape&);
template Tensor constant(std::span<const std::uint8_t>, const Shape&);
template Tensor constant(std::span<const std::int16_t>, const Shape&);
template Tensor constant(std::span<const std::uint16_t>, const Shape&);
template Tensor constant(std::span<const std::int32_t>, const Shape&);
template Tensor constant(std::span<const std::int64_t>, const Shape&);
template Tensor constant(std::span<const bool>, const Shape&);

Tensor fill(const Shape& dims, double value, DType dtype) {
  PLIMSOLL_CHECK(dtype != DType::kString, InvalidArgumentError,
                 "cannot fill a tensor of strings with {}", value);
  return call(OpId::Fill, {}, {dtype, dims, value});
}
Tensor zeros(const Shape& shape, DType dtype) {
  if (dtype == DType::kString) {
    const auto count = static_cast<std::size_t>(shape.num_elements());
    StringBuilder made(count, memory::Owner(memory::Tag::kActivations, "zeros"));
    for (std::size_t i = 0; i < count; ++i) made.add({});
    return made.finish(shape);
  }
  return fill(shape, 0, dtype);
}
Tensor ones(const Shape& shape, DType dtype) {
  return fill(shape, 1, dtype);
}
Tensor zeros_like(const Tensor& input) {
  return zeros(input.shape(), input.dtype());
}
Tensor ones_like(const Tensor& input) {
  return ones(input.shape(), input.dtype());
}
Tensor identity(const Tensor& input) {
  return call(OpId::Identity, {input});
}
Tensor cast(const Tensor& x, DType dtype) {
  return x.is_valid() && x.dtype() == dtype ? x : call(OpId::Cast, {x}, {dtype});
}

}  // namespace plimsoll
