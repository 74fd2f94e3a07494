#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "graph/control.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::graph {
namespace {

const char* kind_word(NodeKind kind) noexcept {
  switch (kind) {
    case NodeKind::kInput:
      return "input";
    case NodeKind::kConstant:
      return "constant";
    case NodeKind::kVariable:
      return "variable";
    case NodeKind::kRandomState:
      return "random_state";
    case NodeKind::kOp:
      return "op";
    case NodeKind::kControl:
      return "control";
    case NodeKind::kAssign:
      return "assign";
  }
  return "?";
}

std::string title(const Graph& g, const Node& node) {
  switch (node.kind) {
    case NodeKind::kOp:
      return std::string(op_name(node.op));
    case NodeKind::kControl:
      return std::string(control_name(*node.control));
    case NodeKind::kVariable:
    case NodeKind::kAssign:
      return fmt::format("{} '{}'", kind_word(node.kind), g.variables[at(node.slot)].name);
    default:
      return fmt::format("{} {}", kind_word(node.kind), node.slot);
  }
}

// Whether f(graph, node) holds for a node of a branch or a loop.
template <class F>
bool any_inner(const Node& node, F&& f) noexcept {
  return node.control && std::ranges::any_of(node.control->bodies, [&](const Control::Body& body) {
           return std::ranges::any_of(body.graph.nodes,
                                      [&](const Node& inner) { return f(body.graph, inner); });
         });
}

std::string spec_text(const TensorSpec& spec) {
  return fmt::format("{}{}", dtype_name(spec.dtype), spec.shape.to_string());
}

std::string program_text(const FusedProgram& program) {
  const auto operand = [](int i) {
    return i >= 0 ? fmt::format("i{}", i) : fmt::format("t{}", ~i);
  };
  std::string text = " {";
  for (std::size_t k = 0; k < program.steps.size(); ++k) {
    const FusedProgram::Step& step = program.steps[k];
    text += fmt::format(" t{} = {}({}{}{});", k, op_name(step.op), operand(step.x),
                        step.y == FusedProgram::kNone ? "" : ", ",
                        step.y == FusedProgram::kNone ? "" : operand(step.y));
  }
  for (const int k : program.outputs) text += fmt::format(" ->t{}", k);
  return text + " }";
}

// Nodes and edges; the bodies of a control node are boxes of their own.
std::string dot_of(const Graph& g, const std::string& prefix) {
  std::string text;
  const std::vector<int> made_by = g.producers();
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    text += fmt::format("  {}{} [label=\"{}{}{}\"];\n", prefix, n, title(g, node),
                        node.scope.empty() ? "" : "\\n", node.scope);
    for (const ValueId v : node.in)
      text += fmt::format("  {0}{1} -> {0}{2} [label=\"{3}\"];\n", prefix, made_by[at(v)], n,
                          spec_text(g.spec(v)));
    if (!node.control) continue;
    for (std::size_t b = 0; b < node.control->bodies.size(); ++b) {
      const std::string inner = fmt::format("{}{}_{}_", prefix, n, b);
      text += fmt::format("  subgraph cluster_{} {{ label=\"{} {}\";\n{}  }}\n", inner,
                          title(g, node), n, dot_of(node.control->bodies[b].graph, inner));
    }
  }
  return text;
}

}  // namespace

ValueId Graph::add_value(const TensorSpec& spec, memory::Tag tag) {
  values.push_back({spec, tag});
  return static_cast<ValueId>(values.size() - 1);
}

std::uint64_t Graph::nbytes(ValueId value) const noexcept {
  return tensor_bytes(spec(value).dtype, spec(value).shape);
}

Node& Graph::add_op(OpId op, const Attrs& attrs, std::vector<ValueId> in) {
  std::vector<TensorSpec> specs;
  for (const ValueId v : in) specs.push_back(spec(v));
  OutSpecs out;
  InferCtx ctx{op, attrs, specs, out};
  op_def(op).infer(ctx);
  Node node{.kind = NodeKind::kOp, .op = op, .attrs = attrs, .in = std::move(in)};
  for (const TensorSpec& made : out.all()) node.out.push_back(add_value(made));
  nodes.push_back(std::move(node));
  return nodes.back();
}

std::vector<int> Graph::producers() const {
  std::vector<int> made(values.size(), -1);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const ValueId v : nodes[n].out) made[at(v)] = static_cast<int>(n);
  }
  return made;
}

