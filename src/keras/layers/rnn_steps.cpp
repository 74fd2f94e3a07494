// A recurrent layer step by step: one call of the cell after the other, or in a function a loop.
#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"
#include "runtime/control_flow.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

// [batch] as [batch, 1, ...], to choose among tensors of this rank.
Tensor as_rank(const Tensor& mask, int rank) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 1);
  dims[0] = mask.shape()[0];
  return reshape(mask, dims);
}

// The first two dimensions change places.
Tensor swap_batch_and_time(const Tensor& x) {
  std::vector<std::int64_t> order{1, 0};
  for (int i = 2; i < x.rank(); ++i) order.push_back(i);
  return transpose(x, order);
}

// Ends what the cell began, also when a step throws.
class Sequence {
 public:
  Sequence(RnnCell& cell, const Shape& step, std::span<const Tensor> states, bool training)
      : cell_(cell) {
    cell.begin_sequence(step, states, training);
  }
  ~Sequence() { cell_.end_sequence(); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

 private:
  RnnCell& cell_;
};

}  // namespace

// A step, where the mask is true. `before`: the output of the step before; empty: zeros.
RnnStep RnnLayer::masked_step(const Tensor& x, std::span<const Tensor> states, const Tensor& before,
                              const Tensor& mask, const CallArgs& args) const {
  RnnStep step = take_step(*cell_, x, states, args);
  if (!mask.is_valid()) return step;
  const bool repeats = before.is_valid() && !flags_.zero_output_for_mask;
  step.output = where(as_rank(mask, step.output.rank()), step.output,
                      repeats ? before : zeros({}, step.output.dtype()));
  for (std::size_t i = 0; i < states.size(); ++i)
    step.states[i] = where(as_rank(mask, states[i].rank()), step.states[i], states[i]);
  return step;
}

RnnLayer::Run RnnLayer::run_steps(const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                                  const CallArgs& args) {
  const std::int64_t batch = x.shape()[0];
  if (states.empty()) states = cell_->get_initial_state(batch);
  std::vector<std::int64_t> step{batch};
  for (int i = 2; i < x.rank(); ++i) step.push_back(x.shape()[i]);
  const Sequence sequence(*cell_, Shape(std::span(step)), states, args.is_training());
  return current_trace && !flags_.unroll ? loop_steps(x, std::move(states), mask, args)
                                         : unroll_steps(x, std::move(states), mask, args);
}

RnnLayer::Run RnnLayer::unroll_steps(const Tensor& x, std::vector<Tensor> states,
                                     const Tensor& mask, const CallArgs& args) {
  const std::int64_t time = x.shape()[1];
  std::vector<Tensor> outputs;
  Tensor last;
  for (std::int64_t i = 0; i < time; ++i) {
    const Index at = flags_.go_backwards ? time - 1 - i : i;
    RnnStep step = masked_step(getitem(x, {Index(), at}), states, last,
                               mask.is_valid() ? getitem(mask, {Index(), at}) : Tensor(), args);
    states = std::move(step.states);
    last = step.output;
    if (flags_.return_sequences) outputs.push_back(last);
  }
  return {.outputs = flags_.return_sequences ? stack(outputs, 1) : Tensor(),
          .last = last,
          .states = std::move(states)};
}

// The output is among the loop's states where the next step or the result asks for it.
RnnLayer::Run RnnLayer::loop_steps(const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                                   const CallArgs& args) {
  const bool repeats = mask.is_valid() && !flags_.zero_output_for_mask;
  const bool keeps_output = repeats || !flags_.return_sequences;
  const std::size_t num_states = states.size();
  LoopCall call{.name = "RNN", .states = std::move(states), .max_trips = x.shape()[1]};
  call.reverse = flags_.go_backwards;
  call.elements.push_back({swap_batch_and_time(x)});
  if (mask.is_valid()) call.elements.push_back({transpose(mask, {1, 0})});
  if (keeps_output)
    call.states.push_back(zeros(cell_->output_shape(x.shape()[0]), cell_->compute_dtype()));
  call.body = [&](const LoopArgs& loop) {
    RnnStep step = masked_step(loop.elements[0], loop.states.first(num_states),
                               repeats ? loop.states[num_states] : Tensor(),
                               mask.is_valid() ? loop.elements[1] : Tensor(), args);
    if (keeps_output) step.states.push_back(step.output);
    if (flags_.return_sequences) step.states.push_back(step.output);
    return step.states;
  };
  std::vector<Tensor> made = trace_loop(call);
  Run run;
  if (flags_.return_sequences) {
    const Tensor rows = flags_.go_backwards ? reverse(made.back(), {0}) : made.back();
    run.outputs = swap_batch_and_time(rows);
  }
  if (keeps_output) run.last = made[num_states];
  made.resize(num_states);
  run.states = std::move(made);
  return run;
}

}  // namespace plimsoll::keras
