// Branches and loops: a node that holds its bodies as graphs of their own.
//
// A cond runs one of two bodies. A loop runs its body again and again:
//   next states, rows = body(index, states, elements, captures)
// Elements are rows of stacked inputs, one for each iteration; the rows that the body makes go into
// stacked outputs. A condition, if there is one, is asked before each iteration. Bodies have no
// variables and no random states: those come in as captures or states, and go out as results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace plimsoll::graph {

struct Control {
  enum class Kind : std::uint8_t { kCond, kLoop };

  // What an input of a body is.
  struct Arg {
    enum class Kind : std::uint8_t {
      kIndex,    // int64: the row of this iteration
      kState,    // state `at`
      kElement,  // a row of element `at`
      kCapture,  // in[at] of the node
    };
    Kind kind = Kind::kCapture;
    int at = 0;
  };
  struct Body {
    Graph graph;
    std::vector<Arg> args;  // by input of the graph
  };

  Kind kind = Kind::kCond;
  // Of a cond, whose predicate is in[0] of the node: if true, if false; their outputs are the
  // node's. Of a loop: the body, with the next states and then the rows as outputs, and the
  // condition.
  std::vector<Body> bodies;

  // Of a loop. Numbers are places in `in` and `out` of the node.
  struct State {
    int init = 0;
    int final = -1;  // out; -1: nobody wants it
    int saved = -1;  // out: the stacked next states, for gradients; -1: not kept
  };
  struct Element {
    int stack = 0;
    // Iteration i takes row i + shift, and in[init] where there is no such iteration.
    int shift = 0, init = -1;
  };
  std::vector<State> states;
  std::vector<Element> elements;
  std::vector<int> rows;        // out, by row that the body makes
  std::int64_t max_trips = -1;  // -1: as long as the condition says
  int count_in = -1;            // in: int64, the number of iterations; -1: max_trips
  int count_out = -1;           // out: int64, the number of iterations; -1: nobody wants it
  bool reverse = false;         // rows from the last to the first

  bool has_condition() const noexcept { return bodies.size() > 1; }
};

// The same without the prints and asserts in it.
Control without_effects(const Control& control);
// The spec of `num` rows as one tensor.
TensorSpec stacked(const TensorSpec& row, std::int64_t num);
// "Cond", "While" or "Scan".
std::string_view control_name(const Control& control) noexcept;
// What is wrong with a node's bodies, in words; empty if they are sound.
std::string validate_control(const Graph& graph, const Node& node);
// Its bodies, for people; each line begins with `indent`.
std::string control_text(const Control& control, const std::string& indent);

// Leaves out outputs that nobody needs, and what then no body reads; `is_needed` by value.
void prune_control(Node& node, const std::vector<char>& is_needed);

}  // namespace plimsoll::graph
