#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "keras/functional.h"
#include "plimsoll/keras/layers/core.h"

namespace plimsoll::keras {
namespace {

Node* node_of(const KerasTensor& tensor) {
  return tensor.state()->node.get();
}

std::vector<KerasTensor> tensors_of(const Nested& values, const char* what) {
  std::vector<KerasTensor> found;
  values.for_each([&](const Value& v) {
    PLIMSOLL_CHECK(v.is_symbolic(), InvalidArgumentError,
                   "All `{}` values must be KerasTensors. Received a tensor with values, of shape "
                   "{}",
                   what, v.shape().to_string());
    PLIMSOLL_CHECK(node_of(v.symbolic()), InvalidArgumentError,
                   "`{}` has a KerasTensor of shape {} that no layer and no Input made", what,
                   v.shape().to_string());
    found.push_back(v.symbolic());
  });
  PLIMSOLL_CHECK(!found.empty(), InvalidArgumentError, "a model needs `{}`", what);
  return found;
}

// Dictionaries in the order of their keys, as Keras goes through them: the order of layers, and
// with it that of weights in files, depends on it.
Nested by_key(const Nested& values) {
  if (values.is_list()) {
    Nested::List items;
    for (const Nested& item : values.list()) items.push_back(by_key(item));
    return items;
  }
  if (!values.is_dict()) return values;
  Nested::Dict members;
  for (const auto& [key, item] : values.dict()) members.emplace_back(key, by_key(item));
  std::ranges::stable_sort(members, {}, [](const auto& member) { return member.first; });
  return members;
}

// Walks from outputs to inputs.
class Walk {
 public:
  explicit Walk(std::vector<KerasTensor> inputs) : inputs_(std::move(inputs)) {}

  void visit(const KerasTensor& tensor) {
    Node* node = node_of(tensor);
    if (!node || done_.contains(node)) return;
    if (!node->is_input() && std::ranges::find(inputs_, tensor) != inputs_.end()) return;
    PLIMSOLL_CHECK(open_.insert(node).second, InvalidArgumentError,
                   "Tensor of layer '{}' is part of a cycle.", node->layer->name());
    layer_index.emplace(node->layer.get(), layer_index.size());
    for (const KerasTensor& before : node->input_tensors()) visit(before);
    open_.erase(node);
    done_.insert(node);
    nodes.push_back(node->shared_from_this());
  }

  std::vector<std::shared_ptr<Node>> nodes;  // inputs first
  std::unordered_map<const Layer*, std::size_t> layer_index;

 private:
  const std::vector<KerasTensor> inputs_;
  std::unordered_set<const Node*> open_, done_;
};

// Depths as Keras counts them: from the outputs, by the longest way.
struct Depths {
  std::unordered_map<const Node*, int> nodes;
  std::unordered_map<const Layer*, int> layers;
};
Depths find_depths(const std::vector<std::shared_ptr<Node>>& nodes) {
  std::unordered_set<const Node*> in_graph;
  for (const auto& node : nodes) in_graph.insert(node.get());
  Depths depths;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const Node* node = it->get();
    int depth = depths.nodes.emplace(node, 0).first->second;
    depth = std::max(depth, depths.layers[node->layer.get()]);
    depths.layers[node->layer.get()] = depth;
    depths.nodes[node] = depth;
    for (const KerasTensor& before : node->input_tensors()) {
      const Node* parent = node_of(before);
      if (!in_graph.contains(parent)) continue;
      int& known = depths.nodes[parent];
      known = std::max(known, depth + 1);
    }
  }
  return depths;
}

void order_by_depth(FunctionalGraph& graph, const Walk& walk,
                    const std::vector<KerasTensor>& inputs) {
  const Depths depths = find_depths(walk.nodes);
  std::vector<std::shared_ptr<Node>> nodes = walk.nodes;
  std::ranges::stable_sort(nodes, [&](const auto& a, const auto& b) {
    return depths.nodes.at(a.get()) > depths.nodes.at(b.get());
  });
  std::map<int, std::vector<LayerPtr>, std::greater<>> by_depth;
  std::unordered_set<const Layer*> seen;
  for (const auto& node : nodes) {
    if (seen.insert(node->layer.get()).second)
      by_depth[depths.layers.at(node->layer.get())].push_back(node->layer);
  }
  for (const KerasTensor& input : inputs) {  // that no output depends on
    const LayerPtr& layer = node_of(input)->layer;
    if (node_of(input)->is_input() && seen.insert(layer.get()).second) by_depth[0].push_back(layer);
  }
  const auto index_of = [&](const LayerPtr& layer) {
    const auto found = walk.layer_index.find(layer.get());
    return found == walk.layer_index.end() ? -1 : static_cast<int>(found->second);
  };
  for (auto& [depth, layers] : by_depth) {
    std::ranges::stable_sort(
        layers, [&](const LayerPtr& a, const LayerPtr& b) { return index_of(a) < index_of(b); });
    graph.layers.insert(graph.layers.end(), layers.begin(), layers.end());
  }
  for (auto& node : nodes) {
    if (!node->is_input()) graph.nodes.push_back(std::move(node));
  }
}

void check_names(const std::vector<LayerPtr>& layers) {
  std::unordered_set<std::string> names;
  for (const LayerPtr& layer : layers) {
    PLIMSOLL_CHECK(names.insert(layer->name()).second, InvalidArgumentError,
                   "The name \"{}\" is used 2 times in the model. All operation names should be "
                   "unique.",
                   layer->name());
  }
}

// A copy of the nodes between inputs and outputs in which the inputs are Inputs of their own: for a
// model that begins in the middle of another.
class Copy {
 public:
  void set(const KerasTensor& from, const KerasTensor& to) { made_.emplace_back(from, to); }

