// All layers.
#pragma once

#include "plimsoll/keras/layers/activation.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/keras/layers/regularization.h"
#include "plimsoll/keras/layers/reshaping.h"
