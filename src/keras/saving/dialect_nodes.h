// The nodes of functional models in the forms of other versions of Keras.
#pragma once

#include "plimsoll/json.h"

namespace plimsoll::keras {

// Whether a list of layers has nodes as lists, or inputs as batch_input_shape.
bool has_keras2_nodes(const Json& layers);
bool has_keras2_inputs(const Json& layers);

// Notes on a layer of a model that it is an op: .h5 files do not say so, and Keras 2 calls it
// TFOpLambda. throws: UnimplementedError for an op that is not here.
void mark_op(Json& layer, bool is_keras2);

// Brings the nodes of a functional model, and where it begins and ends, into the form of Keras 3.
// throws: InvalidArgumentError for nodes of no known form.
void upgrade_nodes(Json& config);

}  // namespace plimsoll::keras
