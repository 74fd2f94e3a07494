#include "base/check.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/ops.h"
#include "runtime/control_flow.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

// The length along the first axis, which all must share.
std::int64_t num_rows(std::span<const Tensor> elems, const char* name) {
  PLIMSOLL_CHECK(!elems.empty(), InvalidArgumentError, "{}: elems must not be empty", name);
  for (std::size_t i = 0; i < elems.size(); ++i) {
    PLIMSOLL_CHECK(elems[i].is_valid(), InvalidArgumentError, "{}: elems {} is an empty Tensor",
                   name, i);
    PLIMSOLL_CHECK(elems[i].rank() > 0, InvalidArgumentError,
                   "{}: elements in elems must be 1+ dimensional Tensors, not scalars; elems {} is",
                   name, i);
    PLIMSOLL_CHECK(
        elems[i].shape().dim(0) == elems[0].shape().dim(0), InvalidArgumentError,
        "{}: all elems must have the same length along the first axis; elems 0 is {} and "
        "elems {} is {}",
        name, elems[0].shape().to_string(), i, elems[i].shape().to_string());
  }
  return elems[0].shape().dim(0);
}

// Runs a loop over rows now. Returns the rows that the body makes, stacked.
std::vector<Tensor> run_rows(const LoopCall& call) {
  std::vector<Tensor> states = call.states;
  std::vector<std::vector<Tensor>> rows;  // by row that the body makes, then by iteration
  for (std::int64_t i = 0; i < call.max_trips; ++i) {
    const std::int64_t row = call.reverse ? call.max_trips - 1 - i : i;
    std::vector<Tensor> elements;
    for (const LoopCall::Element& e : call.elements)
      elements.push_back(getitem(e.stack, {Index(row)}));
    std::vector<Tensor> made = call.body({{}, states, elements});
    const auto num_states = static_cast<std::ptrdiff_t>(std::min(states.size(), made.size()));
    const std::vector<Tensor> next(made.begin(), made.begin() + num_states);
    check_states(call.name, states, next);
    rows.resize(made.size() - next.size());
    for (std::size_t j = 0; j < rows.size(); ++j) rows[j].push_back(made[next.size() + j]);
    states = next;
  }
  std::vector<Tensor> stacks;
  for (std::vector<Tensor>& list : rows) {
    if (call.reverse) std::reverse(list.begin(), list.end());
    stacks.push_back(stack(list));
  }
  return stacks;
}

// The rows of no iteration: their shapes come from a trace of the body that is then forgotten.
std::vector<Tensor> no_rows(const LoopCall& call) {
  std::vector<TensorSpec> specs;
  {
    Trace trace;
    const TracingScope scope(&trace);
    const HideTapes hide;
    const std::vector<Tensor> made = trace_loop(call);
    for (std::size_t j = call.states.size(); j < made.size(); ++j)
      specs.push_back({made[j].dtype(), made[j].shape()});
  }
  std::vector<Tensor> stacks;
  for (const TensorSpec& spec : specs) stacks.push_back(zeros(spec.shape, spec.dtype));
  return stacks;
}

// Only the rows.
std::vector<Tensor> loop_rows(const LoopCall& call) {
  if (current_trace) {
    const std::vector<Tensor> made = trace_loop(call);
    return {made.begin() + static_cast<std::ptrdiff_t>(call.states.size()), made.end()};
  }
  return call.max_trips > 0 ? run_rows(call) : no_rows(call);
}

// All elements but the first (or, in reverse, the last), which is returned in `first`.
std::vector<Tensor> without_first(const std::vector<Tensor>& elems, bool reverse,
                                  std::vector<Tensor>& first) {
  std::vector<Tensor> rest;
  for (const Tensor& t : elems) {
    first.push_back(getitem(t, {reverse ? -1 : 0}));
    rest.push_back(reverse ? getitem(t, {Index({}, -1)}) : getitem(t, {Index(1, {})}));
  }
  return rest;
}

}  // namespace

std::vector<Tensor> internal::cond(const Tensor& pred, const BranchFn& true_fn,
                                   const BranchFn& false_fn) {
  check_predicate(pred, "cond", "pred");
  if (current_trace) return trace_cond(pred, true_fn, false_fn);
  return pred.item<bool>() ? true_fn() : false_fn();
}

