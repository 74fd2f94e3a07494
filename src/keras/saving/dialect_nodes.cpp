#include "keras/saving/dialect_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/check.h"
#include "keras/op_layer.h"

namespace plimsoll::keras {
namespace {

// TensorFlow's functions in models of Keras 2, and the op of Keras 3 that does the same.
struct FunctionRow {
  const char* function;  // "math.add"
  const char* op;        // "Add"
};
constexpr FunctionRow kFunctions[] = {
    {"__operators__.add", "Add"},
    {"math.add", "Add"},
    {"math.subtract", "Subtract"},
    {"math.multiply", "Multiply"},
    {"math.truediv", "TrueDivide"},
    {"math.divide", "TrueDivide"},
    {"math.floordiv", "FloorDivide"},
    {"math.pow", "Power"},
    {"math.maximum", "Maximum"},
    {"math.minimum", "Minimum"},
    {"math.negative", "Negative"},
    {"math.abs", "Absolute"},
    {"math.square", "Square"},
    {"math.sqrt", "Sqrt"},
    {"math.exp", "Exp"},
    {"math.log", "Log"},
    {"math.tanh", "Tanh"},
    {"math.sigmoid", "Sigmoid"},
    {"math.reduce_mean", "Mean"},
    {"math.reduce_sum", "Sum"},
    {"math.reduce_max", "Max"},
    {"math.reduce_min", "Min"},
    {"nn.relu", "Relu"},
    {"nn.relu6", "Relu6"},
    {"nn.sigmoid", "Sigmoid"},
    {"nn.softmax", "Softmax"},
    {"nn.gelu", "Gelu"},
    {"nn.silu", "Silu"},
    {"nn.swish", "Silu"},
    {"reshape", "Reshape"},
    {"transpose", "Transpose"},
    {"expand_dims", "ExpandDims"},
    {"squeeze", "Squeeze"},
    {"concat", "Concatenate"},
    {"stack", "Stack"},
    {"cast", "Cast"},
    {"clip_by_value", "Clip"},
    {"linalg.matmul", "Matmul"},
    {"__operators__.getitem", "GetItem"},
};
// What arguments of these functions are called in Keras 3.
struct ArgumentRow {
  const char* from;
  const char* to;
};
constexpr ArgumentRow kArguments[] = {
    {"y", "x2"},
    {"b", "x2"},
    {"shape", "newshape"},
    {"perm", "axes"},
    {"slice_spec", "key"},
    {"clip_value_min", "x_min"},
    {"clip_value_max", "x_max"},
};

bool is_place(const Json& json) {
  if (!json.is_array() || json.as_array().size() < 3) return false;
  const Json::Array& parts = json.as_array();
  return parts[0].is_string() && parts[1].is_int() && parts[2].is_int();
}

Json tensor_at(const Json& name, std::int64_t node, const Json& index) {
  return Json::object(
      {{"class_name", "__keras_tensor__"},
       {"config", Json::object({{"keras_history", Json::array({name, node, index})}})}});
}

// Which numbers the calls of a layer begin with. Models inside of a model that were made with an
// input of their own had a call already, which files do not have.
using FirstNodes = std::map<std::string, std::int64_t, std::less<>>;

class Nodes {
 public:
  explicit Nodes(Json& config) : config_(config) {
    for (const Json& row : config_.at("layers").as_array()) {
      names_.insert(name_of(row));
      if (is_nested_model(row)) first_[name_of(row)] = kUnknown;
    }
    for (const Json& row : config_.at("layers").as_array()) {
      if (const Json* nodes = row.find("inbound_nodes")) find_first(*nodes);
    }
    for (const char* end : {"input_layers", "output_layers"}) {
      if (const Json* places = config_.find(end)) find_first(*places);
    }
    for (auto& [name, first] : first_)
      first = first == kUnknown ? 0 : std::min<std::int64_t>(first, 1);
  }

