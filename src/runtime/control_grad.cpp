// Gradients of branches and loops. A body's forward part is recorded again inside of the gradient's
// body, under a tape; passes then leave out what the gradient does not read.
#include "base/check.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "runtime/control_flow.h"
#include "runtime/trace.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Control;
using ArgKind = Control::Arg::Kind;

bool is_wanted(GradCtx& g, int in) {
  return g.needs(in) && is_floating(g.in_spec(in).dtype);
}

// The inputs of the node that a body captures and whose gradient somebody wants.
void add_wanted_captures(GradCtx& g, const Control::Body& body, std::vector<int>& found) {
  for (const Control::Arg& arg : body.args) {
    if (arg.kind == ArgKind::kCapture && is_wanted(g, arg.at) &&
        std::find(found.begin(), found.end(), arg.at) == found.end())
      found.push_back(arg.at);
  }
}

void cond_gradient(GradCtx& g, const Control& c) {
  std::vector<int> wanted;
  for (const Control::Body& body : c.bodies) add_wanted_captures(g, body, wanted);
  std::vector<int> flowing;  // outputs that a gradient comes from
  std::vector<Tensor> douts;
  for (int o = 0; o < g.num_out(); ++o) {
    if (!g.has_dout(o) || !is_floating(g.out_spec(o).dtype)) continue;
    flowing.push_back(o);
    douts.push_back(g.dout(o));
  }
  const auto branch = [&](const Control::Body& body) {
    GradientTape tape;
    std::vector<Tensor> in, sources, targets;
    for (const int i : wanted) {
      sources.push_back(g.in(i));
      tape.watch(sources.back());
    }
    for (const Control::Arg& arg : body.args) in.push_back(g.in(arg.at));
    const std::vector<Tensor> out = replay(body.graph, in);
    for (const int o : flowing) targets.push_back(out[at(o)]);
    return tape.gradient(targets, sources, douts, UnconnectedGradients::kZero);
  };
  const std::vector<Tensor> dins = trace_cond(
      g.in(0), [&] { return branch(c.bodies[0]); }, [&] { return branch(c.bodies[1]); });
  for (std::size_t i = 0; i < wanted.size(); ++i) g.set_din(wanted[i], dins[i]);
}

// The gradient of a loop: a loop the other way, over the states as they were.
class LoopGradient {
 public:
  LoopGradient(GradCtx& g, const Control& c) : g_(g), c_(c), body_(c.bodies[0]) {}

  void run() {
    PLIMSOLL_CHECK(c_.max_trips >= 0, InvalidArgumentError,
                   "a while_loop is differentiated in a function: it needs maximum_iterations, so "
                   "that the memory for its saved states is known");
    LoopCall call{.name = "the gradient of a loop",
                  .max_trips = c_.max_trips,
                  .count = count(),
                  .reverse = !c_.reverse};
    add_elements(call);
    add_states(call);
    call.body = [this](const LoopArgs& args) { return body(args); };
    set_gradients(trace_loop(call));
  }

 private:
  Tensor count() {
    if (c_.count_out >= 0) return g_.out(c_.count_out);
    return c_.count_in >= 0 ? g_.in(c_.count_in) : Tensor();
  }
  TensorSpec state_spec(std::size_t k) const { return g_.in_spec(c_.states[k].init); }

  // The states before each iteration, the elements, the states after it, and the gradients of the
  // rows.
  void add_elements(LoopCall& call) {
    for (const Control::State& state : c_.states) {
      PLIMSOLL_CHECK(state.saved >= 0, InternalError, "a loop did not keep its states");
      call.elements.push_back({g_.out(state.saved), c_.reverse ? 1 : -1, g_.in(state.init)});
    }
    for (std::size_t e = 0; e < c_.elements.size(); ++e) {
      const Control::Element& element = c_.elements[e];
      call.elements.push_back(
          {g_.in(element.stack), element.shift, element.init < 0 ? Tensor() : g_.in(element.init)});
      const bool is_floating_point = is_floating(g_.in_spec(element.stack).dtype);
      if (is_floating_point &&
          (g_.needs(element.stack) || (element.init >= 0 && g_.needs(element.init))))
        wanted_elements_.push_back(e);
    }
    for (const Control::State& state : c_.states) call.elements.push_back({g_.out(state.saved)});
    for (std::size_t j = 0; j < c_.rows.size(); ++j) {
      if (!g_.has_dout(c_.rows[j]) || !is_floating(g_.out_spec(c_.rows[j]).dtype)) continue;
      flowing_rows_.push_back(j);
      call.elements.push_back({g_.dout(c_.rows[j])});
    }
  }

