#include "keras/saving/dialect.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/check.h"
#include "keras/op_layer.h"
#include "keras/saving/dialect_nodes.h"
#include "plimsoll/keras/activations.h"

namespace plimsoll::keras {
namespace {

const std::string& class_of(const Json& object) {
  const Json* name = object.find("class_name");
  PLIMSOLL_CHECK(name && name->is_string(), InvalidArgumentError,
                 "expected an object with a class_name, found: {}", object.dump().substr(0, 200));
  return name->as_string();
}

// A member that earlier versions wrote under another name.
struct Renamed {
  const char* class_name;
  const char* from;
  const char* to;
};
constexpr Renamed kRenamed[] = {
    {"LeakyReLU", "alpha", "negative_slope"},
    {"InputLayer", "batch_input_shape", "batch_shape"},
};
// Members without a meaning here, of all classes unless one is named.
struct Dropped {
  const char* class_name;
  const char* name;
};
constexpr Dropped kDropped[] = {
    {nullptr, "batch_input_shape"},
    {"Embedding", "input_length"},
    {"LSTM", "implementation"},
    {"GRU", "implementation"},
    {"SimpleRNN", "implementation"},
    {"LSTMCell", "implementation"},
    {"GRUCell", "implementation"},
    {"LSTM", "time_major"},
    {"GRU", "time_major"},
    {"SimpleRNN", "time_major"},
    {"RNN", "time_major"},
    {"MultiHeadAttention", "query_shape"},
    {"MultiHeadAttention", "key_shape"},
    {"MultiHeadAttention", "value_shape"},
    {"Conv1DTranspose", "groups"},
    {"Conv2DTranspose", "groups"},
    {"Conv3DTranspose", "groups"},
    {"DepthwiseConv1D", "groups"},
    {"DepthwiseConv2D", "groups"},
    {"SeparableConv1D", "groups"},
    {"SeparableConv2D", "groups"},
    {"BatchNormalization", "virtual_batch_size"},
    {"BatchNormalization", "fused"},
    {"BatchNormalization", "adjustment"},
};
// Classes whose names have changed.
struct NewName {
  const char* from;
  const char* to;
};
constexpr NewName kNewNames[] = {
    {"BatchNormalizationV1", "BatchNormalization"},
    {"BatchNormalizationV2", "BatchNormalization"},
    {"Custom>Rescaling", "Rescaling"},
};
// Layers that hold code of their own in a file, which is not run.
constexpr const char* kCode[] = {"Lambda", "TensorFlowOpLayer"};

void check_is_data(const std::string& class_name, const Json& row) {
  for (const char* code : kCode) {
    PLIMSOLL_CHECK(
        class_name != code, UnimplementedError,
        "layer '{}' is a {}: it holds Python code, which is not run. Write it as a layer "
        "of your own, or of the layers and ops that are there",
        row.find("name") ? row.at("name").dump() : "", class_name);
  }
}

// {"class_name": "__tuple__", "items": [...]} and the like as what they hold.
Json decoded(const Json& json) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& item : json.as_array()) list.push_back(decoded(item));
    return list;
  }
  if (!json.is_object()) return json;
  const Json* class_name = json.find("class_name");
  const Json* items = json.find("items");
  if (class_name && class_name->is_string() && items && items->is_array() &&
      (class_name->as_string() == "__tuple__" || class_name->as_string() == "TensorShape"))
    return decoded(*items);
  Json object = Json::object();
  for (const auto& [key, value] : json.as_object()) object[key] = decoded(value);
  return object;
}

void fix_initializers(Json& config) {
  for (auto& [key, value] : config.as_object()) {
    if (!key.ends_with("_initializer") || !value.is_object()) continue;
    if (Json* inner = const_cast<Json*>(value.find("config")); inner && inner->is_object())
      inner->erase("dtype");
  }
}

// [3] where one number is meant.
void fix_axis(Json& config) {
  const Json* axis = config.find("axis");
  if (axis && axis->is_array() && axis->as_array().size() == 1)
    config["axis"] = Json(axis->as_array()[0]);
}

// A function that has kept its name and changed its values.
void fix_activations(Json& config) {
  for (auto& [key, value] : config.as_object()) {
    if (key.ends_with("activation") && value == Json("hard_sigmoid"))
      value = Json(activations::kKeras2HardSigmoid);
  }
}

void upgrade_layer(Json& row, bool is_keras2);

// A layer inside of another's configuration: of wrappers and of cells.
void upgrade_inner(Json& value, bool is_keras2) {
  if (value.is_array()) {
    for (Json& item : value.as_array()) upgrade_inner(item, is_keras2);
  } else if (value.is_object() && value.find("class_name") && value.find("config")) {
    upgrade_layer(value, is_keras2);
  }
}

void fix_members(const std::string& class_name, Json& config, bool is_keras2) {
  for (const Renamed& r : kRenamed) {
    const Json* old = class_name == r.class_name ? config.find(r.from) : nullptr;
    if (!old) continue;
    config[r.to] = Json(*old);
    config.erase(r.from);
  }
  if (const Json* major = config.find("time_major"); major && major->is_bool())
    PLIMSOLL_CHECK(!major->as_bool(), UnimplementedError,
                   "{} with time_major=true is not read: sequences are [batch, time, ...] here",
                   class_name);
  for (const Dropped& d : kDropped) {
    if (!d.class_name || class_name == d.class_name) config.erase(d.name);
  }
  if (class_name == "BatchNormalization") fix_axis(config);
  fix_initializers(config);
  if (is_keras2) fix_activations(config);
  for (const char* inner : {"layer", "backward_layer", "cell", "cells"}) {
    if (config.find(inner)) upgrade_inner(config[inner], is_keras2);
  }
}

