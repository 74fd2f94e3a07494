// Softmax and the cross-entropies.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll {}  // namespace plimsoll
