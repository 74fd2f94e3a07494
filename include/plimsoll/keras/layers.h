// All layers.
#pragma once

#include "plimsoll/keras/layers/activation.h"
#include "plimsoll/keras/layers/attention.h"
#include "plimsoll/keras/layers/convolutional.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/keras/layers/image_preprocessing.h"
#include "plimsoll/keras/layers/lookup.h"
#include "plimsoll/keras/layers/merging.h"
#include "plimsoll/keras/layers/normalization.h"
#include "plimsoll/keras/layers/pooling.h"
#include "plimsoll/keras/layers/preprocessing.h"
#include "plimsoll/keras/layers/regularization.h"
#include "plimsoll/keras/layers/reshaping.h"
#include "plimsoll/keras/layers/rnn.h"
