#include "keras/saving/state_tree.h"

#include <unordered_set>

#include "keras/op_layer.h"

namespace plimsoll::keras {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

class Walk {
 public:
  explicit Walk(std::vector<StateNode>& nodes) : nodes_(nodes) {}

  void visit(const Layer& layer, const std::string& path) {
    if (dynamic_cast<const OpLayer*>(&layer) || !seen_.insert(&layer).second) return;
    StateNode node{path, layer.name(), const_cast<Layer*>(&layer), {}};
    // Trained ones come first, whatever was added first.
    for (const bool is_trained : {true, false}) {
      for (const VariablePtr& v : layer.own_variables()) {
        if (v->raw().trainable() == is_trained) node.variables.push_back(v);
      }
    }
    nodes_.push_back(std::move(node));
    for (const NamedLayer& inner : layer.named_sublayers())
      visit(*inner.layer, joined(path, inner.name));
  }

 private:
  std::vector<StateNode>& nodes_;
  std::unordered_set<const Layer*> seen_;
};

}  // namespace

std::vector<StateNode> state_tree(const Model& model) {
  std::vector<StateNode> nodes;
  Walk(nodes).visit(model, "");
  return nodes;
}

StateNode optimizer_node(const Optimizer& optimizer) {
  return {"optimizer", optimizer.name(), nullptr, optimizer.variables()};
}

}  // namespace plimsoll::keras