  void upgrade() {
    for (Json& row : config_["layers"].as_array()) upgrade_row(row);
    for (const char* end : {"input_layers", "output_layers"}) {
      if (config_.find(end)) config_[end] = ends(config_[end]);
    }
    // One input in a list of one was one tensor.
    for (const char* end : {"input_layers", "output_layers"}) {
      Json& list = config_[end];
      if (has_lists_ && list.is_array() && list.as_array().size() == 1 &&
          is_place(list.as_array()[0]))
        list = Json(list.as_array()[0]);
    }
  }

 private:
  static constexpr std::int64_t kUnknown = 1 << 30;

  static std::string name_of(const Json& row) {
    if (const Json* name = row.find("name"); name && name->is_string()) return name->as_string();
    const Json* config = row.find("config");
    const Json* name = config ? config->find("name") : nullptr;
    PLIMSOLL_CHECK(name && name->is_string(), InvalidArgumentError,
                   "a layer of a model has no name: {}", row.dump().substr(0, 200));
    return name->as_string();
  }
  static bool is_nested_model(const Json& row) {
    const Json* config = row.find("config");
    return config && config->is_object() && config->find("layers");
  }

  bool is_tensor(const Json& json) const {
    return is_place(json) && names_.contains(json.as_array()[0].as_string());
  }
  void find_first(const Json& json) {
    if (json.is_object()) {
      if (const Json* history = json.find("keras_history")) return note(*history);
      for (const auto& [key, value] : json.as_object()) find_first(value);
      return;
    }
    if (!json.is_array()) return;
    if (is_tensor(json)) note(json);
    for (const Json& item : json.as_array()) find_first(item);
  }
  void note(const Json& place) {
    const auto found = first_.find(place.as_array()[0].as_string());
    if (found != first_.end())
      found->second = std::min(found->second, place.as_array()[1].as_int());
  }

  std::int64_t node_of(const Json::Array& parts) const {
    const auto found = first_.find(parts[0].as_string());
    return parts[1].as_int() - (found == first_.end() ? 0 : found->second);
  }
  Json tensor(const Json& place) const {
    const Json::Array& parts = place.as_array();
    return tensor_at(parts[0], node_of(parts), parts[2]);
  }

  // The structure of a first argument; collects the other arguments, which every tensor repeats.
  Json first_argument(const Json& json, Json& kwargs) const {
    if (json.is_array() && json.as_array().size() >= 3 && json.as_array()[0].is_string()) {
      const Json::Array& parts = json.as_array();
      if (parts.size() > 3 && parts[3].is_object()) kwargs = parts[3];
      if (parts[0].as_string() == "_CONSTANT_VALUE") return parts[2];
      PLIMSOLL_CHECK(is_tensor(json), InvalidArgumentError,
                     "a layer '{}' is used in a model and not among its layers",
                     parts[0].as_string());
      return tensor(json);
    }
    if (json.is_array()) {
      Json list = Json::array();
      for (const Json& item : json.as_array()) list.push_back(first_argument(item, kwargs));
      return list;
    }
    PLIMSOLL_CHECK(json.is_object(), InvalidArgumentError,
                   "a node of a model has an unknown form: {}", json.dump().substr(0, 200));
    Json dict = Json::object();
    for (const auto& [key, value] : json.as_object()) dict[key] = first_argument(value, kwargs);
    return dict;
  }
  // Tensors in other arguments are places without arguments.
  Json other_argument(const Json& json) const {
    if (is_tensor(json) && json.as_array().size() == 3) return tensor(json);
    if (json.is_array()) {
      Json list = Json::array();
      for (const Json& item : json.as_array()) list.push_back(other_argument(item));
      return list;
    }
    return json;
  }

  Json upgraded_node(const Json& node, bool is_an_op) const {
    Json kwargs = Json::object();
    Json first = first_argument(node, kwargs);
    // Layers with one input have it in a list.
    if (!is_an_op && first.is_array() && first.as_array().size() == 1)
      first = Json(first.as_array()[0]);
    Json args = Json::array({std::move(first)}), named = Json::object();
    for (const auto& [key, value] : kwargs.as_object()) {
      if (key == "name" && is_an_op) continue;
      std::string name = key;
      for (const ArgumentRow& row : kArguments) {
        if (is_an_op && key == row.from) name = row.to;
      }
      named[name] = other_argument(value);
    }
    return Json::object({{"args", std::move(args)}, {"kwargs", std::move(named)}});
  }

