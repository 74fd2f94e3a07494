#include "keras/model_config.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"
#include "keras/functional.h"
#include "keras/layers/tables.h"
#include "plimsoll/keras/layers/core.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kModels[] = {
    {"Functional", make_functional},
    {"Model", make_functional},
    {"Sequential", make_sequential},
};

// Which of the calls of its layer a node is, among those of one model.
class NodeNumbers {
 public:
  explicit NodeNumbers(const FunctionalGraph& graph) {
    for (const auto& node : graph.nodes) {
      std::int64_t& count = counts_[node->layer.get()];
      numbers_[node.get()] = count++;
    }
  }
  std::int64_t of(const Node* node) const {
    const auto found = numbers_.find(node);
    return found == numbers_.end() ? 0 : found->second;  // inputs have one
  }

 private:
  std::unordered_map<const Layer*, std::int64_t> counts_;
  std::unordered_map<const Node*, std::int64_t> numbers_;
};

Json history_of(const KerasTensor& tensor, const NodeNumbers& numbers) {
  const KerasTensorState& state = *tensor.state();
  return Json::array({state.node->layer->name(), numbers.of(state.node.get()), state.index});
}

Json tensor_config(const KerasTensor& tensor, const NodeNumbers& numbers) {
  return Json::object({{"class_name", "__keras_tensor__"},
                       {"config", Json::object({{"shape", to_config(tensor.shape())},
                                                {"dtype", to_config(tensor.dtype())},
                                                {"keras_history", history_of(tensor, numbers)}})}});
}

template <class F>
Json structure_config(const Nested& values, const F& write) {
  if (values.is_none()) return Json();
  if (values.is_leaf()) return write(values.leaf().symbolic());
  Json made = values.is_list() ? Json::array() : Json::object();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.is_list()) {
      made.push_back(structure_config(values[i], write));
    } else {
      made[values.dict()[i].first] = structure_config(values[i], write);
    }
  }
  return made;
}

// {"args": [...], "kwargs": {...}}: tensors by position as far as the layer has names for them.
Json node_config(const Node& node, const NodeNumbers& numbers) {
  const auto write = [&](const KerasTensor& t) { return tensor_config(t, numbers); };
  Json args = Json::array(), kwargs = Json::object();
  args.push_back(structure_config(node.inputs, write));
  std::vector<std::string> names = node.layer->call_argument_names();
  bool is_positional = true;
  for (const std::string& name : names) {
    const Nested* tensor = node.args.find(name);
    const Json* option = node.args.options.find(name);
    is_positional = is_positional && (tensor || option);
    if (!is_positional) break;
    args.push_back(tensor ? structure_config(*tensor, write) : *option);
  }
  const auto is_given = [&](const std::string& name) {
    const auto at = std::ranges::find(names, name) - names.begin();
    return at < static_cast<std::ptrdiff_t>(args.as_array().size()) - 1;
  };
  if (node.args.options.is_object() && node.args.options.find("x1")) {  // 2.0 - x
    args = Json::array({node.args.options.at("x1"), args.as_array()[0]});
  }
  if (node.args.named.is_dict()) {
    for (const auto& [name, value] : node.args.named.dict()) {
      if (!is_given(name)) kwargs[name] = structure_config(value, write);
    }
  }
  if (node.args.options.is_object()) {
    for (const auto& [name, value] : node.args.options.as_object()) {
      if (!is_given(name) && name != "x1") kwargs[name] = value;
    }
  }
  if (node.args.training) kwargs["training"] = *node.args.training;
  if (!node.args.mask.is_none()) kwargs["mask"] = structure_config(node.args.mask, write);
  return Json::object({{"args", std::move(args)}, {"kwargs", std::move(kwargs)}});
}

}  // namespace

std::span<const ClassRow> model_layers() {
  return kModels;
}

Json functional_config(const FunctionalModel& model) {
  const FunctionalGraph& graph = model.graph();
  const NodeNumbers numbers(graph);
  Json layers = Json::array();
  for (const LayerPtr& layer : graph.layers) {
    Json row = serialize_keras_object(layer.get());
    row["name"] = layer->name();
    Json nodes = Json::array();
    for (const auto& node : graph.nodes) {
      if (node->layer == layer) nodes.push_back(node_config(*node, numbers));
    }
    row["inbound_nodes"] = std::move(nodes);
    layers.push_back(std::move(row));
  }
  const auto history = [&](const KerasTensor& t) { return history_of(t, numbers); };
  return Json::object({{"name", model.name()},
                       {"trainable", model.trainable()},
                       {"layers", std::move(layers)},
                       {"input_layers", structure_config(graph.inputs, history)},
                       {"output_layers", structure_config(graph.outputs, history)}});
}

