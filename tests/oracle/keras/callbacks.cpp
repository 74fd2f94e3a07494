// {"do": "callback"}: a callback that is told of epochs which never were.
#include <filesystem>
#include <fstream>

#include "oracle/keras/server.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

// Members of the request's "config".
struct Options {
  const Json& config;

  std::string text(const char* name, const char* otherwise) const {
    const Json* found = config.find(name);
    return found ? found->as_string() : otherwise;
  }
  double number(const char* name, double otherwise) const {
    const Json* found = config.find(name);
    return found ? found->as_double() : otherwise;
  }
  std::int64_t count(const char* name, std::int64_t otherwise) const {
    const Json* found = config.find(name);
    return found ? found->as_int() : otherwise;
  }
  bool flag(const char* name) const {
    const Json* found = config.find(name);
    return found && found->as_bool();
  }
  std::optional<double> maybe(const char* name) const {
    const Json* found = config.find(name);
    return found && !found->is_null() ? std::optional(found->as_double()) : std::nullopt;
  }
};

// Notes where it would write.
class NotedCheckpoint : public keras::ModelCheckpointCallback {
 public:
  using ModelCheckpointCallback::ModelCheckpointCallback;
  Json paths = Json::array();

 protected:
  void write(const std::string& path) override { paths.push_back(path); }
};

keras::CallbackPtr make_monitor(const std::string& name, const Options& o) {
  if (name == "EarlyStopping")
    return keras::callbacks::EarlyStopping({.monitor = o.text("monitor", "val_loss"),
                                            .min_delta = o.number("min_delta", 0),
                                            .patience = o.count("patience", 0),
                                            .mode = o.text("mode", "auto"),
                                            .baseline = o.maybe("baseline"),
                                            .restore_best_weights = o.flag("restore_best_weights"),
                                            .start_from_epoch = o.count("start_from_epoch", 0)});
  if (name == "ReduceLROnPlateau")
    return keras::callbacks::ReduceLROnPlateau({.monitor = o.text("monitor", "val_loss"),
                                                .factor = o.number("factor", 0.1),
                                                .patience = o.count("patience", 10),
                                                .mode = o.text("mode", "auto"),
                                                .min_delta = o.number("min_delta", 1e-4),
                                                .cooldown = o.count("cooldown", 0),
                                                .min_lr = o.number("min_lr", 0)});
  keras::SaveFreq freq = "epoch";
  if (const Json* found = o.config.find("save_freq")) {
    if (found->is_string()) {
      freq = found->as_string();
    } else {
      freq = found->as_int();
    }
  }
  return std::make_shared<NotedCheckpoint>(
      keras::ModelCheckpointConfig{.filepath = o.text("filepath", ""),
                                   .monitor = o.text("monitor", "val_loss"),
                                   .save_best_only = o.flag("save_best_only"),
                                   .save_weights_only = o.flag("save_weights_only"),
                                   .mode = o.text("mode", "auto"),
                                   .save_freq = freq,
                                   .initial_value_threshold = o.maybe("initial_value_threshold")});
}

keras::CallbackPtr make_callback(const std::string& name, const Options& o) {
  if (name == "CSVLogger")
    return keras::callbacks::CSVLogger({.filename = o.text("filename", ""),
                                        .separator = o.text("separator", ","),
                                        .append = o.flag("append")});
  if (name == "TerminateOnNaN")
    return keras::callbacks::TerminateOnNaN({.raise_error = o.flag("raise_error")});
  if (name == "LearningRateScheduler")  // the rate times a number, from an epoch on
    return keras::callbacks::LearningRateScheduler(
        {.schedule = [by = o.number("by", 1), from = o.count("from", 0)](std::int64_t epoch,
                                                                         double rate) {
          return epoch < from ? rate : rate * by;
        }});
  return make_monitor(name, o);
}

keras::Logs to_logs(const Json& json) {
  keras::Logs logs;
  for (const auto& [name, value] : json.as_object())  // words are what JSON has no numbers for
    logs.emplace_back(name, value.is_string() ? std::stod(value.as_string()) : value.as_double());
  return logs;
}

// One weight, whose value is the number of the epoch; it has been trained on a batch, so that there
// are metrics.
keras::Sequential make_model(const Json& request) {
  auto model =
      keras::Sequential({keras::Input({1}), keras::layers::Dense({.units = 1, .use_bias = false})});
  keras::MetricSpec::List metrics;
  for (const Json& name : request.at("metrics").as_array())
    metrics.push_back(keras::MetricSpecItem(name.as_string()));
  model->compile({.optimizer = keras::optimizers::SGD(
                      {.learning_rate = request.at("learning_rate").as_double()}),
                  .loss = keras::LossArg("mse"),
                  .metrics = metrics});
  model->train_on_batch(zeros({2, 1}), zeros({2, 1}));
  return model;
}

double rate_of(const keras::Model& model) {
  return cast(model.optimizer()->learning_rate(), float64).item<double>();
}

// "class", "config": of the callback; "learning_rate", "metrics": of the model; "epochs": of each
// its "logs" and, where the callback looks at them, those of "batches".
Json run_callback(const Json& request) {
  const std::string& name = request.at("class").as_string();
  const keras::CallbackPtr callback = make_callback(name, {request.at("config")});
  const auto model = make_model(request);
  callback->set_model(model.get());
  callback->set_params({});
  callback->on_train_begin({});
  Json epochs = Json::array();
  std::int64_t epoch = 0;
  for (const Json& item : request.at("epochs").as_array()) {
    const Tensor weight = fill({1, 1}, static_cast<double>(epoch));
    model->set_weights(std::span(&weight, 1));
    callback->on_epoch_begin(epoch, {});
    std::int64_t batch = 0;
    if (const Json* batches = item.find("batches")) {
      for (const Json& logs : batches->as_array()) {
        callback->on_train_batch_begin(batch, {});
        callback->on_train_batch_end(batch++, to_logs(logs));
      }
    }
    keras::Logs logs = to_logs(item.at("logs"));
    callback->on_epoch_end(epoch++, logs);
    Json names = Json::array();
    for (const auto& row : logs) names.push_back(row.first);
    epochs.push_back(Json::object(
        {{"stop", model->stop_training}, {"learning_rate", rate_of(*model)}, {"names", names}}));
    if (model->stop_training) break;
  }
  callback->on_train_end({});
  Json reply = Json::object({{"epochs", epochs}});
  reply["weight"] = static_cast<double>(model->get_weights()[0].to_vector<float>()[0]);
  if (const auto* early = dynamic_cast<keras::EarlyStoppingCallback*>(callback.get())) {
    reply["stopped_epoch"] = early->stopped_epoch;
    reply["best_epoch"] = early->best_epoch;
    reply["wait"] = early->wait;
  }
  if (const auto* checkpoint = dynamic_cast<NotedCheckpoint*>(callback.get()))
    reply["paths"] = checkpoint->paths;
  return reply;
}

constexpr HandlerRow kHandlers[] = {{"callback", run_callback}};

}  // namespace

std::span<const HandlerRow> callback_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
