#include "plimsoll/function.h"

#include <algorithm>
#include <list>

#include "base/check.h"
#include "base/log.h"
#include "plimsoll/bytes.h"
#include "plimsoll/interop.h"
#include "runtime/budget_scope.h"
#include "runtime/compile.h"
#include "runtime/function_grad.h"
#include "runtime/measure.h"
#include "runtime/placement.h"
#include "runtime/variable_state.h"

namespace plimsoll {
namespace {

constexpr int kManyTraces = 5;  // in a row: then something is off

std::vector<TensorSpec> specs_of(std::span<const Tensor> inputs) {
  std::vector<TensorSpec> specs;
  specs.reserve(inputs.size());
  for (const Tensor& t : inputs) specs.push_back({t.dtype(), t.shape()});
  return specs;
}

std::vector<TensorSpec> specs_of(std::span<const TensorSpec> specs) {
  return {specs.begin(), specs.end()};
}

std::string signature_text(std::span<const TensorSpec> specs) {
  std::string text;
  for (const TensorSpec& spec : specs) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", dtype_name(spec.dtype),
                        spec.shape.to_string());
  }
  return "(" + text + ")";
}

}  // namespace

struct FunctionState {
  struct Traced {
    std::vector<TensorSpec> specs;
    const Device* asked = nullptr;  // the device of the scope, or none
    std::shared_ptr<Executable> executable;

    bool matches(std::span<const Tensor> inputs, const Device* device) const noexcept {
      if (device != asked || inputs.size() != specs.size()) return false;
      for (std::size_t i = 0; i < specs.size(); ++i) {
        if (inputs[i].dtype() != specs[i].dtype || !(inputs[i].shape() == specs[i].shape))
          return false;
      }
      return true;
    }
    bool matches(std::span<const TensorSpec> inputs, const Device* device) const noexcept {
      return device == asked && std::ranges::equal(specs, inputs);
    }
  };

  Function::Body body;
  FunctionOptions options;
  std::shared_ptr<ArenaPool> arenas = std::make_shared<ArenaPool>();
  std::mutex mutex;              // guards what follows
  std::list<Traced> traces;      // used last first
  int num_in_a_row = 0;          // calls that had to trace
  std::recursive_mutex tracing;  // one trace at a time; a body may call its function
  struct Recorded {
    std::vector<TensorSpec> specs;
    const Device* asked = nullptr;
    std::shared_ptr<RecordedFunction> function;
  };
  std::list<Recorded> recorded;  // as traces: of calls under a tape

  std::shared_ptr<RecordedFunction> find_recorded(const Function& self,
                                                  std::span<const Tensor> inputs,
                                                  const TapeState& tape);
  std::vector<Tensor> run_recorded(const Function& self, std::span<const Tensor> inputs,
                                   const TapeState& tape);

  void trace_body(Trace& trace, std::span<const TensorSpec> specs);
  CompiledGraph compile_for(std::span<const TensorSpec> specs);
  // By tensors, or by specs.
  template <class Inputs>
  std::shared_ptr<Executable> find(const Inputs& inputs);
  void forget(const Executable* executable);
  [[noreturn]] void explain(const ResourceExhaustedError& error, const MemoryPlan& plan,
                            std::span<const TensorSpec> specs);
  std::string what_fits(std::span<const TensorSpec> specs, const Device& device);
};

// Runs the body on tensors without memory.
void FunctionState::trace_body(Trace& trace, std::span<const TensorSpec> specs) {
  std::vector<Tensor> inputs;
  const TracingScope scope(&trace);
  for (const TensorSpec& spec : specs) inputs.push_back(trace.add_input(spec));
  trace.set_outputs(body(inputs));
}

CompiledGraph FunctionState::compile_for(std::span<const TensorSpec> specs) {
  std::scoped_lock lock(tracing);
  Trace made;
  trace_body(made, specs);
  return compile(std::move(made), device_for(made, options.name), options.name);
}

Device& device_for(const Trace& trace, const std::string& name) {
  Device* device = nullptr;
  for (const auto& variable : trace.variables) {
    Device* home = &variable->home();
    if (!device) device = home;
    PLIMSOLL_CHECK(home == device, UnimplementedError,
                   "function '{}' uses variables on {} and on {}: a function runs on one device",
                   name, device->short_name(), home->short_name());
  }
  return device ? *device : place_value(DType::kFloat32, 0);
}