Json sequential_config(const SequentialModel& model, const std::vector<LayerPtr>& stack) {
  Json layers = Json::array();
  for (const LayerPtr& layer : stack) layers.push_back(serialize_keras_object(layer.get()));
  Json config = Json::object({{"name", model.name()},
                              {"trainable", model.trainable()},
                              {"dtype", to_config(model.dtype_policy())},
                              {"layers", std::move(layers)}});
  if (const auto* input = stack.empty() ? nullptr : dynamic_cast<InputLayer*>(stack[0].get()))
    config["build_input_shape"] = to_config(input->config().batch_shape);
  return config;
}

namespace {

// Builds a model out of its configuration: calls are made as soon as what they are called on is
// there.
class Reader {
 public:
  explicit Reader(const Json& config) : config_(config) {}

  std::shared_ptr<FunctionalModel> read() {
    for (const Json& row : config_.at("layers").as_array()) add_layer(row);
    make_calls();
    LayerOptions options{.name = config_.at("name").as_string()};
    if (const Json* trainable = config_.find("trainable"); trainable && trainable->is_bool())
      options.trainable = trainable->as_bool();
    return std::make_shared<FunctionalModel>(read_ends("input_layers"), read_ends("output_layers"),
                                             std::move(options));
  }

 private:
  struct Call {
    LayerPtr layer;
    const Json* node;
    std::size_t number;  // among the calls of the layer
  };

  void add_layer(const Json& row) {
    const LayerPtr layer = Layer::get(row);
    const Json* given = row.find("name");
    const std::string name = given && given->is_string() ? given->as_string() : layer->name();
    PLIMSOLL_CHECK(layers_.emplace(name, layer).second, InvalidArgumentError,
                   "two layers of a model are called '{}'", name);
    names_.emplace(layer.get(), name);
    if (auto* input = dynamic_cast<InputLayer*>(layer.get())) {
      made_[name].push_back({input->tensor()});
      return;
    }
    std::size_t number = 0;
    for (const Json& node : row.at("inbound_nodes").as_array())
      calls_.push_back({layer, &node, number++});
  }

  void make_calls() {
    while (!calls_.empty()) {
      const std::size_t before = calls_.size();
      std::vector<Call> left;
      for (const Call& call : calls_) {
        if (!try_call(call)) left.push_back(call);
      }
      calls_ = std::move(left);
      PLIMSOLL_CHECK(calls_.size() < before, InvalidArgumentError,
                     "layer '{}' of a model is called on a tensor that no layer gives: {}",
                     names_.at(calls_[0].layer.get()), calls_[0].node->dump().substr(0, 200));
    }
  }

  static const Json* history_in(const Json& json) {
    const Json* class_name = json.find("class_name");
    if (!class_name || !class_name->is_string() || class_name->as_string() != "__keras_tensor__")
      return nullptr;
    return &json.at("config").at("keras_history");
  }
  static bool has_tensor(const Json& json) {
    if (history_in(json)) return true;
    if (json.is_array()) return std::ranges::any_of(json.as_array(), has_tensor);
    if (!json.is_object()) return false;
    return std::ranges::any_of(json.as_object(),
                               [](const auto& m) { return has_tensor(m.second); });
  }

  // Null if it is not there yet. throws: InvalidArgumentError for a layer that is not in the model.
  const KerasTensor* find(const Json& history) const {
    const Json::Array& parts = history.as_array();
    PLIMSOLL_CHECK(parts.size() >= 3, InvalidArgumentError, "no place of a tensor: {}",
                   history.dump());
    const std::string& name = parts[0].as_string();
    PLIMSOLL_CHECK(layers_.contains(name), InvalidArgumentError,
                   "a layer '{}' is used in a model and not among its layers", name);
    const auto node = static_cast<std::size_t>(parts[1].as_int());
    const auto index = static_cast<std::size_t>(parts[2].as_int());
    const auto found = made_.find(name);
    if (found == made_.end()) return nullptr;
    const auto& calls = found->second;
    if (node >= calls.size() || index >= calls[node].size()) return nullptr;
    return &calls[node][index];
  }
  bool is_ready(const Json& json) const {
    if (const Json* history = history_in(json)) return find(*history) != nullptr;
    if (json.is_array())
      return std::ranges::all_of(json.as_array(), [&](const Json& j) { return is_ready(j); });
    if (!json.is_object()) return true;
    return std::ranges::all_of(json.as_object(), [&](const auto& m) { return is_ready(m.second); });
  }
  Nested to_nested(const Json& json) const {
    if (json.is_null()) return {};
    if (const Json* history = history_in(json)) return *find(*history);
    if (json.is_array()) {
      Nested::List list;
      for (const Json& item : json.as_array()) list.push_back(to_nested(item));
      return list;
    }
    Nested::Dict dict;
    for (const auto& [key, item] : json.as_object()) dict.emplace_back(key, to_nested(item));
    return dict;
  }

