#include "plimsoll/gradient_tape.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/control_flow.h"
#include "runtime/dispatch.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "runtime/variable_state.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

void accumulate(Gradients& gradients, std::uint64_t id, const Tensor& more) {
  auto [it, is_new] = gradients.try_emplace(id, more);
  if (!is_new) it->second = call(OpId::Add, {it->second, more});
}

// A gradient as it is executed: values are those that the record kept.
class EagerGradCtx final : public GradCtx {
 public:
  EagerGradCtx(TapeRecord& record, Gradients& gradients) : record_(record), gradients_(gradients) {
    for (std::size_t i = 0; i < record.out_ids.size(); ++i) {
      const auto found = gradients.find(record.out_ids[i]);
      douts_.push_back(found == gradients.end() ? Tensor() : found->second);
    }
  }

  int num_in() const noexcept override { return static_cast<int>(record_.in_ids.size()); }
  int num_out() const noexcept override { return static_cast<int>(record_.out_ids.size()); }
  const Attrs& attrs() const noexcept override { return record_.attrs; }
  const TensorSpec& in_spec(int i) const noexcept override {
    return record_.in_specs[static_cast<std::size_t>(i)];
  }
  const TensorSpec& out_spec(int i) const noexcept override {
    return record_.out_specs[static_cast<std::size_t>(i)];
  }
  bool needs(int i) const noexcept override { return record_.needs >> std::min(i, 63) & 1U; }
  bool has_dout(int i) const noexcept override {
    return douts_[static_cast<std::size_t>(i)].is_valid();
  }
  bool has_any_dout() const noexcept {
    for (const Tensor& t : douts_) {
      if (t.is_valid()) return true;
    }
    return false;
  }

  Tensor in(int i) override { return kept(record_.in[static_cast<std::size_t>(i)], "input", i); }
  Tensor out(int i) override { return kept(record_.out[static_cast<std::size_t>(i)], "output", i); }
  Tensor dout(int i) override {
    Tensor& t = douts_[static_cast<std::size_t>(i)];
    if (!t.is_valid()) t = zeros(out_spec(i).shape, out_spec(i).dtype);
    return t;
  }
  Tensor scalar(double value, DType dtype) override { return fill(Shape(), value, dtype); }
  void set_din(int i, const Tensor& gradient) override {
    if (needs(i)) accumulate(gradients_, record_.in_ids[static_cast<std::size_t>(i)], gradient);
  }
  std::vector<Tensor> emit_all(OpId op, std::span<const Tensor> in, const Attrs& attrs) override {
    return call_all(op, in, attrs);
  }

 private:
  Tensor kept(const Tensor& t, const char* what, int i) const {
    PLIMSOLL_CHECK(t.is_valid(), InternalError,
                   "the gradient of {} reads {} {}, which its probe did not", op_name(record_.op),
                   what, i);
    return t;
  }

  TapeRecord& record_;
  Gradients& gradients_;
  std::vector<Tensor> douts_;
};

// The tensors that a source stands for, by id.
std::vector<std::uint64_t> ids_of(const TapeState& tape, const GradientTape::Source& source) {
  if (!source.variable) return {source.tensor.impl()->id};
  const auto seen = tape.variables.find(source.variable->state().get());
  std::vector<std::uint64_t> ids =
      seen == tape.variables.end() ? std::vector<std::uint64_t>() : seen->second.ids;
  const std::uint64_t now = source.variable->value().impl()->id;
  if (std::ranges::find(ids, now) == ids.end()) ids.push_back(now);
  return ids;
}

// In a trace: what is recorded while this lives belongs to the backward pass.
class BackwardScope {
 public:
  BackwardScope() : was_backward_(current_trace && current_trace->is_backward) {
    if (!current_trace) return;
    name_ = current_name_scope();
    current_trace->is_backward = true;
  }
  ~BackwardScope() {
    if (!current_trace) return;
    current_name_scope() = name_;
    current_trace->is_backward = was_backward_;
  }
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;

  void enter(const TapeRecord& record) {
    if (current_trace) current_name_scope() = record.scope;
  }

 private:
  bool was_backward_;
  std::string name_;
};

}  // namespace

