// The configurations that other versions of Keras wrote, brought into the form that is read here:
// that of Keras 3 in .keras files.
//
// What differs: Keras 2 has its nodes as lists [layer, node, tensor, arguments], its inputs as
// batch_input_shape, and ops as TFOpLambda; .h5 files of Keras 3 leave out which of their nodes are
// ops and which are layers; members of configurations came, went and changed their names.
#pragma once

#include "plimsoll/json.h"

namespace plimsoll::keras {

// Of a model: {"class_name": "Functional", "config": {...}}.
// throws: InvalidArgumentError for what is no such configuration; UnimplementedError for layers
// that hold code.
Json upgrade_model_config(const Json& model);

// Of an optimizer: {"class_name": "Adam", "config": {"lr": 0.001, "decay": 0.0}}.
Json upgrade_optimizer_config(const Json& optimizer);
// Of a loss or metric, whose class may be a wrapper around a function.
Json upgrade_function_config(const Json& object);

}  // namespace plimsoll::keras
