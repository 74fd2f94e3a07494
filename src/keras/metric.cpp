#include "plimsoll/keras/metric.h"

#include "base/check.h"
#include "keras/losses_util.h"
#include "keras/names.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {

const std::string& Metric::name() const {
  if (name_.empty()) name_ = unique_name(to_snake_case(class_name()));
  return name_;
}

Json Metric::get_config() const {
  Json config = Json::object({{"name", name()}, {"dtype", std::string(dtype_name(dtype_))}});
  ConfigVisitor visitor(config);
  const_cast<Metric*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

VariablePtr Metric::add_variable(const Shape& shape, const InitializerArg& initializer,
                                 const std::string& name, std::optional<DType> dtype) {
  const TracingScope now(nullptr);
  auto made = std::make_shared<Variable>(
      (*initializer)(shape, dtype.value_or(dtype_)),
      VariableInfo{
          .name = name, .path = this->name() + "/" + name, .trainable = false, .autocast = false});
  variables_.push_back(made);
  initializers_.push_back(initializer);
  return made;
}

void Metric::reset_state() {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const VariablePtr& v = variables_[i];
    v->assign((*initializers_[i])(v->shape(), v->dtype()));
  }
}

void Metric::update_with(const Tensor& values, const Tensor& sample_weight) {
  update_state(std::span(&values, 1), sample_weight);
}
void Metric::update_with(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
  const Tensor args[] = {y_true, y_pred};
  update_state(args, sample_weight);
}

MeanMetric::MeanMetric(MeanConfig config, MetricOptions options)
    : Configured(std::move(config), std::move(options)),
      total_(add_variable(Shape(), "zeros", "total")),
      count_(add_variable(Shape(), "zeros", "count")) {}

void MeanMetric::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 1, InvalidArgumentError,
                 "metric '{}' takes one tensor of values, received {}", name(), args.size());
  const Reduced reduced = reduce_to_samplewise_values(args[0], sample_weight, dtype());
  total_->assign_add(reduce_sum(reduced.values));
  count_->assign_add(
      reduced.weights.is_valid()
          ? reduce_sum(reduced.weights)
          : fill(Shape(), static_cast<double>(reduced.values.num_elements()), dtype()));
}

Tensor MeanMetric::result() const {
  return math::divide_no_nan(total_->value(), count_->value());
}

}  // namespace plimsoll::keras