GradientTape::GradientTape(GradientTapeOptions options)
    : state_(std::make_unique<TapeState>(options)) {
  push_tape(state_.get());
}

GradientTape::~GradientTape() {
  stop();
}

void GradientTape::watch(const Tensor& tensor) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "cannot watch an empty Tensor");
  PLIMSOLL_CHECK(is_floating(tensor.dtype()), InvalidArgumentError,
                 "cannot watch a tensor of type {}: only floating types have gradients",
                 dtype_name(tensor.dtype()));
  state_->tracked.insert(tensor.impl()->id);
}

void GradientTape::watch(const Variable& variable) {
  watch(variable.value());
  state_->note(variable.state(), variable.value());
}

void GradientTape::stop() {
  if (!state_->is_active) return;
  remove_tape(state_.get());
  state_->is_active = false;
}

void GradientTape::resume() {
  PLIMSOLL_CHECK(!state_->is_active, FailedPreconditionError, "Tape is still recording.");
  push_tape(state_.get());
  state_->is_active = true;
}

void GradientTape::reset() {
  stop();
  state_ = std::make_unique<TapeState>(state_->options);
  push_tape(state_.get());
}

std::vector<Variable> GradientTape::watched_variables() const {
  std::vector<std::shared_ptr<VariableState>> found;
  for (const auto& [state, watched] : state_->variables) found.push_back(watched.variable);
  std::ranges::sort(found, {}, [](const auto& variable) { return variable->number; });
  std::vector<Variable> variables;
  for (auto& variable : found) variables.emplace_back(std::move(variable));
  return variables;
}

GradientTape::StopRecording::StopRecording(TapeState* state) noexcept : state_(state) {
  ++state_->num_stops;
}
GradientTape::StopRecording::~StopRecording() {
  --state_->num_stops;
}

std::vector<Tensor> GradientTape::gradient(std::span<const Tensor> targets,
                                           std::span<const Tensor> sources,
                                           std::span<const Tensor> output_gradients,
                                           UnconnectedGradients unconnected) {
  std::vector<Source> all;
  for (const Tensor& source : sources) all.push_back({.tensor = source});
  return gradient(targets, all, output_gradients, unconnected);
}

std::vector<Tensor> GradientTape::gradient(std::span<const Tensor> targets,
                                           std::span<const Source> sources,
                                           std::span<const Tensor> output_gradients,
                                           UnconnectedGradients unconnected) {
  begin_use();
  PLIMSOLL_CHECK(output_gradients.empty() || output_gradients.size() == targets.size(),
                 InvalidArgumentError, "{} output gradients for {} targets",
                 output_gradients.size(), targets.size());
  return compute(targets, sources, output_gradients, unconnected, state_->options.persistent);
}

void GradientTape::begin_use() {
  TapeState& tape = *state_;
  PLIMSOLL_CHECK(!tape.was_used || tape.options.persistent, FailedPreconditionError,
                 "A non-persistent GradientTape can only be used to compute one set of gradients "
                 "(or jacobians)");
  tape.was_used = true;
  if (!tape.options.persistent) stop();
}

std::vector<Tensor> GradientTape::compute(std::span<const Tensor> targets,
                                          std::span<const Source> sources,
                                          std::span<const Tensor> output_gradients,
                                          UnconnectedGradients unconnected, bool keeps_records) {
  TapeState& tape = *state_;
  const StopRecording pause(&tape);
  Gradients gradients;
  {
    const BackwardScope backward;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      PLIMSOLL_CHECK(targets[i].is_valid(), InvalidArgumentError,
                     "target {} of gradient() is an empty Tensor", i);
      const bool is_given = !output_gradients.empty() && output_gradients[i].is_valid();
      if (is_given) {
        PLIMSOLL_CHECK(output_gradients[i].shape() == targets[i].shape(), InvalidArgumentError,
                       "output gradient {} has shape {}, its target {}", i,
                       output_gradients[i].shape().to_string(), targets[i].shape().to_string());
      }
      if (!is_floating(targets[i].dtype())) continue;
      accumulate(gradients, targets[i].impl()->id,
                 is_given ? output_gradients[i] : ones(targets[i].shape(), targets[i].dtype()));
    }
  }
  std::vector<std::vector<std::uint64_t>> ids;
  for (const Source& source : sources) {
    PLIMSOLL_CHECK(source.variable || source.tensor.is_valid(), InvalidArgumentError,
                   "a source of gradient() is an empty Tensor");
    ids.push_back(ids_of(tape, source));
  }
  std::vector<Tensor> result = backpropagate(tape, std::move(gradients), ids, keeps_records);
  if (unconnected == UnconnectedGradients::kZero) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const Source& source = sources[i];
      if (result[i].is_valid()) continue;
      result[i] = source.variable ? zeros(source.variable->shape(), source.variable->dtype())
                                  : zeros(source.tensor.shape(), source.tensor.dtype());
    }
  }
  return result;
}

