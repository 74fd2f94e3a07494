// Callbacks of fit, evaluate and predict, as Python gives them.
#pragma once

#include "keras_object.h"

namespace plimsoll::python {

nb::dict logs_to_dict(const keras::Logs& logs);

// Handles and Python objects, in order; and one that lets Python see an interrupt.
std::vector<keras::CallbackPtr> to_callbacks(nb::handle callbacks, nb::handle model);

}  // namespace plimsoll::python
