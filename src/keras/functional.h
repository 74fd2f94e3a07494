// The graph of a functional model: its nodes in the order in which they are run, its layers in
// Keras's order.
#pragma once

#include <memory>
#include <vector>

#include "keras/node.h"

namespace plimsoll::keras {

struct FunctionalGraph {
  Nested inputs, outputs;                    // KerasTensors, in the structures that were given
  std::vector<std::shared_ptr<Node>> nodes;  // without those of inputs, in order
  std::vector<LayerPtr> layers;              // with the inputs' layers

  // Where a result is kept while the model runs: a slot for each output of each node, and for each
  // input; and how often it is read.
  struct Slots {
    const Node* node;
    std::size_t first;  // of its outputs
  };
  std::vector<Slots> slots;
  std::size_t num_slots = 0;
  std::vector<int> num_reads;  // by slot; the model's outputs count as one more

  std::size_t slot_of(const KerasTensor& tensor) const;
};

// throws: InvalidArgumentError if the outputs do not follow from the inputs, or names are not
// unique.
FunctionalGraph make_functional_graph(const Nested& inputs, const Nested& outputs);

}  // namespace plimsoll::keras
