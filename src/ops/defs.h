// The definitions of all ops; each stands in the source of its family.
#pragma once

#include "ops/op_def.h"

namespace plimsoll {

#define OP(Name, ...) extern const OpDef op_##Name;
#include "ops/ops.def"
#undef OP

}  // namespace plimsoll
