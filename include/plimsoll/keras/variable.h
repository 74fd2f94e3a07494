// A variable of a layer, optimizer or metric.
#pragma once

#include <memory>
#include <string>

#include "plimsoll/keras/constraints.h"
#include "plimsoll/keras/initializers.h"
#include "plimsoll/keras/regularizers.h"
#include "plimsoll/variable.h"

namespace plimsoll::keras {

struct VariableInfo {
  std::string name = "variable";
  std::string path = {};  // "sequential/dense/kernel"
  bool trainable = true;
  bool autocast = true;  // is read in the compute type of the layer that reads it
  RegularizerArg regularizer = {};
  ConstraintArg constraint = {};
  memory::Tag tag = memory::Tag::kWeights;
};

class Variable {
 public:
  // memory: the value under its tag and path; a copy, where others see it. May be made while a
  // function is traced.
  Variable(Tensor initial_value, VariableInfo info);
  // The same with the value that the initializer gives; in a WithoutValuesScope without one.
  Variable(const TensorSpec& spec, InitializerArg initializer, VariableInfo info);
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  // Inside a layer of mixed precision in the layer's compute type.
  Tensor value() const;
  operator Tensor() const { return value(); }
  // In the variable's own type.
  void assign(const Tensor& value);
  void assign_add(const Tensor& delta);
  void assign_sub(const Tensor& delta);

  bool has_value() const noexcept { return variable_.has_value(); }
  // Gives a variable without a value the one that its initializer gives.
  void initialize();

  const std::string& name() const noexcept { return info_.name; }
  const std::string& path() const noexcept { return info_.path; }
  std::string device() const;  // where its value is, or will be
  const Shape& shape() const noexcept { return variable_.shape(); }
  DType dtype() const noexcept { return variable_.dtype(); }
  std::int64_t nbytes() const noexcept { return shape().num_elements() * dtype_size(dtype()); }
  bool trainable = true;
  bool overwrite_with_gradient = false;
  const RegularizerArg& regularizer() const noexcept { return info_.regularizer; }
  const ConstraintArg& constraint() const noexcept { return info_.constraint; }
  void set_path(std::string path) { info_.path = std::move(path); }

  plimsoll::Variable& raw() noexcept { return variable_; }
  const plimsoll::Variable& raw() const noexcept { return variable_; }

 private:
  VariableInfo info_;
  InitializerArg initializer_;  // of a variable that may be without a value
  plimsoll::Variable variable_;
};

using VariablePtr = std::shared_ptr<Variable>;

// Layers make their variables without values while it lives, on this thread: models of shapes
// alone, to be planned, or to be filled from a file.
class WithoutValuesScope {
 public:
  explicit WithoutValuesScope(bool enabled = true) noexcept;
  ~WithoutValuesScope();
  WithoutValuesScope(const WithoutValuesScope&) = delete;
  WithoutValuesScope& operator=(const WithoutValuesScope&) = delete;
  static bool is_active() noexcept;

 private:
  bool outer_;
};

// Variables are read in this type while it lives, on this thread; none: in their own.
class AutocastScope {
 public:
  explicit AutocastScope(std::optional<DType> dtype) noexcept;
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;
  static std::optional<DType> current() noexcept;

 private:
  std::optional<DType> outer_;
};

// Variables are assigned only if `condition`, a scalar of type bool, holds; while it lives, on this
// thread. In a function that is a choice by element, which costs no memory, where a branch would
// keep old and new values.
class ConditionalAssignScope {
 public:
  explicit ConditionalAssignScope(const Tensor& condition);
  ~ConditionalAssignScope();
  ConditionalAssignScope(const ConditionalAssignScope&) = delete;
  ConditionalAssignScope& operator=(const ConditionalAssignScope&) = delete;

 private:
  Tensor condition_;  // and that of the scope around
  const Tensor* outer_;
};

}  // namespace plimsoll::keras