std::shared_ptr<RecordedFunction> FunctionState::find_recorded(const Function& self,
                                                               std::span<const Tensor> inputs,
                                                               const TapeState& tape) {
  const Device* asked = current_scope ? &place_value(DType::kFloat32, 0) : nullptr;
  std::vector<TensorSpec> specs = specs_of(inputs);
  std::vector<char> needs;
  for (const Tensor& t : inputs)
    needs.push_back(is_floating(t.dtype()) && tape.tracked.count(t.impl()->id));
  std::scoped_lock one(tracing);
  {
    std::scoped_lock lock(mutex);
    for (auto it = recorded.begin(); it != recorded.end(); ++it) {
      if (it->asked != asked || it->specs != specs || it->function->needs() != needs) continue;
      recorded.splice(recorded.begin(), recorded, it);
      return it->function;
    }
  }
  auto made = std::make_shared<RecordedFunction>(body, specs, std::move(needs), options, self);
  std::list<Recorded> dropped;  // freed after the lock
  std::scoped_lock lock(mutex);
  recorded.push_front({std::move(specs), asked, made});
  while (static_cast<int>(recorded.size()) > std::max(1, options.max_traces))
    dropped.splice(dropped.begin(), recorded, std::prev(recorded.end()));
  return made;
}

std::vector<Tensor> FunctionState::run_recorded(const Function& self,
                                                std::span<const Tensor> inputs,
                                                const TapeState& tape) {
  const std::shared_ptr<RecordedFunction> found = find_recorded(self, inputs, tape);
  try {
    return RecordedFunction::run(found, inputs, *arenas);
  } catch (const ResourceExhaustedError& error) {
    {
      std::scoped_lock lock(mutex);
      std::erase_if(recorded, [&](const Recorded& r) { return r.function == found; });
    }
    explain(error, found->plan(), specs_of(inputs));
  }
}

template <class Inputs>
std::shared_ptr<Executable> FunctionState::find(const Inputs& inputs) {
  const Device* asked = current_scope ? &place_value(DType::kFloat32, 0) : nullptr;
  {
    std::scoped_lock lock(mutex);
    for (auto it = traces.begin(); it != traces.end(); ++it) {
      if (!it->matches(inputs, asked)) continue;
      traces.splice(traces.begin(), traces, it);
      num_in_a_row = 0;
      return it->executable;
    }
    if (++num_in_a_row == kManyTraces) {
      log_warning(
          "function '{}' was traced {} calls in a row, now for {}: every new shape or type of an "
          "input is a new trace and plan. Pad inputs to a few shapes, and make the function once, "
          "outside of loops",
          options.name, kManyTraces, signature_text(specs_of(inputs)));
    }
  }
  std::vector<TensorSpec> specs = specs_of(inputs);
  auto made = std::make_shared<Executable>(compile_for(specs));
  std::list<Traced> dropped;  // freed after the lock
  std::scoped_lock lock(mutex);
  traces.push_front({std::move(specs), asked, made});
  while (static_cast<int>(traces.size()) > std::max(1, options.max_traces))
    dropped.splice(dropped.begin(), traces, std::prev(traces.end()));
  return made;
}

void FunctionState::forget(const Executable* executable) {
  std::list<Traced> dropped;  // freed after the lock
  std::scoped_lock lock(mutex);
  for (auto it = traces.begin(); it != traces.end(); ++it) {
    if (it->executable.get() != executable) continue;
    dropped.splice(dropped.begin(), traces, it);
    return;
  }
}

// The largest batch that fits now: sizes are tried on plans.
std::string FunctionState::what_fits(std::span<const TensorSpec> specs, const Device& device) {
  std::int64_t batch = 0;
  for (const TensorSpec& spec : specs) {
    if (spec.shape.rank() > 0 && !batch) batch = spec.shape.dim(0);
  }
  const memory::Budget* scope = scope_budget(device);
  const memory::Budget& budget = scope ? *scope : device.budget();
  const memory::Owner owner(memory::Tag::kActivations, options.name);
  std::int64_t fits = 0, too_many = batch;
  std::uint64_t peak = 0;
  while (too_many - fits > 1) {
    const std::int64_t tried = fits + (too_many - fits) / 2;
    std::vector<TensorSpec> smaller(specs.begin(), specs.end());
    for (TensorSpec& spec : smaller) {
      if (spec.shape.rank() == 0 || spec.shape.dim(0) != batch) continue;
      std::vector<std::int64_t> dims(spec.shape.dims().begin(), spec.shape.dims().end());
      dims[0] = tried;
      spec.shape = Shape(dims);
    }
    const MemoryPlan plan = compile_for(smaller).plan;
    if (budget.try_reserve(plan.reserve_bytes(), owner)) {
      fits = tried;
      peak = plan.peak_bytes;
    } else {
      too_many = tried;
    }
  }
  if (!fits) return batch > 1 ? "not even a batch of 1 would fit" : "";
  return fmt::format("would fit: batch {} (peak {})", fits, format_bytes(peak));
}

