#include "base/check.h"
#include "runtime/control_flow.h"
#include "runtime/dispatch.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "runtime/variable_state.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Control;
using ArgKind = Control::Arg::Kind;

// Random numbers that a loop without limit sets aside, in iterations. A prime: then the first
// iterations of later runs do not meet those of earlier ones.
constexpr std::uint64_t kManyTrips = 16777259;

std::string text_of(const Tensor& t) {
  return fmt::format("{}{}", dtype_name(t.dtype()), t.shape().to_string());
}
TensorSpec spec_of(const Tensor& t) {
  return {t.dtype(), t.shape()};
}

void check_valid(std::span<const Tensor> tensors, const char* name, const char* what) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PLIMSOLL_CHECK(tensors[i].is_valid(), InvalidArgumentError, "{}: {} {} is an empty Tensor",
                   name, what, i);
  }
}

// The place of a tensor among the inputs of a node.
int place_of(const Tensor& tensor, std::vector<Tensor>& in) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i].impl() == tensor.impl()) return static_cast<int>(i);
  }
  in.push_back(tensor);
  return static_cast<int>(in.size()) - 1;
}

// Tapes outside see the variables that a body reads.
void watch_variables(const Trace& body) {
  for (std::size_t v = 0; v < body.variables.size(); ++v) {
    if (body.variables[v]->options.trainable)
      watch_variable_read(body.variables[v], body.taken[at(body.variable_input[v])]);
  }
}

// The graph of a body, with its captures among the inputs of the node.
Control::Body finish_body(Trace& body, std::vector<Control::Arg> args, std::vector<Tensor>& in) {
  args.resize(body.taken.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (body.taken[i].is_valid() && args[i].kind == ArgKind::kCapture)
      args[i].at = place_of(body.taken[i], in);
  }
  watch_variables(body);
  return {std::move(body.graph), std::move(args)};
}

void check_branches(std::span<const Tensor> a, std::span<const Tensor> b) {
  PLIMSOLL_CHECK(a.size() == b.size(), InvalidArgumentError,
                 "cond: true_fn and false_fn must return the same number of tensors, got {} and {}",
                 a.size(), b.size());
  check_valid(a, "cond", "result of true_fn");
  check_valid(b, "cond", "result of false_fn");
  for (std::size_t i = 0; i < a.size(); ++i) {
    PLIMSOLL_CHECK(spec_of(a[i]) == spec_of(b[i]), InvalidArgumentError,
                   "cond: true_fn and false_fn must return tensors of the same shapes and types; "
                   "result {} is {} from true_fn and {} from false_fn",
                   i, text_of(a[i]), text_of(b[i]));
  }
}

// The body and the condition of a loop as they are traced.
class LoopTracer {
 public:
  explicit LoopTracer(const LoopCall& call)
      : call_(call), body_(*current_trace), condition_(*current_trace) {
    control_.kind = Control::Kind::kLoop;
    control_.max_trips = call.max_trips;
    control_.reverse = call.reverse;
  }

  std::vector<Tensor> run() {
    if (call_.condition) trace_condition();
    trace_body();
    carry_variables();
    control_.bodies.push_back(finish_body(body_, args_of(body_, true), in_));
    if (call_.condition)
      control_.bodies.push_back(finish_body(condition_, args_of(condition_, false), in_));
    if (call_.count.is_valid()) control_.count_in = place_of(call_.count, in_);
    for (const LoopCall::Element& e : call_.elements) {
      Control::Element element{.stack = place_of(e.stack, in_), .shift = e.shift};
      if (e.init.is_valid()) element.init = place_of(e.init, in_);
      control_.elements.push_back(element);
    }
    return record();
  }

 private:
  // Inputs that the loop gives, in this order: index, states, elements.
  struct Given {
    std::vector<Tensor> states, elements;
  };
  Given give(Trace& trace, bool has_elements) {
    Given given;
    const auto trips = static_cast<std::uint64_t>(call_.max_trips);
    trace.num_trips = call_.max_trips < 0 ? kManyTrips : trips + !has_elements;
    trace.index = trace.add_input({DType::kInt64, {}});
    for (const Tensor& t : call_.states) given.states.push_back(trace.add_input(spec_of(t)));
    if (!has_elements) return given;
    for (const LoopCall::Element& e : call_.elements) {
      const Shape row(e.stack.shape().dims().subspan(1));
      given.elements.push_back(trace.add_input({e.stack.dtype(), row}));
    }
    return given;
  }

  void trace_condition() {
    const TracingScope scope(&condition_);
    const HideTapes hide;
    const Given given = give(condition_, false);
    const Tensor pred = call_.condition({condition_.index, given.states, {}});
    check_predicate(pred, call_.name, "the condition");
    condition_.set_outputs({&pred, 1});
    for (std::size_t v = 0; v < condition_.variables.size(); ++v) {
      PLIMSOLL_CHECK(!condition_.is_assigned[v], InvalidArgumentError,
                     "{}: the condition assigns variable '{}'. Assign it in the body", call_.name,
                     condition_.variables[v]->options.name);
    }
  }

