// All of Plimsoll. `namespace tf = plimsoll;` and write TensorFlow's names.
#pragma once

#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/debugging.h"
#include "plimsoll/device.h"
#include "plimsoll/dtype.h"
#include "plimsoll/error.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/memory.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "plimsoll/settings.h"
#include "plimsoll/shape.h"
#include "plimsoll/tensor.h"
#include "plimsoll/variable.h"
