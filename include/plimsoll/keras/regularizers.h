// Penalties on weights, and on what layers give, that are added to the loss.
#pragma once

#include "plimsoll/keras/object.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class Regularizer : public Object {
 public:
  virtual Tensor operator()(const Tensor& x) const = 0;  // a scalar

  // throws: InvalidArgumentError that names what was received.
  static std::shared_ptr<Regularizer> get(const Json& identifier);
  std::string module() const override { return "keras.regularizers"; }
};
using RegularizerArg = Arg<Regularizer>;

struct L1Config {
  static constexpr const char* kClassName = "L1";
  double l1 = 0.01;
  void visit(ConfigVisitor& v) { v("l1", l1); }
};
class L1Regularizer : public Configured<Regularizer, L1Config> {
 public:
  explicit L1Regularizer(L1Config config);
  Tensor operator()(const Tensor& x) const override;
};

struct L2Config {
  static constexpr const char* kClassName = "L2";
  double l2 = 0.01;
  void visit(ConfigVisitor& v) { v("l2", l2); }
};
class L2Regularizer : public Configured<Regularizer, L2Config> {
 public:
  explicit L2Regularizer(L2Config config);
  Tensor operator()(const Tensor& x) const override;
};

struct L1L2Config {
  static constexpr const char* kClassName = "L1L2";
  double l1 = 0, l2 = 0;
  void visit(ConfigVisitor& v) {
    v("l1", l1);
    v("l2", l2);
  }
};
class L1L2Regularizer : public Configured<Regularizer, L1L2Config> {
 public:
  explicit L1L2Regularizer(L1L2Config config);
  Tensor operator()(const Tensor& x) const override;
};

struct OrthogonalRegularizerConfig {
  static constexpr const char* kClassName = "OrthogonalRegularizer";
  double factor = 0.01;
  std::string mode = "rows";  // or "columns"
  void visit(ConfigVisitor& v) {
    v("factor", factor);
    v("mode", mode);
  }
};
// factor * the mean of |products| of different rows or columns, each of length 1.
class OrthogonalRegularizer : public Configured<Regularizer, OrthogonalRegularizerConfig> {
 public:
  explicit OrthogonalRegularizer(OrthogonalRegularizerConfig config);
  Tensor operator()(const Tensor& x) const override;
};

namespace regularizers {
using L1 = Ref<L1Regularizer>;
using L2 = Ref<L2Regularizer>;
using L1L2 = Ref<L1L2Regularizer>;
using Orthogonal = Ref<OrthogonalRegularizer>;
}  // namespace regularizers

}  // namespace plimsoll::keras
