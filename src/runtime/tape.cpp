#include "runtime/tape.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

thread_local std::vector<TapeState*> tapes;  // of this thread, outermost first
thread_local int current_level = 0;          // tapes of other levels are hidden

// Calls f with the tapes that record now.
template <class F>
void for_each_recording(F f) {
  for (TapeState* tape : tapes) {
    if (tape->level == current_level && tape->num_stops == 0) f(*tape);
  }
}

}  // namespace

bool is_recording() noexcept {
  return std::ranges::any_of(tapes, [](const TapeState* t) { return t->level == current_level; });
}

RecordingTapes recording_tapes() noexcept {
  RecordingTapes found;
  for_each_recording([&](TapeState& tape) {
    ++found.count;
    found.last = &tape;
  });
  return found;
}

bool is_recorded(std::span<const Tensor> in) {
  bool found = false;
  for_each_recording([&](const TapeState& tape) { found = found || tape.needs_of(in) != 0; });
  return found;
}

void push_tape(TapeState* tape) {
  tape->level = current_level;
  tapes.push_back(tape);
}
void remove_tape(TapeState* tape) noexcept {
  std::erase(tapes, tape);
}

HideTapes::HideTapes() noexcept {
  ++current_level;
}
HideTapes::~HideTapes() {
  --current_level;
}

void record_call(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                 std::span<const Tensor> out) {
  if (!op_def(op).grad) return;
  for_each_recording([&](TapeState& tape) { tape.record(op, attrs, in, out); });
}

void record_call(const std::shared_ptr<const graph::Control>& control, std::span<const Tensor> in,
                 std::span<const Tensor> out) {
  for_each_recording([&](TapeState& tape) { tape.record(control, in, out); });
}

void record_call(const std::shared_ptr<const StepGradient>& gradient, std::span<const Tensor> in,
                 std::span<const Tensor> out) {
  for_each_recording([&](TapeState& tape) { tape.record(gradient, in, out); });
}

void watch_variable_read(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  if (!is_floating(value.dtype())) return;
  for_each_recording([&](TapeState& tape) {
    if (!tape.options.watch_accessed_variables) return;
    tape.tracked.insert(value.impl()->id);
    tape.note(variable, value);
  });
}

void TapeState::note(const std::shared_ptr<VariableState>& variable, const Tensor& value) {
  WatchedVariable& watched = variables[variable.get()];
  watched.variable = variable;
  std::vector<std::uint64_t>& ids = watched.ids;
  if (ids.empty() || ids.back() != value.impl()->id) ids.push_back(value.impl()->id);
}

std::uint64_t TapeState::needs_of(std::span<const Tensor> in) const {
  std::uint64_t needs = 0;
  if (options.only_variables) return needs;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (is_floating(in[i].dtype()) && tracked.count(in[i].impl()->id))
      needs |= 1ULL << std::min<std::size_t>(i, 63);
  }
  return needs;
}

TapeRecord TapeState::make_record(std::uint64_t needs, std::span<const Tensor> in,
                                  std::span<const Tensor> out) {
  TapeRecord record{.needs = needs};
  if (current_trace) record.scope = current_name_scope();
  for (const Tensor& t : in) {
    record.in_ids.push_back(t.impl()->id);
    record.in_specs.push_back({t.dtype(), t.shape()});
  }
  for (const Tensor& t : out) {
    record.out_ids.push_back(t.impl()->id);
    record.out_specs.push_back({t.dtype(), t.shape()});
    if (is_floating(t.dtype())) tracked.insert(t.impl()->id);
  }
  return record;
}

void TapeState::record(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                       std::span<const Tensor> out) {
  const std::uint64_t needs = needs_of(in);
  if (!needs) return;
  TapeRecord record = make_record(needs, in, out);
  record.op = op;
  record.attrs = attrs;
  const GradReads reads = grad_reads(op, attrs, record.in_specs, record.out_specs, needs);
  record.in.resize(in.size());
  record.out.resize(out.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (reads.in >> std::min<std::size_t>(i, 63) & 1U) record.in[i] = in[i];
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (reads.out >> std::min<std::size_t>(i, 63) & 1U) record.out[i] = out[i];
  }
  records.push_back(std::move(record));
}

// Its values are a trace's: keeping them all costs nothing.
void TapeState::record(const std::shared_ptr<const graph::Control>& control,
                       std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::uint64_t needs = needs_of(in);
  if (!needs) return;
  TapeRecord record = make_record(needs, in, out);
  record.control = control;
  record.in.assign(in.begin(), in.end());
  record.out.assign(out.begin(), out.end());
  records.push_back(std::move(record));
}

// The gradient itself holds what it reads.
void TapeState::record(const std::shared_ptr<const StepGradient>& gradient,
                       std::span<const Tensor> in, std::span<const Tensor> out) {
  const std::uint64_t needs = needs_of(in);
  if (!needs) return;
  TapeRecord record = make_record(needs, in, out);
  record.gradient = gradient;
  records.push_back(std::move(record));
}

}  // namespace plimsoll
