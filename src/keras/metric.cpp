#include "plimsoll/keras/metric.h"

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

MetricOptions with_default_name(MetricOptions options, const char* class_name, const char* name) {
  if (options.name.empty()) options.name = name ? name : unique_name(to_snake_case(class_name));
  return options;
}

void visit_metric_options(ConfigVisitor& v, MetricOptions& options) {
  v("name", options.name);
  v("dtype", options.dtype);
}

}  // namespace plimsoll::keras
