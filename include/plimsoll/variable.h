// A tensor that can change: weights, and other state.
#pragma once

#include <memory>
#include <string>

#include "plimsoll/memory/owner.h"
#include "plimsoll/tensor.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll {

struct VariableState;  // internal

struct VariableOptions {
  std::string name = "Variable";
  bool trainable = true;
  memory::Tag tag = memory::Tag::kWeights;  // kOptimizer for an optimizer's slots
};

class Variable {
 public:
  // memory: a copy of the initial value, under its tag and name; or the value itself, where it is
  // given away and nobody else sees it.
  explicit Variable(const Tensor& initial_value, VariableOptions options = {});
  explicit Variable(Tensor&& initial_value, VariableOptions options = {});
  // Without a value and without memory. Functions can be traced and planned with it; whoever needs
  // the value gets a FailedPreconditionError until allocate or assign.
  explicit Variable(const TensorSpec& spec, VariableOptions options = {});
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable(Variable&&) noexcept = default;
  Variable& operator=(Variable&&) noexcept = default;

  // The value now, as a tensor; tapes that follow variables watch it. A later assignment does not
  // change a tensor that was read before.
  const Tensor& value() const;
  operator const Tensor&() const { return value(); }

  // throws: InvalidArgumentError if shape or type differ; ResourceExhaustedError, and the value is
  // as before.
  void assign(const Tensor& value);
  void assign_add(const Tensor& delta);
  void assign_sub(const Tensor& delta);

  bool has_value() const noexcept;
  // Gives a variable without a value its memory, where new tensors are placed; what is in it is not
  // defined. throws: ResourceExhaustedError, and nothing has changed.
  void allocate();

  const std::string& name() const noexcept;
  bool trainable() const noexcept;
  DType dtype() const noexcept;
  const Shape& shape() const noexcept;

  const std::shared_ptr<VariableState>& state() const noexcept { return state_; }  // internal
  explicit Variable(std::shared_ptr<VariableState> shared) noexcept;               // internal

 private:
  void check_initial(const Tensor& value, const VariableOptions& options) const;
  void check_fits(const Tensor& value, const char* what) const;
  void update(std::uint16_t op, const Tensor& delta, const char* what);

  std::shared_ptr<VariableState> state_;
};

}  // namespace plimsoll
