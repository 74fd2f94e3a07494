// {"do": "optimizer"}, {"do": "loss"} and {"do": "metric"}: what training consists of.
#include "keras/backend.h"
#include "oracle/keras/server.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/constraints.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

Tensor tensor_or_none(const Json& request, std::string_view name) {
  const Json* found = request.find(name);
  return found && !found->is_null() ? to_tensor(*found) : Tensor();
}
bool flag(const Json& request, std::string_view name) {
  const Json* found = request.find(name);
  return found && !found->is_null() && found->as_bool();
}

std::vector<keras::VariablePtr> make_variables(const Json& request) {
  std::vector<keras::VariablePtr> made;
  const Json* constraints = request.find("constraints");
  for (const Tensor& value : to_tensors(request.at("variables"))) {
    const std::size_t i = made.size();
    const std::string& name = request.at("names").as_array()[i].as_string();
    keras::VariableInfo info{.name = name, .path = name};
    if (constraints && !constraints->is_null())
      from_config(constraints->as_array()[i], info.constraint);
    made.push_back(std::make_shared<keras::Variable>(value, info));
  }
  return made;
}

std::vector<Tensor> values_of(std::span<const keras::VariablePtr> variables) {
  std::vector<Tensor> values;
  for (const auto& v : variables) values.push_back(v->raw().value());
  return values;
}

// One step, as a function if that is asked for: gradients that are there are its inputs.
void apply(keras::Optimizer& optimizer, const std::vector<Tensor>& gradients, bool traced) {
  if (!traced) return optimizer.apply(gradients);
  std::vector<Tensor> there;
  for (const Tensor& g : gradients) {
    if (g.is_valid()) there.push_back(g);
  }
  const auto step = function([&](std::span<const Tensor> in) {
    std::vector<Tensor> all(gradients.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (gradients[i].is_valid()) all[i] = in[next++];
    }
    optimizer.apply(all);
    return std::vector<Tensor>();
  });
  step(std::span<const Tensor>(there));
}

// "optimizer": its configuration; "variables", "names", "constraints"; "gradients": a list for each
// step; "traced"; "exclude": patterns; "rates": set before the steps of these numbers; "finalize".
Json run_optimizer(const Json& request) {
  const keras::OptimizerPtr optimizer = keras::Optimizer::get(request.at("optimizer"));
  Json reply = Json::object({{"config", optimizer->get_config()}});
  const auto variables = make_variables(request);
  if (const Json* exclude = request.find("exclude"); exclude && !exclude->is_null()) {
    std::vector<std::string> names;
    for (const Json& name : exclude->as_array()) names.push_back(name.as_string());
    optimizer->exclude_from_weight_decay({}, names);
  }
  optimizer->build(variables);
  Json names = Json::array();
  for (const auto& v : optimizer->variables()) names.push_back(v->path());
  reply["names"] = names;
  Json steps = Json::array();
  std::int64_t number = 0;
  for (const Json& gradients : request.at("gradients").as_array()) {
    if (const Json* rates = request.find("rates"); rates && rates->is_object()) {
      if (const Json* rate = rates->find(std::to_string(number)))
        optimizer->set_learning_rate(rate->as_double());
    }
    const Tensor rate = optimizer->learning_rate();
    apply(*optimizer, to_tensors(gradients), flag(request, "traced"));
    steps.push_back(Json::object({{"rate", from_tensor(rate)},
                                  {"iterations", optimizer->iterations()},
                                  {"variables", from_tensors(values_of(variables))},
                                  {"slots", from_tensors(values_of(optimizer->variables()))}}));
    ++number;
  }
  reply["steps"] = steps;
  if (flag(request, "finalize")) optimizer->finalize_variable_values();
  reply["final"] = from_tensors(values_of(variables));
  reply["config_after"] = optimizer->get_config();
  reply["scaled_loss"] = from_tensor(optimizer->scale_loss(fill({}, 1.5)));
  return reply;
}

// y_pred, with "mask", and with "activation": softmax or sigmoid of it, which carries its logits.
Tensor predictions(const Json& request, const Tensor& y_pred) {
  Tensor given = y_pred;
  if (const Json* activation = request.find("activation"); activation && activation->is_string()) {
    given = activation->as_string() == "softmax" ? nn::softmax(y_pred) : sigmoid(y_pred);
    keras::set_keras_logits(given, y_pred);
  }
  if (const Tensor mask = tensor_or_none(request, "mask"); mask.is_valid()) {
    if (given.impl() == y_pred.impl()) given = identity(y_pred);
    keras::set_keras_mask(given, mask);
  }
  return given;
}

// "loss": its configuration or name; "y_true", "y_pred", "sample_weight", "mask", "activation".
Json run_loss(const Json& request) {
  const keras::LossPtr loss = keras::Loss::get(request.at("loss"));
  const Tensor y_true = to_tensor(request.at("y_true"));
  const Tensor y_pred = to_tensor(request.at("y_pred"));
  const Tensor weight = tensor_or_none(request, "sample_weight");
  const auto compute = [&](const Tensor& predicted) {
    GradientTape tape;
    tape.watch(predicted);
    const Tensor value = (*loss)(y_true, predictions(request, predicted), weight);
    return std::vector<Tensor>{value, tape.gradient(value, predicted)};
  };
  const std::vector<Tensor> eager = compute(y_pred);
  const auto traced = function(compute)(y_pred);
  return Json::object({{"config", loss->get_config()},
                       {"name", loss->name()},
                       {"value", from_tensor(eager[0])},
                       {"gradient", from_tensor(eager[1])},
                       {"traced", from_tensors(traced)}});
}

// "metric": its configuration or name; "updates": a list of {"args": ..., "sample_weight", "mask"};
// "traced".
Json run_metric(const Json& request) {
  const keras::MetricPtr metric = keras::Metric::get(request.at("metric"));
  Json reply = Json::object({{"config", metric->get_config()}});
  Json results = Json::array();
  for (const Json& update : request.at("updates").as_array()) {
    const std::vector<Tensor> given = to_tensors(update.at("args"));
    const auto run = [&](std::span<const Tensor> in) {
      std::vector<Tensor> args(in.begin(), in.end());
      args.back() = predictions(update, args.back());
      metric->update_state(args, tensor_or_none(update, "sample_weight"));
      return std::vector<Tensor>();
    };
    if (flag(request, "traced")) {
      function(run)(std::span<const Tensor>(given));
    } else {
      run(given);
    }
    results.push_back(from_tensor(metric->result()));
  }
  reply["results"] = results;
  reply["variables"] = from_tensors(values_of(metric->variables()));
  metric->reset_state();
  reply["reset"] = from_tensors(values_of(metric->variables()));
  return reply;
}

constexpr HandlerRow kHandlers[] = {
    {"optimizer", run_optimizer}, {"loss", run_loss}, {"metric", run_metric}};

}  // namespace

std::span<const HandlerRow> training_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