  // In the form of Keras 3 numbers alone can be off.
  Json renumbered(const Json& json) const {
    if (json.is_array()) {
      Json list = Json::array();
      for (const Json& item : json.as_array()) list.push_back(renumbered(item));
      return list;
    }
    if (!json.is_object()) return json;
    Json object = Json::object();
    for (const auto& [key, value] : json.as_object()) {
      object[key] =
          key == "keras_history" && is_place(value)
              ? Json::array({value.as_array()[0], node_of(value.as_array()), value.as_array()[2]})
              : renumbered(value);
    }
    return object;
  }

  void upgrade_row(Json& row) {
    row["name"] = name_of(row);
    const Json* nodes = row.find("inbound_nodes");
    if (!nodes) return;
    PLIMSOLL_CHECK(nodes->is_array(), InvalidArgumentError,
                   "layer '{}' of a model has nodes of an unknown form: {}", name_of(row),
                   nodes->dump().substr(0, 200));
    Json upgraded = Json::array();
    for (const Json& node : nodes->as_array()) {
      if (node.is_object() && node.find("args")) {
        upgraded.push_back(renumbered(node));
      } else {
        has_lists_ = true;
        upgraded.push_back(upgraded_node(node, is_op(row)));
      }
    }
    row["inbound_nodes"] = std::move(upgraded);
  }

  Json ends(const Json& json) const {
    if (is_place(json)) {
      const Json::Array& parts = json.as_array();
      return Json::array({parts[0], node_of(parts), parts[2]});
    }
    return renumbered_ends(json);
  }
  Json renumbered_ends(const Json& json) const {
    if (json.is_array()) {
      Json list = Json::array();
      for (const Json& item : json.as_array()) list.push_back(ends(item));
      return list;
    }
    if (!json.is_object()) return json;
    Json dict = Json::object();
    for (const auto& [key, value] : json.as_object()) dict[key] = ends(value);
    return dict;
  }

  Json& config_;
  std::set<std::string, std::less<>> names_;
  FirstNodes first_;
  bool has_lists_ = false;
};

}  // namespace

bool has_keras2_nodes(const Json& layers) {
  return std::ranges::any_of(layers.as_array(), [](const Json& row) {
    const Json* nodes = row.find("inbound_nodes");
    return nodes && nodes->is_array() && !nodes->as_array().empty() &&
           nodes->as_array()[0].is_array();
  });
}

bool has_keras2_inputs(const Json& layers) {
  return std::ranges::any_of(layers.as_array(), [](const Json& row) {
    const Json* config = row.find("config");
    return config && config->find("batch_input_shape");
  });
}

void mark_op(Json& row, bool is_keras2) {
  const Json* class_name = row.find("class_name");
  const Json* config = row.find("config");
  if (!class_name || !class_name->is_string() || !config || is_op(row)) return;
  const std::string& name = class_name->as_string();
  if (name == "TFOpLambda" || name == "SlicingOpLambda") {
    const std::string function =
        config->find("function") ? config->at("function").as_string() : "?";
    for (const FunctionRow& known : kFunctions) {
      if (function != known.function) continue;
      Json made = Json::object({{"name", config->at("name")}});
      row["class_name"] = known.op;
      row["module"] = "keras.src.ops.numpy";
      row["config"] = std::move(made);
      return;
    }
    throw UnimplementedError("the function tf." + function + " cannot be a node of a model here");
  }
  // An op's configuration has no type, as every layer's has.
  if (is_keras2 || row.find("module") || !config->is_object() || !row.find("inbound_nodes")) return;
  if (!config->find("dtype") && !config->find("trainable") && !config->find("layers") &&
      is_known_op(name))
    row["module"] = "keras.src.ops.numpy";
}

void upgrade_nodes(Json& config) {
  Nodes(config).upgrade();
}

}  // namespace plimsoll::keras