  static void add_argument(CallArgs& args, const std::string& name, const Json& value,
                           const Reader& reader) {
    if (value.is_null()) return;
    if (name == "training") {
      args.training = value.as_bool();
    } else if (name == "mask") {
      args.mask = reader.to_nested(value);
    } else if (has_tensor(value)) {
      args.named[name] = reader.to_nested(value);
    } else {
      args.options[name] = value;
    }
  }

  bool try_call(const Call& call) {
    const std::string& name = names_.at(call.layer.get());
    auto& calls = made_[name];
    // In the order of their numbers, by which others know them.
    if (calls.size() != call.number || !is_ready(*call.node)) return false;
    const Json::Array& positional = call.node->at("args").as_array();
    PLIMSOLL_CHECK(!positional.empty(), InvalidArgumentError,
                   "layer '{}' of a model is called on nothing", name);
    const std::vector<std::string> names = call.layer->call_argument_names();
    CallArgs args;
    std::size_t first = 0;
    if (!has_tensor(positional[0]) && positional.size() == 2) {  // 2.0 - x
      args.options["x1"] = positional[0];
      first = 1;
    }
    for (std::size_t i = first + 1; i < positional.size(); ++i) {
      PLIMSOLL_CHECK(i - 1 < names.size(), InvalidArgumentError,
                     "layer '{}' of a model is called with {} arguments by position", name,
                     positional.size());
      add_argument(args, names[i - 1], positional[i], *this);
    }
    if (const Json* kwargs = call.node->find("kwargs"); kwargs && kwargs->is_object()) {
      for (const auto& [key, value] : kwargs->as_object()) add_argument(args, key, value, *this);
    }
    const Nested outputs = (*call.layer)(to_nested(positional[first]), args);
    std::vector<KerasTensor>& tensors = calls.emplace_back();
    outputs.for_each([&](const Value& v) { tensors.push_back(v.symbolic()); });
    return true;
  }

  Nested ends_of(const Json& json, const std::string& what) const {
    if (json.is_array() && json.as_array().size() >= 3 && json.as_array()[0].is_string()) {
      const KerasTensor* found = find(json);
      PLIMSOLL_CHECK(found, InvalidArgumentError,
                     "{} of a model names a tensor that is not there: {}", what, json.dump());
      return *found;
    }
    if (json.is_array()) {
      Nested::List list;
      for (const Json& item : json.as_array()) list.push_back(ends_of(item, what));
      return list;
    }
    Nested::Dict dict;
    for (const auto& [key, item] : json.as_object()) dict.emplace_back(key, ends_of(item, what));
    return dict;
  }
  Nested read_ends(const std::string& what) const { return ends_of(config_.at(what), what); }

  const Json& config_;
  std::unordered_map<std::string, LayerPtr> layers_;
  std::unordered_map<const Layer*, std::string> names_;
  std::unordered_map<std::string, std::vector<std::vector<KerasTensor>>>
      made_;  // by layer and call
  std::vector<Call> calls_;
};

}  // namespace

std::shared_ptr<Object> make_functional(const Json& config) {
  PLIMSOLL_CHECK(config.find("layers") && config.find("input_layers"), InvalidArgumentError,
                 "this is no configuration of a functional model: {}",
                 config.dump().substr(0, 200));
  return Reader(config).read();
}

std::shared_ptr<Object> make_sequential(const Json& config) {
  std::vector<SequentialItem> layers;
  for (const Json& row : config.at("layers").as_array()) layers.emplace_back(Layer::get(row));
  LayerOptions options;
  ConfigVisitor v(config, "Sequential");
  v("name", options.name);
  v("trainable", options.trainable);
  v("dtype", options.dtype);
  auto model = std::make_shared<SequentialModel>(std::move(layers), std::move(options));
  if (const Json* shape = config.find("build_input_shape"); shape && shape->is_array()) {
    PartialShape known;
    from_config(*shape, known);
    if (!model->built()) model->ensure_built(known);
  }
  return model;
}

}  // namespace plimsoll::keras
