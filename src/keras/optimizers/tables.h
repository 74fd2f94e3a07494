// The optimizers that are known by name.
#pragma once

#include <span>

#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

std::span<const ClassRow> optimizer_rows();

}  // namespace plimsoll::keras
