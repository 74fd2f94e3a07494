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
  std::string name = {};  // none: made of the class name
  DType dtype = DType::kFloat32;
};

class Metric : public Object {
 public:
  explicit Metric(MetricOptions options = {})
      : name_(std::move(options.name)), dtype_(options.dtype) {}

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

  // By name ("accuracy" is resolved by the model) or configuration. throws: InvalidArgumentError.
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

struct MeanConfig {
  static constexpr const char* kClassName = "Mean";
  void visit(ConfigVisitor&) {}
};
// The weighted mean of all values.
class MeanMetric : public Configured<Metric, MeanConfig> {
 public:
  explicit MeanMetric(MeanConfig config, MetricOptions options = {});
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  VariablePtr total_, count_;
};

namespace metrics {
using Mean = MetricRef<MeanMetric>;
}  // namespace metrics

}  // namespace plimsoll::keras
