// Running branches and loops: addresses are set, kernels run, nothing is allocated.
#include "runtime/control_step.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Control;
using memory::Address;

}  // namespace

// One run of a control step.
class ControlRun {
 public:
  ControlRun(Executable& executable, const CompiledGraph& graph, const Step& step, Frame& frame,
             Address scratch)
      : executable_(executable),
        device_(*graph.device),
        node_(graph.graph.nodes[at(step.node)]),
        c_(*node_.control),
        made_(*step.control),
        in_(frame.spans.data() + step.first_operand),
        out_(in_ + node_.in.size()),
        bodies_(frame.bodies.data() + step.first_body),
        scratch_(scratch) {
    for (std::size_t b = 0; b < made_.bodies.size(); ++b) {
      bodies_[b].outer = &frame;
      bodies_[b].host = frame.host;
    }
  }

  void run() { c_.kind == Control::Kind::kCond ? run_cond() : run_loop(); }

 private:
  void run_cond() {
    const std::size_t b = is_true(in_[0].buffer) ? 0 : 1;
    Frame& frame = bodies_[b];
    // The outputs of the first branch's blocks come first.
    const std::size_t first = b ? bodies_[0].blocks.size() : 0;
    for (std::size_t i = 0; i < frame.inputs.size(); ++i)
      frame.inputs[i] = in_[at(c_.bodies[b].args[i].at)].buffer;
    for (std::size_t i = 0; i < frame.blocks.size(); ++i)
      frame.blocks[i] = out_[at(made_.block_output[first + i])].buffer;
    run_body(b);
    for (std::size_t o = 0; o < node_.out.size(); ++o)
      copy(out_[o].buffer, result(b, o), out_[o].nbytes);
  }

  void run_loop() {
    for (std::size_t k = 0; k < c_.states.size(); ++k) start_state(k);
    num_ = c_.max_trips;
    if (c_.count_in >= 0) device_.read(&num_, in_[at(c_.count_in)].buffer, sizeof num_);
    std::int64_t done = 0;
    for (; num_ < 0 || done < num_; ++done) {
      row_ = c_.reverse ? num_ - 1 - done : done;
      if (made_.index_at >= 0) device_.write(scratch_ + at(made_.index_at), &row_, sizeof row_);
      if (c_.has_condition() && !holds(done)) break;
      run_iteration(done);
    }
    finish(done);
  }

  // A state begins where its initial value is, unless it will be written over.
  void start_state(std::size_t k) {
    const DeviceSpan& init = in_[at(c_.states[k].init)];
    bodies_[0].states[k] = init.buffer;
    if (made_.state_at[k][1] != CompiledControl::kSame) return;
    bodies_[0].states[k] = first_buffer(k);
    copy(first_buffer(k), init.buffer, init.nbytes);
  }

  bool holds(std::int64_t done) {
    set_inputs(1);
    bodies_[1].iteration = done;
    for (Address& block : bodies_[1].blocks) block = scratch_ + made_.predicate_at;
    run_body(1);
    return is_true(result(1, 0));
  }

  void run_iteration(std::int64_t done) {
    Frame& body = bodies_[0];
    const std::size_t num_states = c_.states.size();
    set_inputs(0);
    body.iteration = done;
    for (std::size_t i = 0; i < body.blocks.size(); ++i) {
      const std::size_t output = at(made_.block_output[i]);
      body.blocks[i] = output < num_states ? next_state(output) : row_target(output - num_states);
    }
    run_body(0);
    for (std::size_t j = 0; j < c_.rows.size(); ++j)
      copy(row_of_output(j), result(0, num_states + j), row_bytes(out_[at(c_.rows[j])]));
    for (std::size_t k = 0; k < num_states; ++k) {
      const Address made = result(0, k), old = body.states[k];
      if (made == old || made_.state_at[k][1] == CompiledControl::kNone) continue;
      copy(next_state(k), made, in_[at(c_.states[k].init)].nbytes);
    }
    // Only now: until here one state may be made of another as it was.
    for (std::size_t k = 0; k < num_states; ++k) {
      const Address made = result(0, k);
      if (made == body.states[k]) continue;
      body.states[k] = made_.state_at[k][1] == CompiledControl::kNone ? made : next_state(k);
    }
  }

