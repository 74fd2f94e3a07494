// What the tapes of a thread record.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/control.h"
#include "ops/op_def.h"
#include "plimsoll/custom_gradient.h"
#include "plimsoll/gradient_tape.h"

namespace plimsoll {

struct VariableState;

// A call that a tape remembers: what it was, and the values that its gradient reads.
struct TapeRecord {
  OpId op{};
  Attrs attrs;
  std::uint64_t needs = 0;  // inputs that lead to something watched
  std::vector<std::uint64_t> in_ids, out_ids;
  std::vector<TensorSpec> in_specs, out_specs;
  std::vector<Tensor> in, out;                    // empty where the gradient does not read them
  std::string scope;                              // the layer that it belongs to
  std::shared_ptr<const graph::Control> control;  // of a branch or a loop, instead of the op
  std::shared_ptr<const StepGradient> gradient;   // of a step that brings its own, instead of both
};

// A variable as a tape saw it: the ids of its values that were read, one for each assignment
// between.
struct WatchedVariable {
  std::shared_ptr<VariableState> variable;
  std::vector<std::uint64_t> ids;
};

class TapeState {
 public:
  explicit TapeState(GradientTapeOptions tape_options) : options(tape_options) {}

  void record(OpId op, const Attrs& attrs, std::span<const Tensor> in, std::span<const Tensor> out);
  void record(const std::shared_ptr<const graph::Control>& control, std::span<const Tensor> in,
              std::span<const Tensor> out);
  void record(const std::shared_ptr<const StepGradient>& gradient, std::span<const Tensor> in,
              std::span<const Tensor> out);

  const GradientTapeOptions options;
  bool is_active = true;                      // on the thread's stack
  int num_stops = 0;                          // StopRecording alive
  bool was_used = false;                      // gradient() was called
  int level = 0;                              // how many HideTapes it began inside of
  std::unordered_set<std::uint64_t> tracked;  // ids of tensors that gradients flow to or through
  std::vector<TapeRecord> records;
  std::unordered_map<const VariableState*, WatchedVariable> variables;

  void note(const std::shared_ptr<VariableState>& variable, const Tensor& value);

  // The inputs that lead to something watched; no bit where there is none.
  std::uint64_t needs_of(std::span<const Tensor> in) const;

 private:
  TapeRecord make_record(std::uint64_t needs, std::span<const Tensor> in,
                         std::span<const Tensor> out);
};

// Whether some tape of this thread records now; looked at after every call.
bool is_recording() noexcept;
// How many do, without those that are stopped for a while, and the innermost of them.
struct RecordingTapes {
  int count = 0;
  TapeState* last = nullptr;
};
RecordingTapes recording_tapes() noexcept;
// Whether some tape of this thread would record a call with these inputs.
bool is_recorded(std::span<const Tensor> in);
// Tells the tapes of this thread of a call.
void record_call(OpId op, const Attrs& attrs, std::span<const Tensor> in,
                 std::span<const Tensor> out);
void record_call(const std::shared_ptr<const graph::Control>& control, std::span<const Tensor> in,
                 std::span<const Tensor> out);
void record_call(const std::shared_ptr<const StepGradient>& gradient, std::span<const Tensor> in,
                 std::span<const Tensor> out);
// Has every tape of this thread that follows variables watch this one's value.
void watch_variable_read(const std::shared_ptr<VariableState>& variable, const Tensor& value);

// Goes through the records backwards. `gradients`: those of targets, by tensor id. sources: the ids
// that each of them stands for. The gradients of the sources; empty where there is none.
using Gradients = std::unordered_map<std::uint64_t, Tensor>;
std::vector<Tensor> backpropagate(TapeState& tape, Gradients gradients,
                                  std::span<const std::vector<std::uint64_t>> sources,
                                  bool keeps_records);

void push_tape(TapeState* tape);
void remove_tape(TapeState* tape) noexcept;

// While it lives, the tapes that this thread has see nothing: a body is traced, and they are told
// of the branch or loop as a whole.
class HideTapes {
 public:
  HideTapes() noexcept;
  ~HideTapes();
  HideTapes(const HideTapes&) = delete;
  HideTapes& operator=(const HideTapes&) = delete;
};

// Which values a gradient reads, found by running it once on a probe. Bit i is input (output) i.
struct GradReads {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};
GradReads grad_reads(OpId op, const Attrs& attrs, std::span<const TensorSpec> in,
                     std::span<const TensorSpec> out, std::uint64_t needs);

}  // namespace plimsoll
