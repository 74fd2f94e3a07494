// Copies by strides (backend/api/shape_copies.h), on all cores.
#pragma once

#include "backend/api/shape_copies.h"

namespace plimsoll::cpu {

// Elements of 1, 2, 4 or 8 bytes.
void run_copy(const StridedCopy& copy, const void* in, void* out,
              std::int64_t element_size) noexcept;
// out += in instead; T is computed as its compute type.
template <class T>
void add_copy(const StridedCopy& copy, const T* in, T* out) noexcept;

}  // namespace plimsoll::cpu
