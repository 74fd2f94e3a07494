#include "runtime/tape.h"

#include <algorithm>

#include "base/check.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

thread_local std::vector<TapeState*> tapes;  // of this thread, outermost first

}  // namespace

bool is_recording() noexcept {
  return !tapes.empty();
}

void push_tape(TapeState* tape) {
  tapes.push_back(tape);
}
void remove_tape(TapeState* tape) noexcept {
  std::erase(tapes, tape);
}

void record_call(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                 std::span<const Tensor> out) {
  if (!op_def(op).grad) return;
  for (TapeState* tape : tapes) {
    if (tape->num_stops == 0) tape->record(op, attrs, in, out);
  }
}

void watch_variable_read(const Tensor& value) {
  for (TapeState* tape : tapes) {
    if (tape->num_stops == 0 && tape->options.watch_accessed_variables &&
        is_floating(value.dtype())) {
      tape->tracked.insert(value.impl()->id);
    }
  }
}

void TapeState::record(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                       std::span<const Tensor> out) {
  std::uint64_t needs = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (is_floating(in[i].dtype()) && tracked.count(in[i].impl()->id))
      needs |= 1ULL << std::min<std::size_t>(i, 63);
  }
  if (!needs) return;
  TapeRecord record{.op = op, .attrs = attrs, .needs = needs};
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

}  // namespace plimsoll
