// Records calls to differentiate them later, as tf.GradientTape does.
//
//   tf::GradientTape tape;
//   tape.watch(x);
//   tf::Tensor y = x * x;
//   tf::Tensor dy_dx = tape.gradient(y, x);
//
// The tape keeps only the values that gradients read; the others go with their last handle.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

class TapeState;  // internal
class Variable;

enum class UnconnectedGradients { kNone, kZero };

struct GradientTapeOptions {
  bool persistent = false;  // gradient() may be called more than once
  bool watch_accessed_variables = true;
  bool only_variables = false;  // sees which are read, and records no calls
};

// Records on the thread that made it, from its construction until stop() or its end. Tapes nest.
class GradientTape {
 public:
  explicit GradientTape(GradientTapeOptions options = {});
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  // throws: InvalidArgumentError for an empty tensor or a type that has no gradient.
  void watch(const Tensor& tensor);
  void watch(const Variable& variable);

  // Ends recording, as leaving Python's `with` does; gradient() does it too unless persistent.
  void stop();
  // Records again behind what it has.
  void resume();
  // Forgets everything and records anew.
  void reset();
  // The variables that it watches, in the order in which they were made: handles that share them.
  std::vector<Variable> watched_variables() const;

  // Does not record while it lives.
  class StopRecording {
   public:
    explicit StopRecording(TapeState* state) noexcept;
    ~StopRecording();
    StopRecording(const StopRecording&) = delete;
    StopRecording& operator=(const StopRecording&) = delete;

   private:
    TapeState* state_;
  };
  StopRecording stop_recording() { return StopRecording(state_.get()); }

  // The gradients of the sum of `targets`. An unconnected source gives an empty Tensor, or zeros.
  // throws: FailedPreconditionError the second time, unless persistent; InvalidArgumentError.
  std::vector<Tensor> gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                               std::span<const Tensor> output_gradients = {},
                               UnconnectedGradients unconnected = UnconnectedGradients::kNone);
  Tensor gradient(const Tensor& target, const Tensor& source,
                  UnconnectedGradients unconnected = UnconnectedGradients::kNone);
  // A variable as a source stands for all values of it that the tape has seen read, so that it may
  // be assigned before its gradient is asked for.
  struct Source {
    Tensor tensor = {};
    const Variable* variable = nullptr;  // instead of the tensor
  };
  std::vector<Tensor> gradient(std::span<const Tensor> targets, std::span<const Source> sources,
                               std::span<const Tensor> output_gradients,
                               UnconnectedGradients unconnected = UnconnectedGradients::kNone);
  std::vector<Tensor> gradient(const Tensor& target, std::span<const Variable* const> variables,
                               UnconnectedGradients unconnected = UnconnectedGradients::kNone);

  // All derivatives of the elements of `target` by those of each source, of shape target + source:
  // one gradient for each element of the target. batch_jacobian: where row i of the target depends
  // on row i of the source alone, of shape [rows] + target[1:] + source[1:].
  // memory: the results, and one gradient at a time; in a function a loop.
  // throws: as gradient; InvalidArgumentError if the rows are not as many.
  std::vector<Tensor> jacobian(const Tensor& target, std::span<const Source> sources,
                               UnconnectedGradients unconnected = UnconnectedGradients::kNone);
  Tensor batch_jacobian(const Tensor& target, const Source& source,
                        UnconnectedGradients unconnected = UnconnectedGradients::kNone);

 private:
  std::vector<Tensor> compute(std::span<const Tensor> targets, std::span<const Source> sources,
                              std::span<const Tensor> output_gradients,
                              UnconnectedGradients unconnected, bool keeps_records);
  void begin_use();

  std::unique_ptr<TapeState> state_;
};

}  // namespace plimsoll
