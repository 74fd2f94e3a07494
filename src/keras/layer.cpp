// Layers: configuration, weights, losses. How one is called is in layer_call.cpp.
#include "plimsoll/keras/layer.h"

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/names.h"
#include "keras/node.h"
#include "keras/op_layer.h"
#include "keras/registry.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {

bool CallArgs::option(std::string_view name, bool otherwise) const {
  const Json* found = options.find(name);
  return found && !found->is_null() ? found->as_bool() : otherwise;
}

Layer::Layer(LayerOptions options)
    : name_(std::move(options.name)),
      trainable_(options.trainable),
      policy_(std::move(options.dtype)),
      activity_regularizer_(std::move(options.activity_regularizer)) {}

Layer::~Layer() = default;

const std::string& Layer::name() const {
  if (name_.empty()) name_ = unique_name(to_snake_case(class_name()));
  return name_;
}

void visit_layer_options(ConfigVisitor& v, LayerOptions& options) {
  v("name", options.name);
  v("trainable", options.trainable);
  v("dtype", options.dtype);
  v.optional("activity_regularizer", options.activity_regularizer, RegularizerArg());
}

Json Layer::get_config() const {
  Json config = Json::object();
  ConfigVisitor visitor(config);
  LayerOptions options{name(), trainable_, policy_, activity_regularizer_};
  visit_layer_options(visitor, options);
  const_cast<Layer*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

LayerPtr Layer::get(const Json& identifier) {
  if (is_op(identifier)) return make_op_layer(identifier);
  return make_object_of<Layer>(identifier, layer_rows(), "layer");
}

void Layer::build(const Shapes&) {}

void Layer::ensure_built(const Shapes& input_shapes, const Shapes& named) {
  if (built_) return;
  const TracingScope now(nullptr);  // weights are made, not recorded
  const name_scope scope(name());
  named_shapes_ = named;
  build(input_shapes);
  build_shapes_ = input_shapes;
  built_ = true;
  for (const VariablePtr& v : variables_) {
    if (!trainable_) v->trainable = false;
  }
  for (const LayerPtr& layer : sublayers_) {
    if (!trainable_) layer->set_trainable(false);
  }
}

void Layer::set_trainable(bool value) {
  trainable_ = value;
  for (const VariablePtr& v : variables_) {
    if (v->raw().trainable())
      v->trainable = value;  // moving averages and the like stay as they are
  }
  for (const LayerPtr& layer : sublayers_) layer->set_trainable(value);
}

VariablePtr Layer::add_weight(WeightOptions options) {
  const TracingScope now(nullptr);
  const AutocastScope own_type(std::nullopt);
  const DType dtype = options.dtype.value_or(variable_dtype());
  if (!options.initializer) options.initializer = is_floating(dtype) ? "glorot_uniform" : "zeros";
  if (options.name.empty()) options.name = "variable";
  auto made = std::make_shared<Variable>(TensorSpec{dtype, options.shape}, options.initializer,
                                         VariableInfo{.name = options.name,
                                                      .path = name() + "/" + options.name,
                                                      .trainable = options.trainable,
                                                      .autocast = options.autocast,
                                                      .regularizer = std::move(options.regularizer),
                                                      .constraint = std::move(options.constraint)});
  if (!trainable_) made->trainable = false;
  variables_.push_back(made);
  return made;
}

void Layer::track_layer(LayerPtr layer, std::string attribute) {
  PLIMSOLL_CHECK(layer, InvalidArgumentError, "layer '{}' tracks a layer that is not there",
                 name());
  sublayers_.push_back(std::move(layer));
  attributes_.push_back(std::move(attribute));
}

std::vector<NamedLayer> Layer::named_sublayers() const {
  std::vector<NamedLayer> named;
  std::map<std::string, int> counts;
  for (std::size_t i = 0; i < sublayers_.size(); ++i) {
    std::string name = attributes_[i];
    if (dynamic_cast<const OpLayer*>(sublayers_[i].get())) continue;  // files do not count them
    if (name.empty() || name.back() == '/') {
      // Keras's own class has another name than the one that it is exported under.
      const std::string class_name = sublayers_[i]->class_name();
      name += class_name == "GroupQueryAttention" ? "grouped_query_attention"
                                                  : to_snake_case(class_name);
      if (const int number = counts[name]++; number > 0) name += fmt::format("_{}", number);
    }
    named.push_back({std::move(name), sublayers_[i]});
  }
  return named;
}

void Layer::set_path(const std::string& prefix) {
  const std::string path = prefix.empty() ? name() : prefix + "/" + name();
  for (const VariablePtr& v : variables_) v->set_path(path + "/" + v->name());
  for (const LayerPtr& layer : sublayers_) layer->set_path(path);
}

std::vector<Layer*> Layer::flatten_layers() const {
  std::vector<Layer*> found;
  std::unordered_set<const Layer*> seen;
  const auto visit = [&](const auto& self, const Layer& layer) -> void {
    for (const LayerPtr& inner : layer.sublayers_) {
      if (!seen.insert(inner.get()).second) continue;
      found.push_back(inner.get());
      self(self, *inner);
    }
  };
  visit(visit, *this);
  return found;
}

// A layer's own, trainable ones first, then those of the layers inside; each once.
std::vector<VariablePtr> Layer::weights() const {
  std::vector<VariablePtr> found;
  std::unordered_set<const Variable*> seen;
  const auto visit = [&](const auto& self, const Layer& layer) -> void {
    for (const bool is_trained : {true, false}) {
      for (const VariablePtr& v : layer.variables_) {
        if (v->raw().trainable() == is_trained && seen.insert(v.get()).second) found.push_back(v);
      }
    }
    for (const LayerPtr& inner : layer.sublayers_) self(self, *inner);
  };
  visit(visit, *this);
  return found;
}

std::vector<VariablePtr> Layer::variables() const {
  std::vector<VariablePtr> found = weights();
  for (const auto& metric : metrics()) {
    const auto more = metric->variables();
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

std::vector<VariablePtr> Layer::trainable_weights() const {
  std::vector<VariablePtr> found = weights();
  std::erase_if(found, [](const VariablePtr& v) { return !v->trainable; });
  return found;
}
std::vector<VariablePtr> Layer::non_trainable_weights() const {
  std::vector<VariablePtr> found = weights();
  std::erase_if(found, [](const VariablePtr& v) { return v->trainable; });
  return found;
}

std::int64_t Layer::count_params() const {
  PLIMSOLL_CHECK(built_, FailedPreconditionError,
                 "You tried to call `count_params` on layer '{}', but the layer isn't built. You "
                 "can build it manually via: `layer.build(input_shape)`.",
                 name());
  std::int64_t num = 0;
  for (const VariablePtr& v : weights()) num += v->shape().num_elements();
  return num;
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const VariablePtr& v : weights()) values.push_back(v->raw().value());
  return values;
}

void Layer::set_weights(std::span<const Tensor> values) {
  const std::vector<VariablePtr> mine = weights();
  PLIMSOLL_CHECK(mine.size() == values.size(), InvalidArgumentError,
                 "You called `set_weights(weights)` on layer '{}' with a weight list of length {}, "
                 "but the layer was expecting {} weights.",
                 name(), values.size(), mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    PLIMSOLL_CHECK(values[i].is_valid() && values[i].shape() == mine[i]->shape(),
                   InvalidArgumentError,
                   "Layer {} weight shape {} is not compatible with provided weight shape {}.",
                   name(), PartialShape(mine[i]->shape()).to_string(),
                   values[i].is_valid() ? PartialShape(values[i].shape()).to_string() : "None");
  }
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i]->assign(values[i]);
}

std::vector<Tensor> Layer::losses() const {
  std::vector<Tensor> found = losses_;
  const std::vector<Layer*> inner = flatten_layers();
  for (const Layer* layer : inner)
    found.insert(found.end(), layer->losses_.begin(), layer->losses_.end());
  for (const VariablePtr& v : trainable_weights()) {
    if (v->regularizer()) found.push_back((*v->regularizer())(v->raw().value()));
  }
  return found;
}

void Layer::add_loss(const Tensor& loss) {
  PLIMSOLL_CHECK(loss.is_valid(), InvalidArgumentError,
                 "add_loss of layer '{}' got an empty Tensor", name());
  losses_.push_back(loss);
}

void Layer::add_metric(const Tensor& value, const std::string& metric_name) {
  auto found =
      std::ranges::find_if(metrics_, [&](const auto& m) { return m->name() == metric_name; });
  if (found == metrics_.end()) {
    metrics_.push_back(
        std::make_shared<MeanMetric>(MeanConfig{}, MetricOptions{.name = metric_name}));
    found = std::prev(metrics_.end());
  }
  (*found)->update_with(value);
}

std::vector<std::shared_ptr<Metric>> Layer::metrics() const {
  std::vector<std::shared_ptr<Metric>> found = metrics_;
  for (const Layer* layer : flatten_layers())
    found.insert(found.end(), layer->metrics_.begin(), layer->metrics_.end());
  return found;
}

void Layer::clear_losses() const {
  losses_.clear();
  for (const Layer* layer : flatten_layers()) layer->losses_.clear();
}

}  // namespace plimsoll::keras
