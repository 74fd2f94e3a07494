#include "plimsoll/variable.h"

#include "base/check.h"
#include "runtime/context.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_cache.h"
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

Tensor copy_of(const Tensor& from, const std::string& name) {
  Device& device = Context::get().default_device();
  Tensor to = allocate_tensor(device, from.dtype(), from.shape(),
                              memory::Owner(memory::Tag::kWeights, name));
  const TensorImpl* impl = from.impl();
  const auto* bytes = static_cast<const char*>(impl->buffer->block.data()) + impl->offset;
  device.copy_from_host(to.impl()->buffer->block, 0, bytes,
                        static_cast<std::uint64_t>(from.nbytes()));
  return to;
}

}  // namespace

Variable::Variable(const Tensor& initial_value, VariableOptions options)
    : options_(std::move(options)) {
  PLIMSOLL_CHECK(initial_value.is_valid(), InvalidArgumentError,
                 "variable '{}' needs an initial value", options_.name);
  PLIMSOLL_CHECK(initial_value.dtype() != DType::kString, UnimplementedError,
                 "variable '{}': variables of strings are not supported", options_.name);
  value_ = copy_of(initial_value, options_.name);
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
  if (is_alone(value_)) {
    const TensorImpl* from = value.impl();
    const auto* bytes = static_cast<const char*>(from->buffer->block.data()) + from->offset;
    if (from->buffer.get() == value_.impl()->buffer.get()) return;
    Context::get().default_device().copy_from_host(value_.impl()->buffer->block, 0, bytes,
                                                   static_cast<std::uint64_t>(value.nbytes()));
    // A new version: tapes that saw the old value do not take this one for it.
    value_ = make_tensor(dtype(), shape(), value_.impl()->buffer);
    return;
  }
  value_ = copy_of(value, options_.name);
}

// Runs an elementwise kernel over the variable's own buffer, or over a copy if others see it.
void Variable::update(std::uint16_t op, const Tensor& delta, const char* what) {
  check_fits(delta, what);
  Tensor target = is_alone(value_) ? value_ : copy_of(value_, options_.name);
  const auto span_of = [](const Tensor& t) {
    return DeviceSpan{t.impl()->buffer->block.address(), t.impl()->offset,
                      static_cast<std::uint64_t>(t.nbytes())};
  };
  const TensorSpec spec{dtype(), shape()};
  const TensorSpec specs[] = {spec, spec};
  const Attrs attrs;
  const KernelCall call{static_cast<OpId>(op), attrs, specs, {specs, 1}};
  const PreparedKernel kernel = find_kernel(Context::get().default_device().kernels(), call);
  const DeviceSpan in[] = {span_of(target), span_of(delta)};
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
