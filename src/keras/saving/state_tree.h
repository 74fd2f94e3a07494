// Where .keras and .weights.h5 files keep what belongs to a layer: "layers/dense_1/vars/0".
#pragma once

#include <string>
#include <vector>

#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

// A layer or an optimizer, and its own variables without those of layers inside.
struct StateNode {
  std::string path;        // "layers/bidirectional/forward_layer/cell"; empty: the model
  std::string name;        // "lstm_cell"
  Layer* layer = nullptr;  // none: the optimizer
  std::vector<VariablePtr> variables;
};

// Of the model and everything in it, each once, in the order in which Keras walks.
std::vector<StateNode> state_tree(const Model& model);
// Of the optimizer of a compiled model.
StateNode optimizer_node(const Optimizer& optimizer);

}  // namespace plimsoll::keras