  void trace_body() {
    const TracingScope scope(&body_);
    const HideTapes hide;
    const Given given = give(body_, true);
    results_ = call_.body({body_.index, given.states, given.elements});
    check_valid(results_, call_.name, "what the body returns: tensor");
    const std::size_t num_states = std::min(call_.states.size(), results_.size());
    check_states(call_.name, call_.states, {results_.data(), num_states});
    for (std::size_t i = num_states; i < results_.size(); ++i)
      rows_.push_back(spec_of(results_[i]));
    // Variables that the body assigns are states, too.
    std::vector<Tensor> next(results_.begin(),
                             results_.begin() + static_cast<std::ptrdiff_t>(num_states));
    for (std::size_t v = 0; v < body_.variables.size(); ++v) {
      if (!body_.is_assigned[v]) continue;
      carried_.push_back(body_.variables[v]);
      next.push_back(body_.read(body_.variables[v]));
    }
    next.insert(next.end(), results_.begin() + static_cast<std::ptrdiff_t>(num_states),
                results_.end());
    body_.set_outputs(next);
  }

  void carry_variables() {
    for (const Tensor& t : call_.states) control_.states.push_back({.init = place_of(t, in_)});
    for (const auto& variable : carried_)
      control_.states.push_back({.init = place_of(current_trace->read(variable), in_)});
  }

  std::vector<Control::Arg> args_of(const Trace& trace, bool has_elements) const {
    std::vector<Control::Arg> args{{ArgKind::kIndex, 0}};
    for (std::size_t k = 0; k < call_.states.size(); ++k)
      args.push_back({ArgKind::kState, static_cast<int>(k)});
    for (std::size_t e = 0; has_elements && e < call_.elements.size(); ++e)
      args.push_back({ArgKind::kElement, static_cast<int>(e)});
    args.resize(trace.taken.size());
    for (std::size_t v = 0; v < trace.variables.size(); ++v) {
      const auto found = std::find(carried_.begin(), carried_.end(), trace.variables[v]);
      if (found == carried_.end()) continue;
      const auto state =
          static_cast<int>(call_.states.size()) + static_cast<int>(found - carried_.begin());
      args[at(trace.variable_input[v])] = {ArgKind::kState, state};
    }
    return args;
  }

  std::vector<Tensor> record() {
    std::vector<TensorSpec> specs;
    for (Control::State& state : control_.states) {
      state.final = static_cast<int>(specs.size());
      specs.push_back(spec_of(in_[at(state.init)]));
    }
    for (const TensorSpec& row : rows_) {
      control_.rows.push_back(static_cast<int>(specs.size()));
      specs.push_back(graph::stacked(row, call_.max_trips));
    }
    std::vector<Tensor> out = call_control(std::move(control_), in_, std::move(specs));
    const std::size_t num_states = call_.states.size();
    for (std::size_t v = 0; v < carried_.size(); ++v)
      current_trace->assign(carried_[v], out[num_states + v]);
    std::vector<Tensor> made(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(num_states));
    const auto rows = out.begin() + static_cast<std::ptrdiff_t>(num_states + carried_.size());
    made.insert(made.end(), rows, rows + static_cast<std::ptrdiff_t>(rows_.size()));
    return made;
  }

  const LoopCall& call_;
  Trace body_, condition_;
  Control control_;
  std::vector<Tensor> in_;       // of the node
  std::vector<Tensor> results_;  // of the body
  std::vector<TensorSpec> rows_;
  std::vector<std::shared_ptr<VariableState>> carried_;  // variables that the body assigns
};

// Has a loop stack its states as they become, and count its iterations, for a gradient.
void add_saves(Control& c, std::vector<TensorSpec>& specs, std::span<const Tensor> in) {
  std::vector<graph::ValueId>& outputs = c.bodies[0].graph.outputs;
  const auto num_states = static_cast<std::ptrdiff_t>(c.states.size());
  for (std::size_t k = 0; k < c.states.size(); ++k) {
    Control::State& state = c.states[k];
    if (state.saved >= 0) continue;
    // What is stacked anyway serves.
    const auto row = std::find(outputs.begin() + num_states, outputs.end(), outputs[k]);
    if (row != outputs.end()) {
      state.saved = c.rows[at(row - outputs.begin() - num_states)];
      continue;
    }
    state.saved = static_cast<int>(specs.size());
    outputs.push_back(outputs[k]);
    c.rows.push_back(state.saved);
    specs.push_back(graph::stacked(spec_of(in[at(state.init)]), c.max_trips));
  }
  if (c.has_condition() && c.count_out < 0) {
    c.count_out = static_cast<int>(specs.size());
    specs.push_back({DType::kInt64, {}});
  }
}

}  // namespace

void check_predicate(const Tensor& pred, const char* name, const char* what) {
  PLIMSOLL_CHECK(pred.is_valid(), InvalidArgumentError, "{}: {} is an empty Tensor", name, what);
  PLIMSOLL_CHECK(pred.dtype() == DType::kBool && pred.num_elements() == 1, InvalidArgumentError,
                 "{}: {} must be one bool, got {}", name, what, text_of(pred));
}

