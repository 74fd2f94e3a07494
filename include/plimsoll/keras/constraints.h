// What weights are brought back to after each update.
#pragma once

#include "plimsoll/keras/object.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class Constraint : public Object {
 public:
  virtual Tensor operator()(const Tensor& w) const = 0;

  // throws: InvalidArgumentError that names what was received.
  static std::shared_ptr<Constraint> get(const Json& identifier);
  std::string module() const override { return "keras.constraints"; }
};
using ConstraintArg = Arg<Constraint>;
using NormAxes = Sizes;  // over which a norm is taken: one axis or several

struct MaxNormConfig {
  static constexpr const char* kClassName = "MaxNorm";
  double max_value = 2;
  NormAxes axis = 0;
  void visit(ConfigVisitor& v) {
    v("max_value", max_value);
    v("axis", axis);
  }
};
class MaxNormConstraint : public Configured<Constraint, MaxNormConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Tensor& w) const override;
};

struct NonNegConfig {
  static constexpr const char* kClassName = "NonNeg";
  void visit(ConfigVisitor&) {}
};
class NonNegConstraint : public Configured<Constraint, NonNegConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Tensor& w) const override;
};

struct UnitNormConfig {
  static constexpr const char* kClassName = "UnitNorm";
  NormAxes axis = 0;
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
class UnitNormConstraint : public Configured<Constraint, UnitNormConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Tensor& w) const override;
};

struct MinMaxNormConfig {
  static constexpr const char* kClassName = "MinMaxNorm";
  double min_value = 0, max_value = 1, rate = 1;
  NormAxes axis = 0;
  void visit(ConfigVisitor& v) {
    v("min_value", min_value);
    v("max_value", max_value);
    v("rate", rate);
    v("axis", axis);
  }
};
class MinMaxNormConstraint : public Configured<Constraint, MinMaxNormConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Tensor& w) const override;
};

namespace constraints {
using MaxNorm = Ref<MaxNormConstraint>;
using NonNeg = Ref<NonNegConstraint>;
using UnitNorm = Ref<UnitNormConstraint>;
using MinMaxNorm = Ref<MinMaxNormConstraint>;
}  // namespace constraints

}  // namespace plimsoll::keras
