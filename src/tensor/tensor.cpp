#include "plimsoll/tensor.h"

#include "base/check.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

std::uint64_t next_tensor_id() noexcept {
  static std::atomic<std::uint64_t> next_id{1};
  return next_id.fetch_add(1, std::memory_order_relaxed);
}

Tensor make_tensor(DType dtype, const Shape& shape, BufferRef buffer, std::uint64_t offset) {
  auto* impl = new TensorImpl;
  impl->dtype = dtype;
  impl->shape = shape;
  impl->buffer = std::move(buffer);
  impl->offset = offset;
  impl->id = next_tensor_id();
  return Tensor(impl);
}

Tensor make_spec_tensor(DType dtype, const Shape& shape) {
  return make_tensor(dtype, shape, {});
}

std::uint64_t checked_tensor_bytes(DType dtype, const Shape& shape) {
  PLIMSOLL_CHECK(shape.num_elements() <= INT64_MAX / dtype_size(dtype) - 64, InvalidArgumentError,
                 "a tensor of shape {} and type {} would have more than 2**63 - 1 bytes",
                 shape.to_string(), dtype_name(dtype));
  return tensor_bytes(dtype, shape);
}

Tensor::Tensor(const Tensor& other) noexcept : impl_(other.impl_) {
  if (impl_) impl_->add_ref();
}

Tensor& Tensor::operator=(const Tensor& other) noexcept {
  Tensor copy(other);
  std::swap(impl_, copy.impl_);
  return *this;
}

Tensor::~Tensor() {
  if (impl_ && impl_->drop_ref()) delete impl_;
}

DType Tensor::dtype() const noexcept {
  return impl_->dtype;
}
const Shape& Tensor::shape() const noexcept {
  return impl_->shape;
}
std::int64_t Tensor::nbytes() const noexcept {
  return static_cast<std::int64_t>(tensor_bytes(impl_->dtype, impl_->shape));
}

std::string Tensor::device() const {
  return impl_->buffer && impl_->buffer->device ? impl_->buffer->device->full_name() : "";
}

void Tensor::copy_out(DType expected, void* to) const {
  PLIMSOLL_CHECK(is_valid(), InvalidArgumentError, "an empty Tensor has no elements");
  PLIMSOLL_CHECK(expected == dtype(), InvalidArgumentError,
                 "asked for elements of type {} of a tensor of {}", dtype_name(expected),
                 dtype_name(dtype()));
  PLIMSOLL_CHECK(
      impl_->buffer, FailedPreconditionError,
      "a symbolic tensor of shape {} and type {} has no value while its function is traced. To "
      "branch on it use tf::cond or tf::where, to repeat use tf::while_loop; or return it",
      shape().to_string(), dtype_name(dtype()));
  if (num_elements() == 0) return;
  impl_->buffer->device->copy_to_host(impl_->buffer->block, impl_->offset, to,
                                      static_cast<std::uint64_t>(nbytes()));
}

void Tensor::copy_strings(std::vector<std::string>& to) const {
  PLIMSOLL_CHECK(is_valid() && dtype() == DType::kString, InvalidArgumentError,
                 "asked for strings of a tensor of {}",
                 is_valid() ? dtype_name(dtype()) : "nothing");
  const auto first = impl_->buffer->strings.begin() + static_cast<std::ptrdiff_t>(impl_->offset);
  to.assign(first, first + num_elements());
}

void Tensor::check_single() const {
  PLIMSOLL_CHECK(is_valid() && num_elements() == 1, InvalidArgumentError,
                 "item() needs a tensor of one element, got shape {}",
                 is_valid() ? shape().to_string() : "of no tensor");
}

}  // namespace plimsoll
