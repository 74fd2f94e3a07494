// Keras: layers, models, optimizers, losses, metrics, callbacks. See plimsoll/keras/model.h.
#pragma once

#include "plimsoll/keras/activations.h"
#include "plimsoll/keras/callbacks.h"
#include "plimsoll/keras/classes.h"
#include "plimsoll/keras/constraints.h"
#include "plimsoll/keras/dtype_policy.h"
#include "plimsoll/keras/initializers.h"
#include "plimsoll/keras/layers.h"
#include "plimsoll/keras/losses.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/keras/model.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/keras/regularizers.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/keras/utils.h"