void FunctionState::explain(const ResourceExhaustedError& error, const MemoryPlan& plan,
                            std::span<const TensorSpec> specs) {
  std::string text = error.what();
  text += fmt::format(
      "\nfunction '{}'{} needs {}: an arena of {} and results of {}; at its peak ({})",
      options.name, signature_text(specs), format_bytes(plan.reserve_bytes()),
      format_bytes(plan.arena_bytes), format_bytes(plan.output_bytes),
      plan.num_steps ? plan.step_names[static_cast<std::size_t>(plan.peak_step)] : "no step");
  for (const PlannedBuffer* buffer : plan.largest(5)) {
    text += fmt::format("\n  {:>10}  {} {} {}{}{}", format_bytes(buffer->nbytes),
                        memory::tag_name(buffer->tag), buffer->op,
                        buffer->place == PlannedBuffer::Place::kScratch
                            ? "scratch"
                            : buffer->spec.shape.to_string(),
                        buffer->layer.empty() ? "" : " " + buffer->layer,
                        buffer->site.empty() ? "" : " at " + buffer->site);
  }
  std::string fits;
  try {
    fits = what_fits(specs, *Context::get().find_device(parse_device_name(plan.device)));
  } catch (const std::exception&) {  // a body that takes no other batch: nothing to say
  }
  if (!fits.empty()) text += "\n" + fits;
  throw ResourceExhaustedError(text);
}

std::uint64_t measure_written_height(const Function& function, std::span<const Tensor> inputs,
                                     std::span<Tensor> outputs) {
  ArenaPool& arenas = *function.state()->arenas;
  arenas.is_measuring = true;
  function.run(inputs, outputs);
  arenas.is_measuring = false;
  return arenas.written_height;
}

Function::Function(Body body, FunctionOptions options) : state_(std::make_shared<FunctionState>()) {
  PLIMSOLL_CHECK(body, InvalidArgumentError, "function '{}' needs a body", options.name);
  state_->body = std::move(body);
  if (options.shares_arenas_with) {
    state_->arenas = options.shares_arenas_with->state_->arenas;
    options.shares_arenas_with = nullptr;  // which need not live as long
  }
  state_->options = std::move(options);
}

void Function::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PLIMSOLL_CHECK(inputs[i].is_valid(), InvalidArgumentError,
                   "argument {} of function '{}' is an empty Tensor", i, name());
    PLIMSOLL_CHECK(inputs[i].impl()->buffer, InvalidArgumentError,
                   "argument {} of function '{}' is a symbolic tensor", i, name());
  }
  const std::shared_ptr<Executable> executable = state_->find(inputs);
  const std::size_t num_outputs = executable->compiled().graph.outputs.size();
  PLIMSOLL_CHECK(outputs.size() == num_outputs, InvalidArgumentError,
                 "function '{}' returns {} tensors, got room for {}", name(), num_outputs,
                 outputs.size());
  try {
    executable->run(inputs, outputs, *state_->arenas);
  } catch (const ResourceExhaustedError& error) {
    state_->forget(executable.get());  // what could not run keeps nothing
    state_->explain(error, executable->plan(), specs_of(inputs));
  }
}

std::vector<Tensor> Function::operator()(std::span<const Tensor> inputs) const {
  if (current_trace) return state_->body(inputs);  // becomes part of the function that calls it
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PLIMSOLL_CHECK(inputs[i].is_valid(), InvalidArgumentError,
                   "argument {} of function '{}' is an empty Tensor", i, name());
  }
  // Several tapes differentiate each other's gradients, op by op.
  if (interop::needs_each_op()) return state_->body(inputs);
  if (const RecordingTapes tapes = recording_tapes(); tapes.count)
    return state_->run_recorded(*this, inputs, *tapes.last);
  const std::shared_ptr<Executable> executable = state_->find(inputs);
  std::vector<Tensor> outputs(executable->compiled().graph.outputs.size());
  run(inputs, outputs);
  return outputs;
}

MemoryPlan Function::plan(std::span<const TensorSpec> inputs) const {
  {
    std::scoped_lock lock(state_->mutex);
    for (const FunctionState::Traced& traced : state_->traces) {
      if (!current_scope && !traced.asked && std::ranges::equal(traced.specs, inputs))
        return traced.executable->plan();
    }
  }
  return state_->compile_for(inputs).plan;
}

MemoryPlan Function::prepare(std::span<const TensorSpec> inputs) const {
  return state_->find(inputs)->plan();
}

std::string Function::graph_text(std::span<const TensorSpec> inputs) const {
  return state_->compile_for(inputs).graph.to_text();
}

const std::string& Function::name() const noexcept {
  return state_->options.name;
}
int Function::num_traces() const {
  std::scoped_lock lock(state_->mutex);
  return static_cast<int>(state_->traces.size());
}
void Function::trim() const noexcept {
  state_->arenas->trim();
  std::scoped_lock lock(state_->mutex);
  for (const FunctionState::Traced& traced : state_->traces) traced.executable->trim();
  for (const FunctionState::Recorded& recorded : state_->recorded) recorded.function->trim();
}

void internal::check_num_inputs(std::size_t received, std::size_t expected) {
  PLIMSOLL_CHECK(received == expected, InvalidArgumentError,
                 "the function takes {} tensors, got {}", expected, received);
}

name_scope::name_scope(const std::string& name) : outer_size_(current_name_scope().size()) {
  std::string& scope = current_name_scope();
  if (!scope.empty()) scope += '/';
  scope += name;
}
name_scope::~name_scope() {
  current_name_scope().resize(outer_size_);
}

}  // namespace plimsoll
