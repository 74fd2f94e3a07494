// Recording calls into a graph. While a thread traces, ops are not executed: each becomes a node,
// and its outputs are tensors without memory that stand for values of the graph.
//
// The body of a branch or a loop is a trace inside another. What it uses from outside, tensors and
// variables, becomes an input of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/control.h"
#include "ops/op_def.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

struct ScopeState;
struct VariableState;

class Trace {
 public:
  Trace();
  explicit Trace(Trace& outer);  // of a body
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Tensor add_input(const TensorSpec& spec);
  void set_outputs(std::span<const Tensor> outputs);

  // A call; makes its outputs. throws: InvalidArgumentError for a tensor of another trace.
  void record(OpId op, const Attrs& attrs, std::span<const Tensor> in,
              std::span<const TensorSpec> specs, std::span<Tensor> out);
  void record(std::shared_ptr<const graph::Control> control, std::span<const Tensor> in,
              std::span<const TensorSpec> specs, std::span<Tensor> out);
  // The value of a variable at this point of the trace.
  const Tensor& read(const std::shared_ptr<VariableState>& variable);
  void assign(const std::shared_ptr<VariableState>& variable, const Tensor& value);
  // The state of a random op that takes `num_counters` in every run.
  Tensor random_state(std::int64_t key, std::int64_t high, std::uint64_t num_counters);
  void set_tag(const Tensor& value, memory::Tag tag);
  // From now on `same` is read where `value` is used. pre: they have the same elements.
  void replace(const Tensor& value, const Tensor& same);

  // The variable whose value at the start a tensor of this trace is; null if it is none.
  std::shared_ptr<VariableState> variable_of(const Tensor& tensor) const;
  // "MatMul_1:0": what makes a tensor of this trace; empty if it is none.
  std::string name_of(const Tensor& tensor) const;

  bool is_body() const noexcept { return outer_ != nullptr; }

  graph::Graph graph;
  std::vector<std::shared_ptr<VariableState>> variables;  // by slot
  bool is_backward = false;                               // a gradient is being recorded
  std::unordered_map<std::uint64_t, std::string> names;   // by tensor id: given by a front

  // Of a body.
  std::vector<Tensor> taken;        // by input: the tensor outside; none where the loop gives it
  std::vector<int> variable_input;  // by slot: the input by which a variable comes in
  std::vector<char> is_assigned;    // by slot
  Tensor index;                     // of a loop: the number of the iteration
  std::uint64_t num_trips = 0;      // of a loop: room for random numbers

 private:
  struct Known {
    int slot;
    Tensor value;
  };

  graph::ValueId value_of(const Tensor& tensor);
  Tensor take(const Tensor& outside);
  void add_outputs(graph::Node& node, std::span<const TensorSpec> specs, std::span<Tensor> out);
  Tensor add_leaf(graph::NodeKind kind, int slot, const TensorSpec& spec);
  Known& known(const std::shared_ptr<VariableState>& variable);
  graph::Node& add_node(graph::NodeKind kind);

  std::unordered_map<std::uint64_t, graph::ValueId> values_;  // by tensor id
  std::unordered_map<VariableState*, Known> known_;
  int num_effects_ = 0;
  const ScopeState* const scope_;  // the device scope that the trace began in
  Trace* const outer_ = nullptr;   // of a body
};

// The trace that this thread records, or null.
extern constinit thread_local Trace* current_trace;
// Where ops belong, for the trace and the tape: "block1/conv".
std::string& current_name_scope() noexcept;

// Makes a trace this thread's while it lives.
class TracingScope {
 public:
  explicit TracingScope(Trace* trace) noexcept : outer_(current_trace) { current_trace = trace; }
  ~TracingScope() { current_trace = outer_; }
  TracingScope(const TracingScope&) = delete;
  TracingScope& operator=(const TracingScope&) = delete;

 private:
  Trace* outer_;
};

}  // namespace plimsoll