  KerasTensor of(const KerasTensor& tensor) {
    for (const auto& [from, to] : made_) {
      if (from == tensor) return to;
    }
    Node* node = node_of(tensor);
    PLIMSOLL_CHECK(!node->is_input(), InvalidArgumentError,
                   "Graph disconnected: cannot find parent for tensor of shape {} at operation "
                   "'{}'.",
                   tensor.shape().to_string(), node->layer->name());
    std::shared_ptr<Node>& copy = nodes_[node];
    if (!copy) {
      copy = std::make_shared<Node>();
      const auto replace = [&](const Value& v) {
        return v.is_symbolic() ? Value(of(v.symbolic())) : v;
      };
      copy->layer = node->layer;
      copy->outputs = node->outputs;
      copy->inputs = node->inputs.map(replace);
      copy->args = node->args;
      copy->args.named = node->args.named.map(replace);
      copy->args.mask = node->args.mask.map(replace);
    }
    KerasTensor made =
        copy->output_tensor(OutputSpec{tensor.shape(), tensor.dtype(), tensor.state()->index});
    made_.emplace_back(tensor, made);
    return made;
  }

 private:
  std::vector<std::pair<KerasTensor, KerasTensor>> made_;
  std::unordered_map<const Node*, std::shared_ptr<Node>> nodes_;
};

}  // namespace

std::size_t FunctionalGraph::slot_of(const KerasTensor& tensor) const {
  for (const Slots& s : slots) {
    if (s.node == tensor.state()->node.get())
      return s.first + static_cast<std::size_t>(tensor.state()->index);
  }
  return num_slots;
}

namespace {

void number_slots(FunctionalGraph& graph, const std::vector<KerasTensor>& inputs) {
  const auto add = [&](const Node* node, std::size_t num) {
    graph.slots.push_back({node, graph.num_slots});
    graph.num_slots += num;
  };
  for (const KerasTensor& input : inputs) add(node_of(input), 1);
  for (const auto& node : graph.nodes) add(node.get(), node->outputs.flatten().size());
  graph.num_reads.assign(graph.num_slots, 0);
  std::vector<std::string> before;
  const auto read = [&](const KerasTensor& tensor, const std::string& reader) {
    const std::size_t slot = graph.slot_of(tensor);
    PLIMSOLL_CHECK(slot < graph.num_slots, InvalidArgumentError,
                   "Graph disconnected: cannot find parent for tensor of shape {} at operation "
                   "'{}'.",
                   tensor.shape().to_string(), reader);
    ++graph.num_reads[slot];
  };
  for (const auto& node : graph.nodes) {
    for (const KerasTensor& t : node->input_tensors()) read(t, node->layer->name());
  }
  graph.outputs.for_each([&](const Value& v) { read(v.symbolic(), "the model's outputs"); });
}

}  // namespace

FunctionalGraph make_functional_graph(const Nested& given_inputs, const Nested& given_outputs) {
  const Nested inputs = by_key(given_inputs), outputs = by_key(given_outputs);
  FunctionalGraph graph;
  graph.inputs = inputs;
  graph.outputs = outputs;
  std::vector<KerasTensor> flat = tensors_of(inputs, "inputs");
  tensors_of(outputs, "outputs");
  if (!std::ranges::all_of(flat, [](const KerasTensor& t) { return node_of(t)->is_input(); })) {
    Copy copy;
    graph.inputs = inputs.map([&](const Value& v) {
      const KerasTensor& old = v.symbolic();
      if (node_of(old)->is_input()) {
        copy.set(old, old);
        return v;
      }
      const auto layer = std::make_shared<InputLayer>(InputLayerConfig{old.shape(), old.dtype()});
      const KerasTensor made = layer->tensor();
      copy.set(old, made);
      return Value(made);
    });
    graph.outputs = outputs.map([&](const Value& v) { return Value(copy.of(v.symbolic())); });
    flat = tensors_of(graph.inputs, "inputs");
  }
  Walk walk(flat);
  graph.outputs.for_each([&](const Value& v) { walk.visit(v.symbolic()); });
  order_by_depth(graph, walk, flat);
  check_names(graph.layers);
  number_slots(graph, flat);
  return graph;
}

}  // namespace plimsoll::keras
