// Members of configurations that came after the oldest version of Keras that is to read our files.
#pragma once

#include "plimsoll/json.h"

namespace plimsoll::keras {

// Without those that say what an older version does anyway.
Json without_late_members(const Json& config);

}  // namespace plimsoll::keras
