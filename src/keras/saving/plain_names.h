// Names of layers that Keras 3 takes.
#pragma once

#include "plimsoll/json.h"

namespace plimsoll::keras {

// The configuration of a model with '_' for every '/' in names of layers, which older Keras
// allowed; wherever a layer is named. Names that are taken get a number.
Json with_plain_names(const Json& config);

}  // namespace plimsoll::keras
