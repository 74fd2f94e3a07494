#include "graph/control.h"

#include <fmt/format.h>

namespace plimsoll::graph {
namespace {

using ArgKind = Control::Arg::Kind;

std::string_view body_name(const Control& c, std::size_t b) noexcept {
  if (c.kind == Control::Kind::kCond) return b == 0 ? "if true" : "if false";
  return b == 0 ? "body" : "condition";
}

std::string arg_text(const Control::Arg& arg) {
  switch (arg.kind) {
    case ArgKind::kIndex:
      return "index";
    case ArgKind::kState:
      return fmt::format("state {}", arg.at);
    case ArgKind::kElement:
      return fmt::format("element {}", arg.at);
    case ArgKind::kCapture:
      return fmt::format("in {}", arg.at);
  }
  return "?";
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string made;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    made += indent + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return made;
}

// Whether an input of a body is as large as what it is given.
bool fits(const Graph& g, const Node& node, const Control::Arg& arg, const TensorSpec& spec) {
  const Control& c = *node.control;
  const auto in = [&](int i) -> const TensorSpec& { return g.spec(node.in[at(i)]); };
  switch (arg.kind) {
    case ArgKind::kIndex:
      return spec == TensorSpec{DType::kInt64, {}};
    case ArgKind::kState:
      return spec == in(c.states[at(arg.at)].init);
    case ArgKind::kElement: {
      const TensorSpec& stack = in(c.elements[at(arg.at)].stack);
      return stack.dtype == spec.dtype && stack.shape.rank() > 0 &&
             stack.shape.num_elements() == stack.shape.dim(0) * spec.shape.num_elements();
    }
    case ArgKind::kCapture:
      return spec == in(arg.at);
  }
  return false;
}

}  // namespace

Control without_effects(const Control& control) {
  Control quiet = control;
  for (Control::Body& body : quiet.bodies) {
    std::erase_if(body.graph.nodes,
                  [](const Node& node) { return is_effect(node) && node.out.empty(); });
    for (Node& node : body.graph.nodes) {
      if (is_effect(node))
        node.control = std::make_shared<const Control>(without_effects(*node.control));
    }
  }
  return quiet;
}

TensorSpec stacked(const TensorSpec& row, std::int64_t num) {
  std::vector<std::int64_t> dims{num};
  dims.insert(dims.end(), row.shape.dims().begin(), row.shape.dims().end());
  return {row.dtype, Shape(dims)};
}

std::string_view control_name(const Control& c) noexcept {
  if (c.kind == Control::Kind::kCond) return "Cond";
  return c.has_condition() ? "While" : "Scan";
}

std::string validate_control(const Graph& g, const Node& node) {
  const Control& c = *node.control;
  for (std::size_t b = 0; b < c.bodies.size(); ++b) {
    const Control::Body& body = c.bodies[b];
    const std::string where = fmt::format("{} of {}", body_name(c, b), control_name(c));
    const std::string problem = body.graph.validate();
    if (!problem.empty()) return fmt::format("{}: {}", where, problem);
    if (body.args.size() != body.graph.inputs.size())
      return fmt::format("{} has {} inputs and {} arguments", where, body.graph.inputs.size(),
                         body.args.size());
    for (std::size_t i = 0; i < body.args.size(); ++i) {
      const TensorSpec& spec = body.graph.spec(body.graph.inputs[i]);
      if (!fits(g, node, body.args[i], spec))
        return fmt::format("input {} of {} does not fit {}", i, where, arg_text(body.args[i]));
    }
    std::size_t num_out = node.out.size();
    if (c.kind == Control::Kind::kLoop) num_out = b == 0 ? c.states.size() + c.rows.size() : 1;
    if (body.graph.outputs.size() != num_out)
      return fmt::format("{} has {} outputs, not {}", where, body.graph.outputs.size(), num_out);
  }
  return "";
}

std::string control_text(const Control& c, const std::string& indent) {
  std::string text;
  if (c.kind == Control::Kind::kLoop) {
    text += indent + (c.max_trips < 0 ? "no limit" : fmt::format("up to {}", c.max_trips)) +
            fmt::format(" iterations{}: {} states, {} elements, {} rows\n",
                        c.reverse ? ", from the last" : "", c.states.size(), c.elements.size(),
                        c.rows.size());
  }
  for (std::size_t b = 0; b < c.bodies.size(); ++b) {
    std::string args;
    for (const Control::Arg& arg : c.bodies[b].args)
      args += (args.empty() ? "" : ", ") + arg_text(arg);
    text += fmt::format("{}{} ({}):\n", indent, body_name(c, b), args);
    text += indented(c.bodies[b].graph.to_text(), indent + "  ");
  }
  return text;
}

}  // namespace plimsoll::graph
