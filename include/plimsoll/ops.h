// Functions over tensors, with TensorFlow's names, by family.
#pragma once

#include "plimsoll/ops/conv.h"
#include "plimsoll/ops/create.h"
#include "plimsoll/ops/debugging.h"
#include "plimsoll/ops/elementwise.h"
#include "plimsoll/ops/gather.h"
#include "plimsoll/ops/image.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/matmul.h"
#include "plimsoll/ops/norm.h"
#include "plimsoll/ops/pool.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/search.h"
#include "plimsoll/ops/segment.h"
#include "plimsoll/ops/shape.h"
#include "plimsoll/ops/softmax.h"