namespace {

// A step that brings its own gradient.
void own_gradient(EagerGradCtx& ctx, const StepGradient& gradient) {
  std::vector<Tensor> upstream;
  for (int i = 0; i < ctx.num_out(); ++i)
    upstream.push_back(is_floating(ctx.out_spec(i).dtype) ? ctx.dout(i) : Tensor());
  const std::vector<Tensor> made = gradient(upstream);
  PLIMSOLL_CHECK(static_cast<int>(made.size()) == ctx.num_in(), InvalidArgumentError,
                 "a custom gradient gave {} gradients for {} inputs", made.size(), ctx.num_in());
  for (int i = 0; i < ctx.num_in(); ++i) {
    const Tensor& given = made[static_cast<std::size_t>(i)];
    if (!given.is_valid()) continue;
    const TensorSpec& spec = ctx.in_spec(i);
    PLIMSOLL_CHECK(given.shape() == spec.shape && given.dtype() == spec.dtype, InvalidArgumentError,
                   "custom_gradient: the gradient of input {} is {}{}, the input {}{}", i,
                   dtype_name(given.dtype()), given.shape().to_string(), dtype_name(spec.dtype),
                   spec.shape.to_string());
    ctx.set_din(i, given);
  }
}

}  // namespace

std::vector<Tensor> backpropagate(TapeState& tape, Gradients gradients,
                                  std::span<const std::vector<std::uint64_t>> sources,
                                  bool keeps_records) {
  BackwardScope backward;
  Gradients wanted;
  for (const std::vector<std::uint64_t>& ids : sources) {
    for (const std::uint64_t id : ids) wanted.emplace(id, Tensor());
  }
  for (std::size_t r = tape.records.size(); r-- > 0;) {
    TapeRecord& record = tape.records[r];
    EagerGradCtx ctx(record, gradients);
    backward.enter(record);
    if (ctx.has_any_dout()) {
      if (record.gradient) {
        own_gradient(ctx, *record.gradient);
      } else {
        record.control ? control_gradient(ctx, *record.control) : op_def(record.op).grad(ctx);
      }
    }
    // An output's gradient is complete and read: it goes, unless somebody asked for it.
    for (const std::uint64_t id : record.out_ids) {
      const auto found = gradients.find(id);
      if (found == gradients.end()) continue;
      if (const auto asked = wanted.find(id); asked != wanted.end()) asked->second = found->second;
      gradients.erase(found);
    }
    if (!keeps_records) tape.records.pop_back();
  }
  std::vector<Tensor> result;
  for (const std::vector<std::uint64_t>& ids : sources) {
    Tensor gradient;
    for (const std::uint64_t id : ids) {
      const auto found = gradients.find(id);
      const Tensor& part = found != gradients.end() ? found->second : wanted[id];
      if (part.is_valid())
        gradient = gradient.is_valid() ? call(OpId::Add, {gradient, part}) : part;
    }
    if (current_trace && gradient.is_valid())
      current_trace->set_tag(gradient, memory::Tag::kGradients);
    result.push_back(gradient);
  }
  return result;
}

Tensor GradientTape::gradient(const Tensor& target, const Tensor& source,
                              UnconnectedGradients unconnected) {
  return gradient(std::span(&target, 1), std::span(&source, 1), {}, unconnected)[0];
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target,
                                           std::span<const Variable* const> variables,
                                           UnconnectedGradients unconnected) {
  std::vector<Source> sources;
  for (const Variable* v : variables) sources.push_back({.variable = v});
  return gradient(std::span(&target, 1), sources, {}, unconnected);
}

}  // namespace plimsoll
