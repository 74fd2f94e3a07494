#include "runtime/trace.h"

#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops/create.h"
#include "runtime/call_site.h"
#include "runtime/dispatch.h"
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
Trace::Trace(Trace& outer)
    : is_backward(outer.is_backward), scope_(current_scope), outer_(&outer) {}

graph::Node& Trace::add_node(NodeKind kind) {
  graph::Node& node = graph.nodes.emplace_back();
  node.kind = kind;
  node.scope = current_name_scope();
  node.site = current_call_site();
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
  taken.emplace_back();
  return tensor;
}

// Of a body: an input that stands for a tensor outside.
Tensor Trace::take(const Tensor& outside) {
  outer_->value_of(outside);
  Tensor tensor = add_input({outside.dtype(), outside.shape()});
  taken.back() = outside;
  return tensor;
}

ValueId Trace::value_of(const Tensor& tensor) {
  const auto found = values_.find(tensor.impl()->id);
  if (found != values_.end()) return found->second;
  if (outer_) {
    const ValueId value = values_[take(tensor).impl()->id];
    return values_.emplace(tensor.impl()->id, value).first->second;
  }
  PLIMSOLL_CHECK(
      tensor.impl()->buffer, InvalidArgumentError,
      "a symbolic tensor of shape {} and type {} is used outside of the function, branch or loop "
      "that made it. Return it from there, or keep it in a Variable",
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
  add_outputs(node, specs, out);
}

void Trace::record(std::shared_ptr<const graph::Control> control, std::span<const Tensor> in,
                   std::span<const TensorSpec> specs, std::span<Tensor> out) {
  std::vector<ValueId> ids;
  for (const Tensor& t : in) ids.push_back(value_of(t));
  graph::Node& node = add_node(NodeKind::kControl);
  node.control = std::move(control);
  node.in = std::move(ids);
  if (graph::is_effect(node)) node.slot = num_effects_++;
  add_outputs(node, specs, out);
}

void Trace::add_outputs(graph::Node& node, std::span<const TensorSpec> specs,
                        std::span<Tensor> out) {
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
  if (outer_) {
    Tensor value = take(outer_->read(variable));
    variable_input.push_back(static_cast<int>(taken.size()) - 1);
    is_assigned.push_back(0);
    return known_.emplace(variable.get(), Known{slot, std::move(value)}).first->second;
  }
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
  // Either way a version of its own: a tape takes it for neither the old value nor the tensor
  // assigned.
  if (outer_) {  // the branch or loop has it as a result, and it is assigned behind that
    is_assigned[static_cast<std::size_t>(target.slot)] = 1;
    target.value = call(OpId::StopGradient, {value});
    return;
  }
  const ValueId id = value_of(value);
  graph::Node& node = add_node(NodeKind::kAssign);
  node.slot = target.slot;
  node.in = {id};
  target.value = make_spec_tensor(value.dtype(), value.shape());
  values_.emplace(target.value.impl()->id, id);
}

Tensor Trace::random_state(std::int64_t key, std::int64_t high, std::uint64_t num_counters) {
  if (outer_ && !index.is_valid()) return outer_->random_state(key, high, num_counters);
  if (outer_) {  // each iteration has its own stretch, so that a gradient finds it again
    const Tensor state = outer_->random_state(key, high, num_counters * num_trips);
    const Tensor stretch = constant<std::int64_t>({0, static_cast<std::int64_t>(num_counters), 0});
    return call(OpId::Add, {state, call(OpId::Mul, {index, stretch})});
  }
  graph.streams.push_back({key, high, num_counters});
  return add_leaf(NodeKind::kRandomState, static_cast<int>(graph.streams.size()) - 1,
                  {DType::kInt64, {3}});
}

namespace {

// As TensorFlow's Python names its nodes where it does not take the op's own name.
std::string_view node_name(const graph::Node& node) {
  switch (node.kind) {
    case NodeKind::kInput:
      return "Placeholder";
    case NodeKind::kConstant:
      return "Const";
    case NodeKind::kVariable:
      return "ReadVariableOp";
    case NodeKind::kControl:
      return graph::control_name(*node.control);
    default:
      break;
  }
  switch (node.op) {
    case OpId::Add:
      return "add";
    case OpId::Sub:
      return "sub";
    case OpId::Mul:
      return "mul";
    case OpId::Div:
      return "truediv";
    case OpId::FloorDiv:
      return "floordiv";
    case OpId::FloorMod:
      return "mod";
    case OpId::Pow:
      return "pow";
    default:
      return op_name(node.op);
  }
}

}  // namespace

std::shared_ptr<VariableState> Trace::variable_of(const Tensor& tensor) const {
  const auto found = values_.find(tensor.impl()->id);
  if (found == values_.end() || outer_) return nullptr;
  for (const graph::Node& node : graph.nodes) {
    if (node.kind == NodeKind::kVariable && node.out[0] == found->second)
      return variables[static_cast<std::size_t>(node.slot)];
  }
  return nullptr;
}

std::string Trace::name_of(const Tensor& tensor) const {
  if (const auto given = names.find(tensor.impl()->id); given != names.end()) return given->second;
  const auto found = values_.find(tensor.impl()->id);
  if (found == values_.end()) return outer_ ? outer_->name_of(tensor) : "";
  const auto maker = graph.producers()[static_cast<std::size_t>(found->second)];
  if (maker < 0) return "";
  const graph::Node& node = graph.nodes[static_cast<std::size_t>(maker)];
  int num_before = 0;
  for (int i = 0; i < maker; ++i) {
    if (node_name(graph.nodes[static_cast<std::size_t>(i)]) == node_name(node)) ++num_before;
  }
  const auto which = std::ranges::find(node.out, found->second) - node.out.begin();
  return fmt::format("{}{}:{}", node_name(node), num_before ? "_" + std::to_string(num_before) : "",
                     which);
}

void Trace::set_tag(const Tensor& value, memory::Tag tag) {
  const auto found = values_.find(value.impl()->id);
  if (found != values_.end()) graph.values[static_cast<std::size_t>(found->second)].tag = tag;
}

void Trace::replace(const Tensor& value, const Tensor& same) {
  values_[value.impl()->id] = value_of(same);
}

void Trace::set_outputs(std::span<const Tensor> outputs) {
  for (const Tensor& t : outputs)
    graph.outputs.push_back(t.is_valid() ? value_of(t) : graph::kNoValue);
}

}  // namespace plimsoll
