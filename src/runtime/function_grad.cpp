#include "runtime/function_grad.h"

#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/compile.h"
#include "runtime/control_flow.h"
#include "runtime/variable_state.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

// A tape of this thread while it lives.
class TapeScope {
 public:
  explicit TapeScope(TapeState& tape) : tape_(tape) { push_tape(&tape); }
  ~TapeScope() { remove_tape(&tape_); }
  TapeScope(const TapeScope&) = delete;
  TapeScope& operator=(const TapeScope&) = delete;

 private:
  TapeState& tape_;
};

}  // namespace

RecordedFunction::RecordedFunction(const Function::Body& body, std::span<const TensorSpec> inputs,
                                   std::vector<char> needs, const FunctionOptions& options,
                                   const Function& shares_arenas_with)
    : needs_(std::move(needs)) {
  Trace forward;
  TapeState tape({.persistent = true});
  std::vector<Tensor> in, results;
  {
    const TracingScope tracing(&forward);
    const HideTapes hide;
    const TapeScope watching(tape);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(forward.add_input(inputs[i]));
      if (needs_[i]) tape.tracked.insert(in.back().impl()->id);
    }
    results = body(in);
  }
  num_results_ = results.size();
  {
    const TracingScope tracing(&forward);
    const HideTapes hide;
    trace_gradient(forward, tape, in, std::move(results), options.name, shares_arenas_with);
  }
  forward_ = std::make_shared<Executable>(
      compile(std::move(forward), device_for(forward, options.name), options.name));
}

// pre: this thread records `forward`.
void RecordedFunction::trace_gradient(Trace& forward, TapeState& tape, std::span<const Tensor> in,
                                      std::vector<Tensor> results, const std::string& name,
                                      const Function& shares_arenas_with) {
  std::vector<std::vector<std::uint64_t>> sources;
  for (const Tensor& t : in) sources.push_back({t.impl()->id});
  for (const auto& [state, watched] : tape.variables) {
    variables_.push_back(watched.variable);
    sources.push_back(watched.ids);
  }
  Trace backward(forward);
  {
    const TracingScope tracing(&backward);
    Gradients gradients;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Tensor& t = results[i];
      if (!t.is_valid() || !is_floating(t.dtype()) || !tape.tracked.count(t.impl()->id)) continue;
      flowing_.push_back(i);
      const Tensor upstream = backward.add_input({t.dtype(), t.shape()});
      auto [it, is_new] = gradients.try_emplace(t.impl()->id, upstream);
      if (!is_new) it->second = it->second + upstream;
    }
    std::vector<Tensor> made;
    for (const Tensor& t : backpropagate(tape, std::move(gradients), sources, false)) {
      has_gradient_.push_back(t.is_valid());
      if (t.is_valid()) made.push_back(t);
    }
    backward.set_outputs(made);
  }
  PLIMSOLL_CHECK(std::ranges::find(backward.is_assigned, 1) == backward.is_assigned.end(),
                 UnimplementedError, "the gradient of '{}' assigns a variable", name);
  // Upstream gradients come first, then what it took.
  for (std::size_t i = flowing_.size(); i < backward.taken.size(); ++i) {
    saved_.push_back(forward.variable_of(backward.taken[i]));
    if (!saved_.back()) results.push_back(backward.taken[i]);
  }
  forward.set_outputs(results);
  if (flowing_.empty()) return;
  backward_ = std::make_unique<Function>(
      [graph = std::make_shared<const graph::Graph>(std::move(backward.graph))](
          std::span<const Tensor> given) { return replay(*graph, given); },
      FunctionOptions{.name = "gradient of " + name, .shares_arenas_with = &shares_arenas_with});
}

std::vector<Tensor> RecordedFunction::gradient(std::span<const Tensor> saved,
                                               std::span<const Tensor> upstream,
                                               std::size_t num_inputs) const {
  std::vector<Tensor> given(upstream.begin(), upstream.end());
  given.insert(given.end(), saved.begin(), saved.end());
  const std::vector<Tensor> made = (*backward_)(std::span<const Tensor>(given));
  std::vector<Tensor> all(num_inputs);
  std::size_t next = 0;
  for (std::size_t i = 0; i < has_gradient_.size(); ++i) {
    if (has_gradient_[i]) all[i] = made[next++];
  }
  return all;
}

std::vector<Tensor> RecordedFunction::run(const std::shared_ptr<RecordedFunction>& self,
                                          std::span<const Tensor> inputs, ArenaPool& arenas) {
  std::vector<Tensor> record_in(inputs.begin(), inputs.end()), saved;
  for (const auto& variable : self->variables_) {  // as they are before the run
    watch_variable_read(variable, variable->value);
    record_in.push_back(variable->value);
  }
  for (const auto& variable : self->saved_) saved.push_back(variable ? variable->value : Tensor());
  std::vector<Tensor> made(self->forward_->compiled().graph.outputs.size());
  self->forward_->run(inputs, made, arenas);
  std::size_t next = self->num_results_;
  for (Tensor& t : saved) {
    if (!t.is_valid()) t = std::move(made[next++]);
  }
  made.resize(self->num_results_);
  if (!self->backward_) return made;
  std::vector<Tensor> flowing;
  for (const std::size_t i : self->flowing_) {
    // A tensor of its own: a result may be an input, or the same as another.
    made[i] = make_tensor(made[i].dtype(), made[i].shape(), made[i].impl()->buffer,
                          made[i].impl()->offset);
    flowing.push_back(made[i]);
  }
  const auto gradient = std::make_shared<const StepGradient>(
      [self, saved = std::move(saved), num = record_in.size()](std::span<const Tensor> upstream) {
        return self->gradient(saved, upstream, num);
      });
  record_call(gradient, record_in, flowing);
  return made;
}

}  // namespace plimsoll
