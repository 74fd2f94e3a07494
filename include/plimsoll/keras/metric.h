// What is watched while a model is trained or evaluated: a few variables, updated batch by batch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/keras/initializers.h"
#include "plimsoll/keras/object.h"
#include "plimsoll/keras/variable.h"

namespace plimsoll::keras {

struct MetricOptions {
  std::string name = {};            // none: made of the class name
  std::optional<DType> dtype = {};  // none: float32, of intersections int64
};

class Metric : public Object {
 public:
  explicit Metric(MetricOptions options = {})
      : name_(std::move(options.name)), dtype_(options.dtype.value_or(DType::kFloat32)) {}

  // Adds a batch: {values} for means and sums, {y_true, y_pred} for the others. In a function the
  // variables are written when it runs.
  virtual void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) = 0;
  virtual Tensor result() const = 0;
  // Variables as they were at first.
  virtual void reset_state();

  void update_with(const Tensor& values, const Tensor& sample_weight = {});
  void update_with(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight);

  const std::string& name() const;
  void set_name(std::string name) { name_ = std::move(name); }
  DType dtype() const noexcept { return dtype_; }
  const std::vector<VariablePtr>& variables() const noexcept { return variables_; }
  std::string module() const override { return "keras.metrics"; }
  Json get_config() const override;

  // By name ("accuracy" is resolved by the model: see resolve_accuracy) or configuration. throws:
  // InvalidArgumentError.
  static std::shared_ptr<Metric> get(const Json& identifier);

 protected:
  VariablePtr add_variable(const Shape& shape, const InitializerArg& initializer,
                           const std::string& name, std::optional<DType> dtype = {});

 private:
  mutable std::string name_;
  DType dtype_;
  std::vector<VariablePtr> variables_;
  std::vector<InitializerArg> initializers_;
};
using MetricPtr = std::shared_ptr<Metric>;
using MetricArg = Arg<Metric>;

// A shared metric of class Impl.
template <class Impl>
class MetricRef : public std::shared_ptr<Impl> {
 public:
  MetricRef() : MetricRef(typename Impl::Config{}) {}
  MetricRef(typename Impl::Config config, MetricOptions options = {})
      : std::shared_ptr<Impl>(std::make_shared<Impl>(std::move(config), std::move(options))) {}
};

// A metric of class Base with the configuration C. C::kName is its name unless one is given;
// without it the name is made of the class name, and numbered.
MetricOptions with_default_name(MetricOptions options, const char* class_name, const char* name);
template <class Base, class C>
class ConfiguredMetric : public Configured<Base, C> {
 public:
  explicit ConfiguredMetric(C config, MetricOptions options = {})
      : Configured<Base, C>(std::move(config),
                            with_default_name(std::move(options), C::kClassName, default_name())) {}

 private:
  static constexpr const char* default_name() {
    if constexpr (requires { C::kName; }) {
      return C::kName;
    } else {
      return nullptr;
    }
  }
};

// Reads what all metrics have in their configuration.
void visit_metric_options(ConfigVisitor& v, MetricOptions& options);
template <class Impl>
std::shared_ptr<Object> make_metric_of_config(const Json& config) {
  typename Impl::Config read;
  MetricOptions options;
  ConfigVisitor visitor(config, Impl::kClassName);
  visit_metric_options(visitor, options);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read), std::move(options));
}

}  // namespace plimsoll::keras
