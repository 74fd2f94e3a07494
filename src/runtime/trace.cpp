#include "runtime/trace.h"

#include "base/check.h"
#include "runtime/placement.h"
#include "runtime/variable_state.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

using graph::NodeKind;
using graph::ValueId;

constinit thread_local Trace* current_trace = nullptr;

std::string& current_name_scope() noexcept {
  thread_local std::string scope;
  return scope;
}

Trace::Trace() : scope_(current_scope) {}

graph::Node& Trace::add_node(NodeKind kind) {
  graph::Node& node = graph.nodes.emplace_back();
  node.kind = kind;
  node.scope = current_name_scope();
  node.is_backward = is_backward;
  return node;
}

Tensor Trace::add_leaf(NodeKind kind, int slot, const TensorSpec& spec) {
  const ValueId value = graph.add_value(spec);
  graph::Node& node = add_node(kind);
  node.slot = slot;
  node.out = {value};
  Tensor tensor = make_spec_tensor(spec.dtype, spec.shape);
  values_.emplace(tensor.impl()->id, value);
  return tensor;
}

Tensor Trace::add_input(const TensorSpec& spec) {
  PLIMSOLL_CHECK(spec.dtype != DType::kString, UnimplementedError,
                 "functions cannot take strings: argument {} is of type string",
                 graph.inputs.size());
  Tensor tensor = add_leaf(NodeKind::kInput, static_cast<int>(graph.inputs.size()), spec);
  graph.inputs.push_back(values_[tensor.impl()->id]);
  return tensor;
}

ValueId Trace::value_of(const Tensor& tensor) {
  const auto found = values_.find(tensor.impl()->id);
  if (found != values_.end()) return found->second;
  PLIMSOLL_CHECK(
      tensor.impl()->buffer, InvalidArgumentError,
      "a symbolic tensor of shape {} and type {} is used outside of the function that made it. "
      "Return it from that function, or keep it in a Variable",
      tensor.shape().to_string(), dtype_name(tensor.dtype()));
  PLIMSOLL_CHECK(tensor.dtype() != DType::kString, UnimplementedError,
                 "functions cannot use strings");
  const ValueId value = graph.add_value({tensor.dtype(), tensor.shape()});
  graph::Node& node = add_node(NodeKind::kConstant);
  node.slot = static_cast<int>(graph.constants.size());
  node.out = {value};
  graph.constants.push_back(tensor);
  values_.emplace(tensor.impl()->id, value);
  return value;
}

void Trace::record(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                   std::span<const TensorSpec> specs, std::span<Tensor> out) {
  PLIMSOLL_CHECK(current_scope == scope_ || !current_scope || !current_scope->resolved,
                 UnimplementedError,
                 "a function runs on one device: op {} asks for '{}'. Put the device scope around "
                 "the call of the function",
                 op_name(op), current_scope->name.to_string());
  std::vector<ValueId> ids;
  ids.reserve(in.size());
  for (const Tensor& t : in) ids.push_back(value_of(t));
  graph::Node& node = add_node(NodeKind::kOp);
  node.op = op;
  node.attrs = attrs;
  node.in = std::move(ids);
  if (op_def(op).is_effect) node.slot = num_effects_++;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const ValueId value = graph.add_value(specs[i]);
    node.out.push_back(value);
    out[i] = make_spec_tensor(specs[i].dtype, specs[i].shape);
    values_.emplace(out[i].impl()->id, value);
  }
}

Trace::Known& Trace::known(const std::shared_ptr<VariableState>& variable) {
  const auto found = known_.find(variable.get());
  if (found != known_.end()) return found->second;
  const int slot = static_cast<int>(variables.size());
  const TensorSpec spec{variable->value.dtype(), variable->value.shape()};
  variables.push_back(variable);
  graph.variables.push_back({spec, variable->options.name, variable->options.tag});
  Tensor value = add_leaf(NodeKind::kVariable, slot, spec);
  graph.values[static_cast<std::size_t>(values_[value.impl()->id])].tag = variable->options.tag;
  return known_.emplace(variable.get(), Known{slot, std::move(value)}).first->second;
}

const Tensor& Trace::read(const std::shared_ptr<VariableState>& variable) {
  return known(variable).value;
}

void Trace::assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  Known& target = known(variable);
  const ValueId id = value_of(value);
  graph::Node& node = add_node(NodeKind::kAssign);
  node.slot = target.slot;
  node.in = {id};
  // A version of its own: a tape takes it for neither the old value nor the tensor assigned.
  target.value = make_spec_tensor(value.dtype(), value.shape());
  values_.emplace(target.value.impl()->id, id);
}

Tensor Trace::random_state(std::int64_t key, std::int64_t high, std::uint64_t num_counters) {
  graph.streams.push_back({key, high, num_counters});
  return add_leaf(NodeKind::kRandomState, static_cast<int>(graph.streams.size()) - 1,
                  {DType::kInt64, {3}});
}

void Trace::set_tag(const Tensor& value, memory::Tag tag) {
  const auto found = values_.find(value.impl()->id);
  if (found != values_.end()) graph.values[static_cast<std::size_t>(found->second)].tag = tag;
}

void Trace::set_outputs(std::span<const Tensor> outputs) {
  for (const Tensor& t : outputs)
    graph.outputs.push_back(t.is_valid() ? value_of(t) : graph::kNoValue);
}

}  // namespace plimsoll