  // The gradients of the states and, summed up, those of the captures.
  void add_states(LoopCall& call) {
    for (std::size_t k = 0; k < c_.states.size(); ++k) {
      const TensorSpec spec = state_spec(k);
      if (!is_floating(spec.dtype)) continue;
      floating_states_.push_back(k);
      const int out = c_.states[k].final;
      call.states.push_back(out >= 0 && g_.has_dout(out) ? g_.dout(out)
                                                         : zeros(spec.shape, spec.dtype));
    }
    add_wanted_captures(g_, body_, wanted_captures_);
    for (const int i : wanted_captures_)
      call.states.push_back(zeros(g_.in_spec(i).shape, g_.in_spec(i).dtype));
  }

  // One iteration: next gradients of states, next sums, then rows for the elements.
  std::vector<Tensor> body(const LoopArgs& args) {
    const auto states = args.elements.first(c_.states.size());
    const auto elements = args.elements.subspan(c_.states.size(), c_.elements.size());
    const auto next = args.elements.subspan(states.size() + elements.size(), c_.states.size());
    const auto drows = args.elements.subspan(states.size() + elements.size() + next.size());
    GradientTape tape;
    std::vector<Tensor> sources, targets, douts, in;
    for (const std::size_t k : floating_states_) sources.push_back(states[k]);
    for (const int i : wanted_captures_) sources.push_back(g_.in(i));
    for (const std::size_t e : wanted_elements_) sources.push_back(elements[e]);
    for (const Tensor& t : sources) tape.watch(t);
    for (const Control::Arg& arg : body_.args) {
      in.push_back(arg.kind == ArgKind::kIndex     ? args.index
                   : arg.kind == ArgKind::kState   ? states[at(arg.at)]
                   : arg.kind == ArgKind::kElement ? elements[at(arg.at)]
                                                   : g_.in(arg.at));
    }
    const std::vector<Tensor> out = replay(body_.graph, in);
    // The gradient reads what was saved rather than what is computed again.
    for (std::size_t k = 0; k < next.size(); ++k) current_trace->replace(out[k], next[k]);
    for (std::size_t i = 0; i < floating_states_.size(); ++i) {
      targets.push_back(out[floating_states_[i]]);
      douts.push_back(args.states[i]);
    }
    for (std::size_t i = 0; i < flowing_rows_.size(); ++i) {
      targets.push_back(out[c_.states.size() + flowing_rows_[i]]);
      douts.push_back(drows[i]);
    }
    std::vector<Tensor> made = tape.gradient(targets, sources, douts, UnconnectedGradients::kZero);
    for (std::size_t i = 0; i < wanted_captures_.size(); ++i) {
      Tensor& sum = made[floating_states_.size() + i];
      sum = args.states[floating_states_.size() + i] + sum;
    }
    return made;
  }

  void set_gradients(const std::vector<Tensor>& made) {
    std::size_t next = 0;
    for (const std::size_t k : floating_states_) give(c_.states[k].init, made[next++]);
    for (const int i : wanted_captures_) give(i, made[next++]);
    for (const std::size_t e : wanted_elements_) {
      const Control::Element& element = c_.elements[e];
      const Tensor& rows = made[next++];
      if (element.shift == 0) {
        give(element.stack, rows);
      } else if (rows.shape().dim(0) > 0) {
        give(element.stack, shifted(rows, element.shift));
        give(element.init, first_taken(rows, element.shift));
      }
    }
  }
  void give(int in, const Tensor& gradient) {
    if (is_wanted(g_, in)) g_.set_din(in, gradient);
  }

  // Row i + shift of the result is row i; what is left is zero.
  static Tensor shifted(const Tensor& rows, int shift) {
    const auto rank = static_cast<std::size_t>(rows.rank());
    std::vector<std::int64_t> begin(rank, 0), size(rank, -1);
    Paddings paddings(rank, {0, 0});
    begin[0] = shift < 0 ? 1 : 0;
    size[0] = rows.shape().dim(0) - 1;
    (shift < 0 ? paddings[0].second : paddings[0].first) = 1;
    return pad(slice(rows, begin, size), paddings);
  }
  // The row of the iteration that took the initial value.
  Tensor first_taken(const Tensor& rows, int shift) {
    if (shift < 0) return getitem(rows, {0});
    const Tensor num = count();
    if (!num.is_valid()) return getitem(rows, {-1});
    const Tensor one = fill({}, 1, DType::kInt64), none = fill({}, 0, DType::kInt64);
    return gather(rows, maximum(num - one, none));
  }

  GradCtx& g_;
  const Control& c_;
  const Control::Body& body_;
  std::vector<std::size_t> floating_states_, wanted_elements_, flowing_rows_;
  std::vector<int> wanted_captures_;  // inputs of the node
};

}  // namespace

void control_gradient(GradCtx& g, const Control& control) {
  if (control.kind == Control::Kind::kCond) {
    cond_gradient(g, control);
  } else {
    LoopGradient(g, control).run();
  }
}

}  // namespace plimsoll