  // What the outputs of the node are in the end.
  void finish(std::int64_t done) {
    for (std::size_t k = 0; k < c_.states.size(); ++k) {
      const int out = c_.states[k].final;
      if (out >= 0) copy(out_[at(out)].buffer, bodies_[0].states[k], out_[at(out)].nbytes);
    }
    if (c_.count_out >= 0) device_.write(out_[at(c_.count_out)].buffer, &done, sizeof done);
    // Rows of iterations that were not: zero, so that every run gives the same bytes.
    static constexpr char kZeros[4096] = {};
    for (const int out : c_.rows) {
      const DeviceSpan& stack = out_[at(out)];
      std::uint64_t from = row_bytes(stack) * static_cast<std::uint64_t>(done);
      for (; from < stack.nbytes; from += sizeof kZeros)
        device_.write(stack.buffer + from, kZeros,
                      std::min<std::uint64_t>(sizeof kZeros, stack.nbytes - from));
    }
  }

  void set_inputs(std::size_t b) {
    using Kind = Control::Arg::Kind;
    for (std::size_t i = 0; i < bodies_[b].inputs.size(); ++i) {
      const Control::Arg& arg = c_.bodies[b].args[i];
      bodies_[b].inputs[i] = arg.kind == Kind::kIndex     ? scratch_ + at(made_.index_at)
                             : arg.kind == Kind::kState   ? bodies_[0].states[at(arg.at)]
                             : arg.kind == Kind::kElement ? element(at(arg.at))
                                                          : in_[at(arg.at)].buffer;
    }
  }
  void run_body(std::size_t b) {
    bind_frame(bodies_[b], made_.bodies[b], scratch_ + made_.arena_at);
    executable_.run_steps(made_.bodies[b], bodies_[b], scratch_ + made_.arena_at);
  }
  // Where an output of a body is.
  Address result(std::size_t b, std::size_t o) const {
    const CompiledGraph& body = made_.bodies[b];
    return bodies_[b].bases[at(body.storage.of_value[at(body.graph.outputs[o])])];
  }

  std::uint64_t row_bytes(const DeviceSpan& stack) const {
    return c_.max_trips ? stack.nbytes / static_cast<std::uint64_t>(c_.max_trips) : 0;
  }
  // The row of an element for this iteration, at an aligned address.
  Address element(std::size_t e) const {
    const Control::Element& element = c_.elements[e];
    const std::int64_t row = row_ + element.shift;
    if (row < 0 || row >= num_) return in_[at(element.init)].buffer;
    const DeviceSpan& stack = in_[at(element.stack)];
    const std::uint64_t nbytes = row_bytes(stack);
    const Address from = stack.buffer + nbytes * static_cast<std::uint64_t>(row);
    if (made_.element_at[e] < 0) return from;
    const Address to = scratch_ + at(made_.element_at[e]);
    copy(to, from, nbytes);
    return to;
  }
  Address row_of_output(std::size_t j) const {
    const DeviceSpan& stack = out_[at(c_.rows[j])];
    return stack.buffer + row_bytes(stack) * static_cast<std::uint64_t>(row_);
  }
  Address row_target(std::size_t j) const {
    return made_.row_at[j] < 0 ? row_of_output(j) : scratch_ + at(made_.row_at[j]);
  }
  Address first_buffer(std::size_t k) const {
    const std::int64_t place = made_.state_at[k][0];
    return place == CompiledControl::kFinal ? out_[at(c_.states[k].final)].buffer
                                            : scratch_ + at(place);
  }
  // Where the next value of a state goes: the buffer that its present value is not in.
  Address next_state(std::size_t k) const {
    const Address first = first_buffer(k);
    const std::int64_t second = made_.state_at[k][1];
    if (second == CompiledControl::kSame || bodies_[0].states[k] != first) return first;
    return scratch_ + at(second);
  }

  bool is_true(Address predicate) const {
    std::uint8_t byte = 0;
    device_.read(&byte, predicate, 1);
    return byte != 0;
  }
  void copy(Address to, Address from, std::uint64_t nbytes) const {
    if (to != from) device_.move(to, from, nbytes);
  }

  Executable& executable_;
  const Device& device_;
  const graph::Node& node_;
  const Control& c_;
  const CompiledControl& made_;
  const DeviceSpan* in_;
  const DeviceSpan* out_;
  Frame* bodies_;
  const Address scratch_;
  std::int64_t num_ = 0, row_ = 0;
};

void Executable::run_control(const CompiledGraph& graph, const Step& step, Frame& frame,
                             Address scratch) {
  ControlRun(*this, graph, step, frame, scratch).run();
}

}  // namespace plimsoll
