#include "plimsoll/interop.h"

#include "base/check.h"
#include "runtime/call_site.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::interop {

bool is_tracing() noexcept {
  return current_trace != nullptr;
}
bool is_recording() noexcept {
  return plimsoll::is_recording();
}
bool needs_each_op() noexcept {
  const RecordingTapes tapes = recording_tapes();
  return tapes.count > 1 || (tapes.count == 1 && !tapes.last->options.watch_accessed_variables);
}
bool is_symbolic(const Tensor& tensor) noexcept {
  return tensor.is_valid() && !tensor.impl()->buffer;
}

std::string symbolic_name(const Tensor& tensor) {
  return current_trace ? current_trace->name_of(tensor) : "";
}
void set_symbolic_name(const Tensor& tensor, const std::string& name) {
  if (current_trace) current_trace->names[tensor.impl()->id] = name;
}

std::uint64_t tensor_id(const Tensor& tensor) noexcept {
  return tensor.impl()->id;
}

const void* host_data(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  if (!impl || !impl->buffer || impl->dtype == DType::kString) return nullptr;
  const Device* device = owner_of(tensor);
  if (!device || !device->is_host()) return nullptr;
  return static_cast<const std::byte*>(impl->buffer->block.data()) + impl->offset;
}

std::string_view string_data(const Tensor& tensor) {
  PLIMSOLL_CHECK(
      tensor.is_valid() && tensor.dtype() == DType::kString && tensor.num_elements() == 1,
      InvalidArgumentError, "expected a tensor of one string, got {}",
      tensor.is_valid() ? fmt::format("shape {} and type {}", tensor.shape().to_string(),
                                      dtype_name(tensor.dtype()))
                        : "no tensor");
  PLIMSOLL_CHECK(tensor.impl()->buffer, FailedPreconditionError,
                 "a symbolic tensor of type string has no value while its function is traced");
  return tensor.impl()->buffer->strings[tensor.impl()->offset];
}

namespace {

// As bytes. throws: InvalidArgumentError; FailedPreconditionError.
void check_has_value(const Tensor& tensor) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "an empty Tensor has no elements");
  PLIMSOLL_CHECK(tensor.impl()->buffer, FailedPreconditionError,
                 "a symbolic tensor of shape {} and type {} has no value while its function is "
                 "traced",
                 tensor.shape().to_string(), dtype_name(tensor.dtype()));
  PLIMSOLL_CHECK(tensor.dtype() != DType::kString, InvalidArgumentError,
                 "a tensor of strings cannot be copied as bytes");
}

}  // namespace

void copy_to_host(const Tensor& tensor, void* to) {
  check_has_value(tensor);
  if (tensor.num_elements() == 0) return;
  const TensorImpl* impl = tensor.impl();
  impl->buffer->device->copy_to_host(impl->buffer->block, impl->offset, to,
                                     static_cast<std::uint64_t>(tensor.nbytes()));
}

Tensor on_host(const Tensor& tensor) {
  if (host_data(tensor)) return tensor;
  static const memory::Owner owner(memory::Tag::kStaging, "on_host");
  check_has_value(tensor);
  const Tensor made = allocate_tensor(Context::get().cpu(), tensor.dtype(), tensor.shape(), owner);
  copy_to_host(tensor, const_cast<void*>(host_data(made)));
  return made;
}

Tensor copy_from_host(DType dtype, const Shape& shape, const void* values) {
  PLIMSOLL_CHECK(dtype != DType::kString, InvalidArgumentError,
                 "a tensor of strings cannot be made from bytes");
  Device& device = place_value(dtype, shape.num_elements());
  static const memory::Owner owner(memory::Tag::kActivations, "Const");
  const std::uint64_t nbytes = checked_tensor_bytes(dtype, shape);
  const StagingLease lease = StagingLease::between(Context::get().cpu(), device, nbytes);
  Tensor tensor = allocate_tensor(device, dtype, shape, owner);
  if (nbytes) plimsoll::copy_from_host(values, device, address_of(tensor), nbytes, lease);
  if (is_logging_placement.load(std::memory_order_relaxed)) log_placement("_EagerConst", device);
  return tensor;
}

Tensor borrow_from_host(DType dtype, const Shape& shape, const void* values,
                        std::shared_ptr<const void> lender) {
  PLIMSOLL_CHECK(dtype != DType::kString, InvalidArgumentError,
                 "a tensor of strings cannot be made from bytes");
  const std::uint64_t nbytes = checked_tensor_bytes(dtype, shape);
  const auto alignment = static_cast<std::uintptr_t>(dtype_size(dtype));
  PLIMSOLL_CHECK(
      nbytes == 0 || (values && reinterpret_cast<std::uintptr_t>(values) % alignment == 0),
      InvalidArgumentError,
      "elements of type {} can be borrowed at addresses that are multiples of {}, got {}",
      dtype_name(dtype), alignment, values);
  BufferRef buffer(new Buffer);
  buffer->device = &Context::get().cpu();
  buffer->lender = std::move(lender);
  buffer->block = memory::Block::borrow(nbytes ? values : nullptr, nbytes);
  return make_tensor(dtype, shape, std::move(buffer));
}

struct InitScopeState {
  TracingScope now{nullptr};
  HideTapes hide;
};
InitScope::InitScope() : state_(std::make_unique<InitScopeState>()) {}
InitScope::~InitScope() = default;

void set_call_site(CallSite ask) noexcept {
  call_site.store(ask, std::memory_order_relaxed);
}

}  // namespace plimsoll::interop
