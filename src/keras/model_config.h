// Models as configurations: layers with the calls between them, as Keras 3 writes them.
#pragma once

#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

Json functional_config(const FunctionalModel& model);
Json sequential_config(const SequentialModel& model, const std::vector<LayerPtr>& stack);

// throws: InvalidArgumentError that names the layer and what does not fit.
std::shared_ptr<Object> make_functional(const Json& config);
std::shared_ptr<Object> make_sequential(const Json& config);

}  // namespace plimsoll::keras
