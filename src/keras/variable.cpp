#include "plimsoll/keras/variable.h"

#include "plimsoll/ops/create.h"
#include "plimsoll/ops/elementwise.h"
#include "runtime/context.h"
#include "runtime/trace.h"
#include "runtime/variable_state.h"

namespace plimsoll::keras {
namespace {

constinit thread_local std::optional<DType> autocast_dtype;
constinit thread_local const Tensor* assign_condition = nullptr;
constinit thread_local bool is_without_values = false;

VariableOptions options_of(const VariableInfo& info) {
  return {.name = info.path.empty() ? info.name : info.path,
          .trainable = info.trainable,
          .tag = info.tag};
}

// Variables may be made in the middle of a trace: their first value is computed, not recorded.
plimsoll::Variable make_variable(Tensor value, const VariableInfo& info) {
  const TracingScope now(nullptr);
  return plimsoll::Variable(std::move(value), options_of(info));
}
plimsoll::Variable make_variable(const TensorSpec& spec, const InitializerArg& initializer,
                                 const VariableInfo& info) {
  if (is_without_values) return plimsoll::Variable(spec, options_of(info));
  const TracingScope now(nullptr);
  return plimsoll::Variable((*initializer)(spec.shape, spec.dtype), options_of(info));
}

}  // namespace

Variable::Variable(Tensor initial_value, VariableInfo info)
    : trainable(info.trainable),
      info_(std::move(info)),
      variable_(make_variable(std::move(initial_value), info_)) {}

Variable::Variable(const TensorSpec& spec, InitializerArg initializer, VariableInfo info)
    : trainable(info.trainable),
      info_(std::move(info)),
      initializer_(std::move(initializer)),
      variable_(make_variable(spec, initializer_, info_)) {}

std::string Variable::device() const {
  return variable_.state()->home().full_name();
}

void Variable::initialize() {
  if (has_value()) return;
  const TracingScope now(nullptr);
  const AutocastScope own_type(std::nullopt);
  variable_.assign((*initializer_)(shape(), dtype()));
}

Tensor Variable::value() const {
  const Tensor& value = variable_.value();
  if (!info_.autocast || !autocast_dtype || *autocast_dtype == value.dtype() ||
      !is_floating(value.dtype()))
    return value;
  return cast(value, *autocast_dtype);
}

void Variable::assign(const Tensor& value) {
  Tensor next = value.dtype() == dtype() ? value : cast(value, dtype());
  if (assign_condition) next = where(*assign_condition, next, variable_.value());
  variable_.assign(next);
}
void Variable::assign_add(const Tensor& delta) {
  const Tensor own = delta.dtype() == dtype() ? delta : cast(delta, dtype());
  assign_condition ? assign(variable_.value() + own) : variable_.assign_add(own);
}
void Variable::assign_sub(const Tensor& delta) {
  const Tensor own = delta.dtype() == dtype() ? delta : cast(delta, dtype());
  assign_condition ? assign(variable_.value() - own) : variable_.assign_sub(own);
}

WithoutValuesScope::WithoutValuesScope(bool enabled) noexcept : outer_(is_without_values) {
  is_without_values = enabled;
}
WithoutValuesScope::~WithoutValuesScope() {
  is_without_values = outer_;
}
bool WithoutValuesScope::is_active() noexcept {
  return is_without_values;
}

AutocastScope::AutocastScope(std::optional<DType> dtype) noexcept : outer_(autocast_dtype) {
  autocast_dtype = dtype;
}
AutocastScope::~AutocastScope() {
  autocast_dtype = outer_;
}
std::optional<DType> AutocastScope::current() noexcept {
  return autocast_dtype;
}

ConditionalAssignScope::ConditionalAssignScope(const Tensor& condition)
    : condition_(assign_condition ? logical_and(*assign_condition, condition) : condition),
      outer_(assign_condition) {
  assign_condition = &condition_;
}
ConditionalAssignScope::~ConditionalAssignScope() {
  assign_condition = outer_;
}

}  // namespace plimsoll::keras