// The first layer's batch_input_shape was the input of a Sequential model.
void add_input(Json& layers) {
  if (layers.as_array().empty()) return;
  const Json& first = layers.as_array()[0];
  if (class_of(first) == "InputLayer") return;
  const Json* shape = first.at("config").find("batch_input_shape");
  if (!shape || !shape->is_array()) return;
  const Json* dtype = first.at("config").find("dtype");
  const Json* name = first.at("config").find("name");
  Json input = Json::object({{"class_name", "InputLayer"}});
  input["config"] = Json::object(
      {{"batch_shape", *shape},
       {"dtype",
        dtype && dtype->is_string() && class_of(first) != "Embedding" ? *dtype : Json("float32")},
       {"name", (name && name->is_string() ? name->as_string() : "layer") + "_input"}});
  Json::Array all{std::move(input)};
  for (Json& layer : layers.as_array()) all.push_back(std::move(layer));
  layers = Json(std::move(all));
}

bool is_model(const std::string& class_name) {
  return class_name == "Functional" || class_name == "Model" || class_name == "Sequential";
}

void upgrade_layers(const std::string& class_name, Json& config) {
  if (config.is_array()) {  // Sequential models of the first years
    Json layers = std::move(config);
    config = Json::object({{"name", "sequential"}, {"layers", std::move(layers)}});
  }
  const Json* found = config.find("layers");
  PLIMSOLL_CHECK(found && found->is_array(), InvalidArgumentError,
                 "a model of class {} has no list of layers: {}", class_name,
                 config.dump().substr(0, 200));
  Json& layers = config["layers"];
  const bool is_keras2 = has_keras2_nodes(layers) || has_keras2_inputs(layers);
  if (class_name == "Sequential") add_input(layers);
  for (Json& row : layers.as_array()) {
    mark_op(row, is_keras2);
    upgrade_layer(row, is_keras2);
  }
  if (class_name != "Sequential") upgrade_nodes(config);
}

void upgrade_layer(Json& row, bool is_keras2) {
  std::string class_name = class_of(row);
  for (const NewName& n : kNewNames) {
    if (class_name != n.from) continue;
    class_name = n.to;
    row["class_name"] = n.to;
  }
  check_is_data(class_name, row);
  if (is_op(row)) return;
  if (!row.find("config")) row["config"] = Json::object();
  Json& config = row["config"];
  if (is_model(class_name)) {
    upgrade_layers(class_name, config);
  } else if (config.is_object()) {
    fix_members(class_name, config, is_keras2);
  }
}

}  // namespace

Json upgrade_model_config(const Json& given) {
  Json model = decoded(given);
  upgrade_layer(model, false);
  return model;
}

Json upgrade_optimizer_config(const Json& given) {
  Json optimizer = decoded(given);
  if (!optimizer.is_object() || !optimizer.find("config")) return optimizer;
  Json& config = optimizer["config"];
  if (const Json* inner = config.find("inner_optimizer"); inner && inner->is_object())
    config["inner_optimizer"] = upgrade_optimizer_config(*inner);
  if (const Json* rate = config.find("lr")) {
    config["learning_rate"] = Json(*rate);
    config.erase("lr");
  }
  const Json* decay = config.find("decay");
  const Json* rate = config.find("learning_rate");
  if (decay && decay->is_number() && decay->as_double() != 0 && rate && rate->is_number()) {
    // rate / (1 + decay * steps)
    config["learning_rate"] =
        Json::object({{"class_name", "InverseTimeDecay"},
                      {"config", Json::object({{"initial_learning_rate", *rate},
                                               {"decay_steps", 1},
                                               {"decay_rate", *decay},
                                               {"staircase", false},
                                               {"name", "InverseTimeDecay"}})}});
  }
  for (const char* name : {"decay", "jit_compile", "is_legacy_optimizer"}) config.erase(name);
  if (const Json* decays = config.find("weight_decay"); decays && decays->is_bool())
    config["weight_decay"] = Json();
  return optimizer;
}

Json upgrade_function_config(const Json& given) {
  Json object = decoded(given);
  if (!object.is_object()) return object;
  const Json* class_name = object.find("class_name");
  if (!class_name || !class_name->is_string()) return object;
  // A function of Keras's by its name.
  if (class_name->as_string() == "function") return object.at("config");
  const Json* config = object.find("config");
  if (!config || !config->is_object()) return object;
  const Json* function = config->find("fn");
  if (class_name->as_string() == "MeanMetricWrapper" ||
      class_name->as_string() == "SumOverBatchSizeMetricWrapper" ||
      class_name->as_string() == "LossFunctionWrapper")
    return function ? upgrade_function_config(*function) : object;
  Json& fixed = object["config"];
  fixed.erase("fn");
  if (const Json* reduction = fixed.find("reduction");
      reduction && reduction->is_string() && reduction->as_string() == "auto")
    fixed["reduction"] = "sum_over_batch_size";
  return object;
}

}  // namespace plimsoll::keras
