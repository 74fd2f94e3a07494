#include "plimsoll/variable.h"

#include "base/check.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"
#include "runtime/tape.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

// Whether nobody but one handle sees the buffer: then it may be written in place.
bool is_alone(const Tensor& t) noexcept {
  const TensorImpl* impl = t.impl();
  return impl->count.load(std::memory_order_acquire) == 1 &&
         impl->buffer->count.load(std::memory_order_acquire) == 1;
}

Tensor copy_of(const Tensor& from, Device& device, const std::string& name) {
  return copy_to(device, from, memory::Owner(memory::Tag::kWeights, name));
}

}  // namespace

Variable::Variable(const Tensor& initial_value, VariableOptions options)
    : options_(std::move(options)) {
  PLIMSOLL_CHECK(initial_value.is_valid(), InvalidArgumentError,
                 "variable '{}' needs an initial value", options_.name);
  PLIMSOLL_CHECK(initial_value.dtype() != DType::kString, UnimplementedError,
                 "variable '{}': variables of strings are not supported", options_.name);
  Device& device = place_value(initial_value.dtype(), initial_value.num_elements());
  value_ = copy_of(initial_value, device, options_.name);
}

const Tensor& Variable::value() const {
  if (is_recording() && options_.trainable) watch_variable_read(value_);
  return value_;
}

void Variable::check_fits(const Tensor& value, const char* what) const {
  PLIMSOLL_CHECK(value.is_valid(), InvalidArgumentError, "{} of variable '{}' got an empty Tensor",
                 what, options_.name);
  PLIMSOLL_CHECK(
      value.shape() == shape() && value.dtype() == dtype(), InvalidArgumentError,
      "Cannot assign value to variable '{}': Shape mismatch. The variable shape {} of {}, and the "
      "assigned value shape {} of {} are incompatible.",
      options_.name, shape().to_string(), dtype_name(dtype()), value.shape().to_string(),
      dtype_name(value.dtype()));
}

void Variable::assign(const Tensor& value) {
  check_fits(value, "assign");
  Device& device = *owner_of(value_);
  if (!is_alone(value_)) {
    value_ = copy_of(value, device, options_.name);
    return;
  }
  if (value.impl()->buffer.get() == value_.impl()->buffer.get()) return;
  const Device& src = *owner_of(value);
  const auto nbytes = static_cast<std::uint64_t>(value.nbytes());
  const StagingLease lease = StagingLease::between(src, device, nbytes);
  // A new version: tapes that saw the old value do not take this one for it.
  Tensor next = make_tensor(dtype(), shape(), value_.impl()->buffer);
  copy_between(src, address_of(value), device, address_of(next), nbytes, lease);
  value_ = std::move(next);
}

// Runs an elementwise kernel over the variable's own buffer, or over a copy if others see it.
void Variable::update(std::uint16_t op, const Tensor& delta, const char* what) {
  check_fits(delta, what);
  Device& device = *owner_of(value_);
  static const memory::Owner near_owner(memory::Tag::kWorkspace, "assign");
  const Tensor near = owner_of(delta) == &device ? delta : copy_to(device, delta, near_owner);
  Tensor target = is_alone(value_) ? value_ : copy_of(value_, device, options_.name);
  const auto span_of = [](const Tensor& t) {
    return DeviceSpan{t.impl()->buffer->block.address(), t.impl()->offset,
                      static_cast<std::uint64_t>(t.nbytes())};
  };
  const TensorSpec spec{dtype(), shape()};
  const TensorSpec specs[] = {spec, spec};
  const Attrs attrs;
  const KernelCall call{static_cast<OpId>(op), attrs, specs, {specs, 1}};
  const PreparedKernel kernel = find_kernel(device.kernels(), call);
  const DeviceSpan in[] = {span_of(target), span_of(near)};
  kernel.run({call, in, {in, 1}, {}, kernel.state()}).throw_if_error(op_name(call.op));
  value_ = make_tensor(dtype(), shape(), target.impl()->buffer);
}

void Variable::assign_add(const Tensor& delta) {
  update(static_cast<std::uint16_t>(OpId::Add), delta, "assign_add");
}
void Variable::assign_sub(const Tensor& delta) {
  update(static_cast<std::uint16_t>(OpId::Sub), delta, "assign_sub");
}

}  // namespace plimsoll