std::vector<std::vector<int>> Graph::readers() const {
  std::vector<std::vector<int>> found(values.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const ValueId v : nodes[n].in) found[at(v)].push_back(static_cast<int>(n));
  }
  return found;
}

std::vector<char> Graph::is_output() const {
  std::vector<char> is(values.size(), 0);
  for (const ValueId v : outputs) {
    if (v != kNoValue) is[at(v)] = 1;
  }
  return is;
}

std::string Graph::validate() const {
  std::vector<char> is_made(values.size(), 0);
  int last_effect = -1;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (is_effect(node) && std::exchange(last_effect, node.slot) >= node.slot)
      return fmt::format("node {} ({}) comes behind one that it has to precede", n,
                         title(*this, node));
    for (const ValueId v : node.in) {
      if (v < 0 || at(v) >= values.size())
        return fmt::format("node {} ({}) reads value {}, which does not exist", n,
                           title(*this, node), v);
      if (!is_made[at(v)])
        return fmt::format("node {} ({}) reads value {} before it is made", n, title(*this, node),
                           v);
    }
    for (const ValueId v : node.out) {
      if (is_made[at(v)])
        return fmt::format("value {} is made twice, again by node {} ({})", v, n,
                           title(*this, node));
      is_made[at(v)] = 1;
    }
    if (node.kind == NodeKind::kAssign && !(spec(node.in[0]) == variables[at(node.slot)].spec))
      return fmt::format("node {} assigns {} to a variable of {}", n, spec_text(spec(node.in[0])),
                         spec_text(variables[at(node.slot)].spec));
    if (node.control) {
      const std::string problem = validate_control(*this, node);
      if (!problem.empty()) return fmt::format("node {}: {}", n, problem);
    }
  }
  for (const ValueId v : outputs) {
    if (v != kNoValue && !is_made[at(v)]) return fmt::format("output value {} is never made", v);
  }
  return "";
}

std::string Graph::to_text() const {
  std::string text;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    text += fmt::format("{:5}  ", n);
    for (std::size_t i = 0; i < node.out.size(); ++i)
      text += fmt::format("{}%{}:{}", i ? ", " : "", node.out[i], spec_text(spec(node.out[i])));
    text += fmt::format("{}{}(", node.out.empty() ? "" : " = ", title(*this, node));
    for (std::size_t i = 0; i < node.in.size(); ++i)
      text += fmt::format("{}%{}", i ? ", " : "", node.in[i]);
    text += ")";
    if (node.kind == NodeKind::kOp) {
      const auto infos = op_info(node.op).attrs;
      for (int i = 0; i < node.attrs.size(); ++i)
        text += fmt::format(" {}={}", infos[static_cast<std::size_t>(i)].name,
                            node.attrs[i].to_string());
    }
    if (node.program) text += program_text(*node.program);
    if (!node.scope.empty()) text += fmt::format("  # {}", node.scope);
    if (node.is_backward) text += " backward";
    if (node.is_recomputed) text += " recomputed";
    text += "\n";
    if (node.control) text += control_text(*node.control, "         | ");
  }
  text += "returns";
  for (const ValueId v : outputs) text += v == kNoValue ? " none" : fmt::format(" %{}", v);
  return text + "\n";
}

std::string Graph::to_dot() const {
  return "digraph plimsoll {\n  node [shape=box, fontname=monospace];\n" + dot_of(*this, "n") +
         "}\n";
}

bool is_effect(const Node& node) noexcept {
  return (node.kind == NodeKind::kOp && op_def(node.op).is_effect) ||
         any_inner(node, [](const Graph&, const Node& inner) { return is_effect(inner); });
}

bool has_side_effects(const Node& node) noexcept {
  if (node.kind == NodeKind::kAssign || node.kind == NodeKind::kInput) return true;
  return is_effect(node) || any_inner(node, [](const Graph&, const Node& inner) {
           return inner.kind != NodeKind::kInput && has_side_effects(inner);
         });
}

bool can_fail(const Graph& g, const Node& node) noexcept {
  if (node.control) {
    return any_inner(node,
                     [](const Graph& body, const Node& inner) { return can_fail(body, inner); });
  }
  if (node.kind != NodeKind::kOp) return false;
  const Fails fails = op_def(node.op).fails;
  return fails == Fails::kAlways ||
         (fails == Fails::kIntegers && !is_floating(g.spec(node.in[0]).dtype));
}

}  // namespace plimsoll::graph
