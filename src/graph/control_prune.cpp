// Dead code at the edge of branches and loops: outputs that nobody needs, states that lead to
// none of the others, and inputs that no body reads.
#include <algorithm>

#include "graph/control.h"
#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

using Arg = Control::Arg;

// Which inputs of a body lead to its outputs.
std::vector<char> read_inputs(const Graph& g) {
  const std::vector<char> is_output = g.is_output();
  const auto readers = g.readers();
  std::vector<char> is_read;
  for (const ValueId v : g.inputs) is_read.push_back(is_output[at(v)] || !readers[at(v)].empty());
  return is_read;
}

// Takes out the inputs that are not read.
void drop_inputs(Control::Body& body) {
  const std::vector<char> is_read = read_inputs(body.graph);
  std::vector<int> place(is_read.size(), -1);
  Control::Body old = std::move(body);
  body.graph = std::move(old.graph);
  body.args.clear();
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < is_read.size(); ++i) {
    if (!is_read[i]) continue;
    place[i] = static_cast<int>(inputs.size());
    inputs.push_back(body.graph.inputs[i]);
    body.args.push_back(old.args[i]);
  }
  body.graph.inputs = std::move(inputs);
  std::erase_if(body.graph.nodes, [&](const Node& node) {
    return node.kind == NodeKind::kInput && place[at(node.slot)] < 0;
  });
  for (Node& node : body.graph.nodes) {
    if (node.kind == NodeKind::kInput) node.slot = place[at(node.slot)];
  }
}

void simplify(Control::Body& body) {
  remove_dead_code(body.graph, {});
  drop_inputs(body);
}

// Gives new numbers to those that are kept; -1 to the others.
std::vector<int> renumber(const std::vector<char>& keep) {
  std::vector<int> place(keep.size(), -1);
  int next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) place[i] = next++;
  }
  return place;
}
template <class T>
void keep_only(std::vector<T>& list, const std::vector<char>& keep) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (keep[i]) kept.push_back(std::move(list[i]));
  }
  list = std::move(kept);
}

// The states that are needed, because their final value is or because something needed reads them.
std::vector<char> needed_states(const Control& c, const std::vector<char>& keep_row) {
  std::vector<char> keep(c.states.size(), 0);
  for (std::size_t k = 0; k < keep.size(); ++k) keep[k] = c.states[k].final >= 0;
  const auto add_read = [&](const Control::Body& body) {
    bool has_more = false;
    const std::vector<char> is_read = read_inputs(body.graph);
    for (std::size_t i = 0; i < is_read.size(); ++i) {
      const Arg& arg = body.args[i];
      if (!is_read[i] || arg.kind != Arg::Kind::kState || keep[at(arg.at)]) continue;
      keep[at(arg.at)] = 1;
      has_more = true;
    }
    return has_more;
  };
  if (c.has_condition()) add_read(c.bodies[1]);
  for (bool has_more = true; has_more;) {
    Control::Body body = c.bodies[0];
    std::vector<char> keep_out = keep;
    keep_out.insert(keep_out.end(), keep_row.begin(), keep_row.end());
    keep_only(body.graph.outputs, keep_out);
    remove_dead_code(body.graph, {});
    has_more = add_read(body);
  }
  return keep;
}

void prune_loop(Control& c, const std::vector<char>& keep_out) {
  const auto drop = [&](int& out) {
    if (out >= 0 && !keep_out[at(out)]) out = -1;
  };
  for (Control::State& state : c.states) {
    drop(state.final);
    drop(state.saved);
  }
  drop(c.count_out);
  if (c.has_condition()) simplify(c.bodies[1]);
  std::vector<char> keep_row;
  for (const int out : c.rows) keep_row.push_back(keep_out[at(out)]);
  const std::vector<char> keep_state = needed_states(c, keep_row);
  std::vector<char> keep_result = keep_state;
  keep_result.insert(keep_result.end(), keep_row.begin(), keep_row.end());
  keep_only(c.bodies[0].graph.outputs, keep_result);
  keep_only(c.rows, keep_row);
  keep_only(c.states, keep_state);
  simplify(c.bodies[0]);

  std::vector<char> keep_element(c.elements.size(), 0);
  for (const Arg& arg : c.bodies[0].args) {
    if (arg.kind == Arg::Kind::kElement) keep_element[at(arg.at)] = 1;
  }
  keep_only(c.elements, keep_element);
  const std::vector<int> state_place = renumber(keep_state), element_place = renumber(keep_element);
  for (Control::Body& body : c.bodies) {
    for (Arg& arg : body.args) {
      if (arg.kind == Arg::Kind::kState) arg.at = state_place[at(arg.at)];
      if (arg.kind == Arg::Kind::kElement) arg.at = element_place[at(arg.at)];
    }
  }
}

// Calls f with every place of the node's inputs that a control names.
template <class F>
void for_each_in(Control& c, F f) {
  for (Control::Body& body : c.bodies) {
    for (Arg& arg : body.args) {
      if (arg.kind == Arg::Kind::kCapture) f(arg.at);
    }
  }
  for (Control::State& state : c.states) f(state.init);
  for (Control::Element& element : c.elements) {
    f(element.stack);
    f(element.init);
  }
  f(c.count_in);
}
template <class F>
void for_each_out(Control& c, F f) {
  for (Control::State& state : c.states) {
    f(state.final);
    f(state.saved);
  }
  for (int& out : c.rows) f(out);
  f(c.count_out);
}

}  // namespace

void prune_control(Node& node, const std::vector<char>& is_needed) {
  auto made = std::make_shared<Control>(*node.control);
  Control& c = *made;
  std::vector<char> keep_out, keep_in(node.in.size(), 0);
  for (const ValueId v : node.out) keep_out.push_back(is_needed[at(v)]);
  if (c.kind == Control::Kind::kCond) {
    for (Control::Body& body : c.bodies) {
      keep_only(body.graph.outputs, keep_out);
      simplify(body);
    }
    keep_in[0] = 1;
  } else {
    prune_loop(c, keep_out);
  }
  for_each_in(c, [&](int i) {
    if (i >= 0) keep_in[at(i)] = 1;
  });
  const std::vector<int> in_place = renumber(keep_in), out_place = renumber(keep_out);
  for_each_in(c, [&](int& i) { i = i < 0 ? i : in_place[at(i)]; });
  for_each_out(c, [&](int& i) { i = i < 0 ? i : out_place[at(i)]; });
  keep_only(node.in, keep_in);
  keep_only(node.out, keep_out);
  node.control = std::move(made);
}

}  // namespace plimsoll::graph
