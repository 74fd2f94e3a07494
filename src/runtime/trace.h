// Recording calls into a graph. While a thread traces, ops are not executed: each becomes a node,
// and its outputs are tensors without memory that stand for values of the graph.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "ops/op_def.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

struct ScopeState;
struct VariableState;

class Trace {
 public:
  Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  Tensor add_input(const TensorSpec& spec);
  void set_outputs(std::span<const Tensor> outputs);

  // A call; makes its outputs. throws: InvalidArgumentError for a tensor of another trace.
  void record(OpId op, const Attrs& attrs, std::span<const Tensor> in,
              std::span<const TensorSpec> specs, std::span<Tensor> out);
  // The value of a variable at this point of the trace.
  const Tensor& read(const std::shared_ptr<VariableState>& variable);
  void assign(const std::shared_ptr<VariableState>& variable, const Tensor& value);
  // The state of a random op that takes `num_counters` in every run.
  Tensor random_state(std::int64_t key, std::int64_t high, std::uint64_t num_counters);
  void set_tag(const Tensor& value, memory::Tag tag);

  graph::Graph graph;
  std::vector<std::shared_ptr<VariableState>> variables;  // by slot
  bool is_backward = false;                               // a gradient is being recorded

 private:
  struct Known {
    int slot;
    Tensor value;
  };

  graph::ValueId value_of(const Tensor& tensor);
  Tensor add_leaf(graph::NodeKind kind, int slot, const TensorSpec& spec);
  Known& known(const std::shared_ptr<VariableState>& variable);
  graph::Node& add_node(graph::NodeKind kind);

  std::unordered_map<std::uint64_t, graph::ValueId> values_;  // by tensor id
  std::unordered_map<VariableState*, Known> known_;
  int num_effects_ = 0;
  const ScopeState* const scope_;  // the device scope that the trace began in
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
