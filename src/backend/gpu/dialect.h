// What every kernel's text begins with.
#pragma once

#include <string>

#include "backend/gpu/source.h"

namespace plimsoll::gpu {

// Loads, stores and walks, for every type.
extern const char* const kTypes;
// The same, with the type `real` and the functions that expressions may call for it.
std::string head(DType real);
// "load_float32(pointer, index)"
std::string load(DType dtype, std::string_view pointer, std::string_view index);

}  // namespace plimsoll::gpu