std::vector<Tensor> internal::while_loop(const Function::Body& cond, const Function::Body& body,
                                         const std::vector<Tensor>& loop_vars,
                                         const WhileLoopOptions& options) {
  constexpr const char* kName = "while_loop";
  PLIMSOLL_CHECK(!loop_vars.empty(), InvalidArgumentError,
                 "while_loop: No loop variables provided");
  for (std::size_t i = 0; i < loop_vars.size(); ++i) {
    PLIMSOLL_CHECK(loop_vars[i].is_valid(), InvalidArgumentError,
                   "while_loop: loop variable {} is an empty Tensor", i);
  }
  const std::int64_t most = options.maximum_iterations.value_or(-1);
  PLIMSOLL_CHECK(!options.maximum_iterations || most >= 0, InvalidArgumentError,
                 "while_loop: maximum_iterations must not be negative, got {}", most);
  const auto ask = [&](std::span<const Tensor> states) {
    const std::vector<Tensor> made = cond(states);
    PLIMSOLL_CHECK(made.size() == 1, InvalidArgumentError,
                   "while_loop: cond must return one bool, got {} tensors", made.size());
    check_predicate(made[0], kName, "what cond returns");
    return made[0];
  };
  const auto advance = [&](std::span<const Tensor> states) {
    std::vector<Tensor> next = body(states);
    check_states(kName, states, next);
    return next;
  };
  if (current_trace) {
    LoopCall call{.name = kName, .states = loop_vars, .max_trips = most};
    call.condition = [&](const LoopArgs& args) { return ask(args.states); };
    call.body = [&](const LoopArgs& args) { return advance(args.states); };
    return trace_loop(call);
  }
  std::vector<Tensor> states = loop_vars;
  for (std::int64_t i = 0; (most < 0 || i < most) && ask(states).item<bool>(); ++i)
    states = advance(states);
  return states;
}

std::vector<Tensor> scan(const ScanFn& fn, const std::vector<Tensor>& elems,
                         const std::vector<Tensor>& initializer, const ScanOptions& options) {
  const std::int64_t length = num_rows(elems, "scan");
  if (initializer.empty()) {
    PLIMSOLL_CHECK(length > 0, InvalidArgumentError,
                   "scan of no elements needs an initializer; elems 0 is {}",
                   elems[0].shape().to_string());
    std::vector<Tensor> first;
    const std::vector<Tensor> rest = without_first(elems, options.reverse, first);
    std::vector<Tensor> stacks = scan(fn, rest, first, options);
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const Tensor row = expand_dims(first[i], 0);
      stacks[i] = options.reverse ? concat({stacks[i], row}, 0) : concat({row, stacks[i]}, 0);
    }
    return stacks;
  }
  for (std::size_t i = 0; i < initializer.size(); ++i) {
    PLIMSOLL_CHECK(initializer[i].is_valid(), InvalidArgumentError,
                   "scan: initializer {} is an empty Tensor", i);
  }
  LoopCall call{.name = "scan", .states = initializer, .max_trips = length};
  call.reverse = options.reverse;
  for (const Tensor& t : elems) call.elements.push_back({t});
  call.body = [&](const LoopArgs& args) {
    std::vector<Tensor> next = fn(args.states, args.elements);
    check_states("scan", args.states, next);
    const std::size_t num = next.size();
    next.reserve(2 * num);
    for (std::size_t i = 0; i < num; ++i) next.push_back(next[i]);
    return next;
  };
  return loop_rows(call);
}

Tensor scan(const std::function<Tensor(const Tensor&, const Tensor&)>& fn, const Tensor& elems,
            const Tensor& initializer, const ScanOptions& options) {
  const ScanFn of_lists = [&](std::span<const Tensor> a, std::span<const Tensor> x) {
    return std::vector<Tensor>{fn(a[0], x[0])};
  };
  std::vector<Tensor> init;
  if (initializer.is_valid()) init.push_back(initializer);
  return scan(of_lists, std::vector<Tensor>{elems}, init, options)[0];
}

std::vector<Tensor> map_fn(const Function::Body& fn, const std::vector<Tensor>& elems) {
  LoopCall call{.name = "map_fn", .max_trips = num_rows(elems, "map_fn")};
  for (const Tensor& t : elems) call.elements.push_back({t});
  call.body = [&](const LoopArgs& args) { return fn(args.elements); };
  return loop_rows(call);
}

Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems) {
  const Function::Body of_lists = [&](std::span<const Tensor> x) {
    return std::vector<Tensor>{fn(x[0])};
  };
  return map_fn(of_lists, std::vector<Tensor>{elems})[0];
}

}  // namespace plimsoll
