// Branches and loops in a trace, and their gradients.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/control.h"
#include "ops/op_def.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// Traces both branches into one node. pre: this thread traces.
// throws: InvalidArgumentError if the branches do not agree.
std::vector<Tensor> trace_cond(const Tensor& pred,
                               const std::function<std::vector<Tensor>()>& true_fn,
                               const std::function<std::vector<Tensor>()>& false_fn);

// What a body is given.
struct LoopArgs {
  Tensor index;  // int64: the row of this iteration
  std::span<const Tensor> states, elements;
};

struct LoopCall {
  struct Element {
    Tensor stack;
    int shift = 0;  // as in graph::Control
    Tensor init;
  };

  const char* name = "while_loop";  // for errors
  std::vector<Tensor> states;
  std::vector<Element> elements;
  std::function<std::vector<Tensor>(const LoopArgs&)> body;  // next states, then rows
  std::function<Tensor(const LoopArgs&)> condition;          // may be none
  std::int64_t max_trips = -1;                               // -1: no limit
  Tensor count;                                              // the number of iterations, if given
  bool reverse = false;
};

// The final states, then the rows, stacked. pre: this thread traces.
// throws: InvalidArgumentError if the body does not keep the specs of its states.
std::vector<Tensor> trace_loop(const LoopCall& call);

// Records a node that is made, with what a gradient of it needs if some tape records.
std::vector<Tensor> call_control(graph::Control control, std::span<const Tensor> in,
                                 std::vector<TensorSpec> specs);
// Records the nodes of a body again, with these inputs.
std::vector<Tensor> replay(const graph::Graph& body, std::span<const Tensor> in);

// The gradient of a node: a node of the same kind, whose bodies compute the body again and then
// its gradient.
void control_gradient(GradCtx& g, const graph::Control& control);

// throws: InvalidArgumentError unless it is one bool; `name` is that of the function.
void check_predicate(const Tensor& pred, const char* name, const char* what);
// throws: InvalidArgumentError unless loop variables keep number, shapes and types.
void check_states(const char* name, std::span<const Tensor> before, std::span<const Tensor> after);

}  // namespace plimsoll