void check_states(const char* name, std::span<const Tensor> before, std::span<const Tensor> after) {
  PLIMSOLL_CHECK(before.size() == after.size(), InvalidArgumentError,
                 "{}: the body must return as many tensors as there are loop variables: {}, got {}",
                 name, before.size(), after.size());
  check_valid(after, name, "what the body returns: tensor");
  for (std::size_t i = 0; i < before.size(); ++i) {
    PLIMSOLL_CHECK(spec_of(before[i]) == spec_of(after[i]), InvalidArgumentError,
                   "{}: loop variable {} enters the loop as {} and is {} after one iteration. It "
                   "must keep its shape and type",
                   name, i, text_of(before[i]), text_of(after[i]));
  }
}

std::vector<Tensor> trace_cond(const Tensor& pred,
                               const std::function<std::vector<Tensor>()>& true_fn,
                               const std::function<std::vector<Tensor>()>& false_fn) {
  Trace if_true(*current_trace), if_false(*current_trace);
  const auto trace = [](Trace& body, const std::function<std::vector<Tensor>()>& fn) {
    const TracingScope scope(&body);
    const HideTapes hide;
    return fn();
  };
  std::vector<Tensor> of_true = trace(if_true, true_fn), of_false = trace(if_false, false_fn);
  check_branches(of_true, of_false);
  const std::size_t num_results = of_true.size();

  // A variable that a branch assigns is a result of both.
  std::vector<std::shared_ptr<VariableState>> assigned;
  for (const Trace* body : {&if_true, &if_false}) {
    for (std::size_t v = 0; v < body->variables.size(); ++v) {
      const auto& variable = body->variables[v];
      if (body->is_assigned[v] &&
          std::find(assigned.begin(), assigned.end(), variable) == assigned.end())
        assigned.push_back(variable);
    }
  }
  for (const auto& variable : assigned) {
    of_true.push_back(if_true.read(variable));
    of_false.push_back(if_false.read(variable));
  }
  if_true.set_outputs(of_true);
  if_false.set_outputs(of_false);

  Control control{.kind = Control::Kind::kCond};
  std::vector<Tensor> in{pred};
  control.bodies.push_back(finish_body(if_true, {}, in));
  control.bodies.push_back(finish_body(if_false, {}, in));
  std::vector<TensorSpec> specs;
  for (const Tensor& t : of_true) specs.push_back(spec_of(t));
  std::vector<Tensor> out = call_control(std::move(control), in, std::move(specs));
  for (std::size_t v = 0; v < assigned.size(); ++v)
    current_trace->assign(assigned[v], out[num_results + v]);
  out.resize(num_results);
  return out;
}

std::vector<Tensor> trace_loop(const LoopCall& call) {
  return LoopTracer(call).run();
}

std::vector<Tensor> call_control(Control control, std::span<const Tensor> in,
                                 std::vector<TensorSpec> specs) {
  PLIMSOLL_CHECK(current_trace, UnimplementedError,
                 "several tapes around the gradient of a function that has a loop or a branch are "
                 "not built: put the tapes inside of the function");
  if (is_recording() && control.kind == Control::Kind::kLoop && control.max_trips >= 0)
    add_saves(control, specs, in);
  const auto made = std::make_shared<const Control>(std::move(control));
  std::vector<Tensor> out(specs.size());
  current_trace->record(made, in, specs, out);
  if (is_recording()) record_call(made, in, out);
  return out;
}

std::vector<Tensor> replay(const graph::Graph& body, std::span<const Tensor> in) {
  PLIMSOLL_CHECK(!body.has_own_gradients || !recording_tapes().count, UnimplementedError,
                 "custom_gradient inside of a branch or loop that is differentiated, and a second "
                 "derivative through a function with one, are not built");
  std::string& scope = current_name_scope();
  const std::string outer_scope = scope;
  std::vector<Tensor> values(body.values.size());
  for (const graph::Node& node : body.nodes) {
    if (node.out.empty()) continue;  // prints and asserts happen once, in the forward part
    std::vector<Tensor> node_in, out;
    for (const graph::ValueId v : node.in) node_in.push_back(values[at(v)]);
    scope = node.scope;
    if (node.kind == graph::NodeKind::kInput) {
      out = {in[at(node.slot)]};
    } else if (node.kind == graph::NodeKind::kConstant) {
      out = {body.constants[at(node.slot)]};
    } else if (node.kind == graph::NodeKind::kControl) {
      std::vector<TensorSpec> specs;
      for (const graph::ValueId v : node.out) specs.push_back(body.spec(v));
      out = call_control(graph::without_effects(*node.control), node_in, std::move(specs));
    } else {
      out = call_all(node.op, node_in, node.attrs);
    }
    for (std::size_t i = 0; i < node.out.size(); ++i) values[at(node.out[i])] = out[i];
  }
  scope = outer_scope;
  std::vector<Tensor> results;
  for (const graph::ValueId v : body.outputs) results.push_back(values[at(v)]);
  return results;
}

}  // namespace plimsoll
