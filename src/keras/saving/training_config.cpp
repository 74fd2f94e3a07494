#include "keras/saving/training_config.h"

#include "base/check.h"
#include "keras/saving/dialect.h"
#include "keras/trainer.h"

namespace plimsoll::keras {
namespace {

bool is_object_of_keras(const Json& json) {
  const Json* class_name = json.is_object() ? json.find("class_name") : nullptr;
  return class_name && class_name->is_string() && json.find("config");
}

// A structure whose leaves are strings, numbers and objects with a class.
template <class Leaf, class Read>
Nest<Leaf> read_nest(const Json& json, const Read& read) {
  if (json.is_null()) return {};
  if (json.is_array()) {
    typename Nest<Leaf>::List list;
    for (const Json& item : json.as_array()) list.push_back(read_nest<Leaf>(item, read));
    return list;
  }
  if (json.is_object() && !is_object_of_keras(json)) {
    typename Nest<Leaf>::Dict dict;
    for (const auto& [key, item] : json.as_object())
      dict.emplace_back(key, read_nest<Leaf>(item, read));
    return dict;
  }
  return Nest<Leaf>(read(json));
}

template <class Leaf, class Write>
Json write_nest(const Nest<Leaf>& nest, const Write& write) {
  if (nest.is_none()) return Json();
  if (nest.is_list()) {
    Json list = Json::array();
    for (const auto& item : nest.list()) list.push_back(write_nest(item, write));
    return list;
  }
  if (nest.is_dict()) {
    Json dict = Json::object();
    for (const auto& [key, item] : nest.dict()) dict[key] = write_nest(item, write);
    return dict;
  }
  return write(nest.leaf());
}

MetricSpecItem read_metric(const Json& json) {
  const Json upgraded = upgrade_function_config(json);
  // The name of a function stays a name: "accuracy" is resolved by the shapes.
  if (upgraded.is_string() && json.is_string()) return upgraded.as_string();
  const MetricPtr metric = Metric::get(upgraded);
  const Json* config = json.find("config");
  if (const Json* name = config ? config->find("name") : nullptr; name && name->is_string())
    metric->set_name(name->as_string());
  return metric;
}

Json write_metric(const MetricSpecItem& item) {
  return item.metric() ? serialize_keras_object(item.metric().get()) : Json(item.name());
}

MetricSpec read_metrics(const Json* json) {
  return json ? read_nest<MetricSpecItem>(*json, read_metric) : MetricSpec();
}

}  // namespace

CompileOptions read_training_config(const Json& config) try {
  CompileOptions options;
  const Json* optimizer = config.find("optimizer");
  if (!optimizer || optimizer->is_null()) optimizer = config.find("optimizer_config");
  if (optimizer && !optimizer->is_null())
    options.optimizer = Optimizer::get(upgrade_optimizer_config(*optimizer));
  if (const Json* loss = config.find("loss")) {
    options.loss = read_nest<LossArg>(
        *loss, [](const Json& json) { return LossArg(upgrade_function_config(json)); });
  }
  options.metrics = read_metrics(config.find("metrics"));
  options.weighted_metrics = read_metrics(config.find("weighted_metrics"));
  if (const Json* weights = config.find("loss_weights"))
    options.loss_weights =
        read_nest<double>(*weights, [](const Json& json) { return json.as_double(); });
  if (const Json* eager = config.find("run_eagerly"); eager && eager->is_bool())
    options.run_eagerly = eager->as_bool();
  if (const Json* scale = config.find("auto_scale_loss"); scale && scale->is_bool())
    options.auto_scale_loss = scale->as_bool();
  return options;
} catch (const std::exception& e) {
  throw InvalidArgumentError(
      fmt::format("the model was compiled with something that is not known here: {}. Load it with "
                  "compile=false, and compile it anew",
                  e.what()));
}

Json training_config(const Model& model) {
  const TrainerState& state = model.trainer();
  const CompileOptions& options = state.options;
  return Json::object(
      {{"optimizer", serialize_keras_object(state.optimizer.get())},
       {"loss", write_nest(options.loss, [](const LossArg& loss) { return to_config(loss); })},
       {"loss_weights", write_nest(options.loss_weights, [](double w) { return Json(w); })},
       {"metrics", write_nest(options.metrics, write_metric)},
       {"weighted_metrics", write_nest(options.weighted_metrics, write_metric)},
       {"run_eagerly", options.run_eagerly},
       {"steps_per_execution", 1},
       {"jit_compile", false}});
}

}  // namespace plimsoll::keras
