// What compile was given, as files have it.
#pragma once

#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

// The form of .keras files, {"optimizer": ..., "loss": ...}, and that of .h5 files, whose optimizer
// is called optimizer_config. throws: InvalidArgumentError for losses and metrics that are not
// known, and says how to load the model without them.
CompileOptions read_training_config(const Json& config);

// Of a compiled model, in the form of .keras files.
Json training_config(const Model& model);

}  // namespace plimsoll::keras
