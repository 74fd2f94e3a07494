// A function as a graph: nodes in an order in which they can run, and the values between them.
//
// Values are in SSA form: each is made once, by one node. Variables come in as values (what they
// are when the run starts) and change by assign nodes. Passes rewrite the list of nodes; ids of
// values stay what they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/api/fused.h"
#include "ops/op_def.h"
#include "plimsoll/memory/owner.h"
#include "plimsoll/tensor.h"

namespace plimsoll::graph {

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

// An index of a node, a value or a storage, for a container.
inline std::size_t at(std::int64_t i) noexcept {
  return static_cast<std::size_t>(i);
}

enum class NodeKind : std::uint8_t {
  kInput,        // argument `slot` of the function
  kConstant,     // tensor `slot` of Graph::constants
  kVariable,     // variable `slot`, as it is when the run starts
  kRandomState,  // a place in a stream of random numbers, a new one in every run
  kOp,
  kControl,  // a branch or a loop: graph/control.h
  kAssign,   // variable `slot` becomes in[0]
};

struct Control;

struct Node {
  NodeKind kind = NodeKind::kOp;
  OpId op{};
  Attrs attrs;
  std::vector<ValueId> in, out;
  int slot = -1;                                // by kind; the place in the order for effects
  std::string scope;                            // the layer that it belongs to: "block1/conv"
  std::string site;                             // the line that made it, if known: "train.py:12"
  bool is_backward = false;                     // made by a gradient
  bool is_recomputed = false;                   // a second copy, so that the first need not be kept
  std::shared_ptr<const FusedProgram> program;  // of OpId::Fused
  std::shared_ptr<const Control> control;       // of NodeKind::kControl
};

struct Value {
  TensorSpec spec;
  memory::Tag tag = memory::Tag::kActivations;
};

struct VariableInfo {
  TensorSpec spec;
  std::string name;
  memory::Tag tag = memory::Tag::kWeights;
};

// Where a stream of random numbers begins; each run takes num_counters of it.
struct RandomStream {
  std::int64_t key = 0, high = 0;
  std::uint64_t num_counters = 0;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> values;
  std::vector<ValueId> inputs;   // by argument
  std::vector<ValueId> outputs;  // by result; kNoValue: an empty Tensor
  std::vector<Tensor> constants;
  std::vector<VariableInfo> variables;
  std::vector<RandomStream> streams;  // by slot of a random state
  // Of a body: whether a step of it had a gradient of its own, which its nodes do not know.
  bool has_own_gradients = false;

  ValueId add_value(const TensorSpec& spec, memory::Tag tag = memory::Tag::kActivations);
  const TensorSpec& spec(ValueId value) const noexcept {
    return values[static_cast<std::size_t>(value)].spec;
  }
  std::uint64_t nbytes(ValueId value) const noexcept;

  // Appends a call of an op, with its outputs as the op's shape rule says.
  Node& add_op(OpId op, const Attrs& attrs, std::vector<ValueId> in);

  // The node that makes each value; by ValueId, -1 for none.
  std::vector<int> producers() const;
  // The nodes that read each value, ascending; by ValueId.
  std::vector<std::vector<int>> readers() const;
  // Whether each value is a result of the graph; by ValueId.
  std::vector<char> is_output() const;

  // What is wrong with the graph, in words; empty if it is sound.
  std::string validate() const;

  // For people: a line per node, and Graphviz.
  std::string to_text() const;
  std::string to_dot() const;
};

// These look into the bodies of branches and loops, too.
// Prints and asserts: they run in the order of their slots.
bool is_effect(const Node& node) noexcept;
bool has_side_effects(const Node& node) noexcept;
bool can_fail(const Graph& graph, const Node& node) noexcept;  // for its values, in a run

}  // namespace plimsoll::graph
