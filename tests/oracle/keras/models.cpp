// {"do": "train"}: a model made of its configuration, compiled, and trained batch by batch.
// {"do": "fit"}: the same by fit, with the peaks that were planned and measured.
#include "oracle/keras/server.h"
#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

using keras::Nested;

keras::ModelPtr read_model(const Json& request) {
  auto model = std::dynamic_pointer_cast<keras::Model>(keras::Layer::get(request.at("model")));
  if (!model) throw InvalidArgumentError("the configuration is not that of a model");
  if (const Json* weights = request.find("weights"); weights && !weights->is_null())
    model->set_weights(to_tensors(*weights));
  if (const Json* frozen = request.find("frozen")) {
    for (const Json& name : frozen->as_array())
      model->get_layer(name.as_string())->set_trainable(false);
  }
  return model;
}

template <class Leaf, class F>
Nest<Leaf> read_spec(const Json& json, const F& make) {
  if (json.is_null()) return {};
  if (json.is_array()) {
    typename Nest<Leaf>::List list;
    for (const Json& item : json.as_array()) list.push_back(read_spec<Leaf>(item, make));
    return list;
  }
  if (json.is_object() && !json.find("class_name")) {
    typename Nest<Leaf>::Dict dict;
    for (const auto& [key, item] : json.as_object())
      dict.emplace_back(key, read_spec<Leaf>(item, make));
    return dict;
  }
  return Nest<Leaf>(make(json));
}

}  // namespace

void compile(keras::Model& model, const Json& config) {
  keras::CompileOptions options;
  options.optimizer = keras::OptimizerArg(config.at("optimizer"));
  if (const Json* loss = config.find("loss"))
    options.loss =
        read_spec<keras::LossArg>(*loss, [](const Json& j) { return keras::LossArg(j); });
  const auto metric = [](const Json& j) {
    return j.is_string() ? keras::MetricSpecItem(j.as_string())
                         : keras::MetricSpecItem(keras::Metric::get(j));
  };
  if (const Json* metrics = config.find("metrics"))
    options.metrics = read_spec<keras::MetricSpecItem>(*metrics, metric);
  if (const Json* metrics = config.find("weighted_metrics"))
    options.weighted_metrics = read_spec<keras::MetricSpecItem>(*metrics, metric);
  if (const Json* weights = config.find("loss_weights"))
    options.loss_weights = read_spec<double>(*weights, [](const Json& j) { return j.as_double(); });
  model.compile(options);
}

Json from_logs(const keras::Logs& logs) {
  Json json = Json::object();
  for (const auto& [name, value] : logs) json[name] = value;
  return json;
}

namespace {

// "batches": lists {x, y, sample_weight}. Answers the logs of each batch by itself, the weights and
// the predictions for "x" afterwards.
Json run_train(const Json& request) {
  const keras::ModelPtr model = read_model(request);
  compile(*model, request.at("compile"));
  Json logs = Json::array();
  for (const Json& batch : request.at("batches").as_array()) {
    const Nested data = to_nested(batch);
    const keras::Logs made =
        model->train_on_batch(data[0], data[1], data.size() > 2 ? data[2] : Nested());
    model->reset_metrics();
    logs.push_back(from_logs(made));
  }
  Json reply = Json::object({{"logs", std::move(logs)}, {"config", model->get_config()}});
  reply["weights"] = from_tensors(model->get_weights());
  if (const Json* x = request.find("x"); x && !x->is_null()) {
    std::vector<Tensor> predicted;
    model->predict(to_nested(*x), {.verbose = keras::Verbose::kSilent})
        .for_each([&](const keras::Value& v) { predicted.push_back(v.tensor()); });
    reply["predictions"] = from_tensors(predicted);
  }
  return reply;
}

// "x", "y", "options": of fit.
Json run_fit(const Json& request) {
  const keras::ModelPtr model = read_model(request);
  compile(*model, request.at("compile"));
  const Json& given = request.at("options");
  keras::FitOptions options{.verbose = keras::Verbose::kSilent};
  keras::ConfigVisitor v(given, "fit");
  v("batch_size", options.batch_size);
  v("epochs", options.epochs);
  v("shuffle", options.shuffle);
  v("validation_split", options.validation_split);
  v("initial_epoch", options.initial_epoch);
  v("steps_per_epoch", options.steps_per_epoch);
  if (const Json* weight = request.find("sample_weight"))
    options.sample_weight = to_nested(*weight);
  if (const Json* weights = request.find("class_weight"); weights && weights->is_object()) {
    for (const auto& [key, value] : weights->as_object())
      options.class_weight[std::stoll(key)] = value.as_double();
  }
  const auto history = model->fit(to_nested(request.at("x")), to_nested(request.at("y")), options);
  Json rows = Json::object();
  for (const auto& [name, values] : history->history) {
    Json list = Json::array();
    for (const double value : values) list.push_back(value);
    rows[name] = std::move(list);
  }
  return Json::object({{"history", std::move(rows)},
                       {"planned", static_cast<std::int64_t>(history->planned_peak_bytes)},
                       {"measured", static_cast<std::int64_t>(history->measured_peak_bytes)},
                       {"weights", from_tensors(model->get_weights())}});
}

constexpr HandlerRow kHandlers[] = {{"train", run_train}, {"fit", run_fit}};

}  // namespace

std::span<const HandlerRow> model_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
