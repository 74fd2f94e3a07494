// The graph behind KerasTensors: each call of a layer on them is a node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct OutputSpec {
  PartialShape shape;
  DType dtype = DType::kFloat32;
  int index = 0;  // among all outputs of the node
};

// A node keeps its layer and, by its inputs, the nodes before it. It is kept by the KerasTensors
// that it made; so it knows of these their specs only.
struct Node : std::enable_shared_from_this<Node> {
  LayerPtr layer;
  Nested inputs;
  CallArgs args;
  Nest<OutputSpec> outputs;

  bool is_input() const { return inputs.is_none(); }
  // KerasTensors among inputs and arguments, in order.
  std::vector<KerasTensor> input_tensors() const;
  Nested output_tensors();
  KerasTensor output_tensor(const OutputSpec& spec);
};

struct KerasTensorState {
  PartialShape shape;
  DType dtype = DType::kFloat32;
  std::string name;
  std::shared_ptr<Node> node;  // that makes it
  int index = 0;               // among the node's outputs
};

// Whether a layer is called on one of these.
bool has_symbolic(const Nested& values);

}  // namespace plimsoll::keras
