// A function that is called under a tape, as one step of it.
//
// Its body is traced under a tape of its own, and the gradients of its results by what is watched
// are traced behind it, as a body of their own. What they take from the forward part become results
// of it, which the tape keeps; they themselves are a function of those and of the upstream
// gradients. Both run by plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/function.h"
#include "runtime/executable.h"
#include "runtime/tape.h"
#include "runtime/trace.h"

namespace plimsoll {

class RecordedFunction {
 public:
  // Traces. needs: by input, whether a gradient of it is wanted. pre: this thread does not trace.
  // throws: what the body throws.
  RecordedFunction(const Function::Body& body, std::span<const TensorSpec> inputs,
                   std::vector<char> needs, const FunctionOptions& options,
                   const Function& shares_arenas_with);

  const std::vector<char>& needs() const noexcept { return needs_; }
  const MemoryPlan& plan() const noexcept { return forward_->plan(); }
  void trim() noexcept { forward_->trim(); }
  // Runs, and tells the tapes of this thread.
  static std::vector<Tensor> run(const std::shared_ptr<RecordedFunction>& self,
                                 std::span<const Tensor> inputs, ArenaPool& arenas);

 private:
  void trace_gradient(Trace& forward, TapeState& tape, std::span<const Tensor> in,
                      std::vector<Tensor> results, const std::string& name,
                      const Function& shares_arenas_with);
  std::vector<Tensor> gradient(std::span<const Tensor> saved, std::span<const Tensor> upstream,
                               std::size_t num_inputs) const;

  std::vector<char> needs_;
  std::shared_ptr<Executable> forward_;
  std::unique_ptr<Function> backward_;  // none: nothing depends on what is watched
  std::size_t num_results_ = 0;
  std::vector<std::size_t> flowing_;                       // results that gradients come from
  std::vector<std::shared_ptr<VariableState>> variables_;  // behind the inputs in the record
  // What the gradient takes of the forward part: a variable's value at the start, or null for the
  // next of the results behind those of the function.
  std::vector<std::shared_ptr<VariableState>> saved_;
  std::vector<char> has_gradient_;  // by input of the record: one of backward_'s results
};

}  // namespace plimsoll
