#include "plimsoll/variable.h"

#include "base/check.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "runtime/variable_state.h"

namespace plimsoll {
namespace {

Tensor copy_of(const Tensor& from, Device& device, const VariableOptions& options) {
  return copy_to(device, from, memory::Owner(options.tag, options.name));
}

}  // namespace

Device& VariableState::home() const {
  return value.impl()->buffer ? *owner_of(value) : place_value(value.dtype(), value.num_elements());
}

void VariableState::check_value() const {
  PLIMSOLL_CHECK(value.impl()->buffer, FailedPreconditionError,
                 "variable '{}' has a shape and no value: it was made to be planned with",
                 options.name);
}

void VariableState::make_alone() {
  if (!is_alone()) value = copy_of(value, *owner_of(value), options);
}

void Variable::check_initial(const Tensor& value, const VariableOptions& options) const {
  PLIMSOLL_CHECK(value.is_valid(), InvalidArgumentError, "variable '{}' needs an initial value",
                 options.name);
  PLIMSOLL_CHECK(value.dtype() != DType::kString, UnimplementedError,
                 "variable '{}': variables of strings are not supported", options.name);
  PLIMSOLL_CHECK(value.impl()->buffer, InvalidArgumentError,
                 "variable '{}' is made inside a function that is traced, from a symbolic tensor. "
                 "Make variables outside, once",
                 options.name);
}

Variable::Variable(const Tensor& initial_value, VariableOptions options)
    : state_(std::make_shared<VariableState>()) {
  check_initial(initial_value, options);
  Device& device = place_value(initial_value.dtype(), initial_value.num_elements());
  state_->value = copy_of(initial_value, device, options);
  state_->options = std::move(options);
}

Variable::Variable(Tensor&& initial_value, VariableOptions options)
    : state_(std::make_shared<VariableState>()) {
  check_initial(initial_value, options);
  Device& device = place_value(initial_value.dtype(), initial_value.num_elements());
  Buffer& buffer = *initial_value.impl()->buffer.get();
  const bool is_whole = initial_value.impl()->offset == 0 &&
                        buffer.block.nbytes() == static_cast<std::uint64_t>(initial_value.nbytes());
  if (owner_of(initial_value) == &device && is_whole && is_sole_handle(initial_value) &&
      buffer.block.try_change_owner(memory::Owner(options.tag, options.name))) {
    state_->value = std::move(initial_value);
  } else {
    state_->value = copy_of(initial_value, device, options);
    initial_value = Tensor();
  }
  state_->options = std::move(options);
}

Variable::Variable(const TensorSpec& spec, VariableOptions options)
    : state_(std::make_shared<VariableState>()) {
  PLIMSOLL_CHECK(spec.dtype != DType::kString, UnimplementedError,
                 "variable '{}': variables of strings are not supported", options.name);
  state_->value = make_spec_tensor(spec.dtype, spec.shape);
  state_->options = std::move(options);
}

Variable::Variable(std::shared_ptr<VariableState> shared) noexcept : state_(std::move(shared)) {}

bool Variable::has_value() const noexcept {
  return static_cast<bool>(state_->value.impl()->buffer);
}

void Variable::allocate() {
  if (has_value()) return;
  Device& device = place_value(dtype(), shape().num_elements());
  const memory::Owner owner(state_->options.tag, state_->options.name);
  state_->value = allocate_tensor(device, dtype(), shape(), owner);
}

const std::string& Variable::name() const noexcept {
  return state_->options.name;
}
bool Variable::trainable() const noexcept {
  return state_->options.trainable;
}
DType Variable::dtype() const noexcept {
  return state_->value.dtype();
}
const Shape& Variable::shape() const noexcept {
  return state_->value.shape();
}

const Tensor& Variable::value() const {
  const Tensor& value = current_trace ? current_trace->read(state_) : state_->value;
  if (!current_trace) state_->check_value();
  if (is_recording() && trainable()) watch_variable_read(state_, value);
  return value;
}

void Variable::check_fits(const Tensor& value, const char* what) const {
  PLIMSOLL_CHECK(value.is_valid(), InvalidArgumentError, "{} of variable '{}' got an empty Tensor",
                 what, name());
  PLIMSOLL_CHECK(
      value.shape() == shape() && value.dtype() == dtype(), InvalidArgumentError,
      "Cannot assign value to variable '{}': Shape mismatch. The variable shape {} of {}, and the "
      "assigned value shape {} of {} are incompatible.",
      name(), shape().to_string(), dtype_name(dtype()), value.shape().to_string(),
      dtype_name(value.dtype()));
  PLIMSOLL_CHECK(value.impl()->buffer || current_trace, InvalidArgumentError,
                 "{} of variable '{}' got a symbolic tensor of a function, outside of it", what,
                 name());
}

void Variable::assign(const Tensor& value) {
  check_fits(value, "assign");
  if (current_trace) return current_trace->assign(state_, value);
  allocate();
  Tensor& mine = state_->value;
  Device& device = *owner_of(mine);
  if (!state_->is_alone()) {
    mine = copy_of(value, device, state_->options);
    return;
  }
  if (value.impl()->buffer.get() == mine.impl()->buffer.get()) return;
  const Device& src = *owner_of(value);
  const auto nbytes = static_cast<std::uint64_t>(value.nbytes());
  const StagingLease lease = StagingLease::between(src, device, nbytes);
  // A new version: tapes that saw the old value do not take this one for it.
  Tensor next = make_tensor(dtype(), shape(), mine.impl()->buffer);
  copy_between(src, address_of(value), device, address_of(next), nbytes, lease);
  mine = std::move(next);
}

// Runs an elementwise kernel over the variable's own buffer, or over a copy if others see it.
void Variable::update(std::uint16_t op, const Tensor& delta, const char* what) {
  check_fits(delta, what);
  if (current_trace)
    return current_trace->assign(state_, call(static_cast<OpId>(op), {value(), delta}));
  state_->check_value();
  Tensor& mine = state_->value;
  Device& device = *owner_of(mine);
  static const memory::Owner near_owner(memory::Tag::kWorkspace, "assign");
  const Tensor near = owner_of(delta) == &device ? delta : copy_to(device, delta, near_owner);
  Tensor target = state_->is_alone() ? mine : copy_of(mine, device, state_->options);
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
  mine = make_tensor(dtype(), shape(), target.impl()->buffer);
}

void Variable::assign_add(const Tensor& delta) {
  update(static_cast<std::uint16_t>(OpId::Add), delta, "assign_add");
}
void Variable::assign_sub(const Tensor& delta) {
  update(static_cast<std::uint16_t>(OpId::Sub), delta, "assign_sub");
}

}  // namespace plimsoll
