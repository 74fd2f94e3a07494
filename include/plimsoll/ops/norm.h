// Normalisation.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll {}  // namespace plimsoll
