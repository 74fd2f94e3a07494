// The classes that are known by name, by kind. Layers: keras/layers/tables.h.
#pragma once

#include <span>

#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

std::span<const ClassRow> loss_rows();
std::span<const ClassRow> metric_rows();
std::span<const ClassRow> initializer_rows();
std::span<const ClassRow> regularizer_rows();
std::span<const ClassRow> constraint_rows();
std::span<const ClassRow> schedule_rows();

}  // namespace plimsoll::keras
