// What fused ops do to rows on the way out: add a bias per column and activate, in place.
#pragma once

#include "backend/api/kernel.h"
#include "ops/activation_kind.h"

namespace plimsoll::cpu {

// pre: `dtype` is float32 or float64, as is the bias.
void add_bias_and_activate(DType dtype, void* rows, std::int64_t num_rows, std::int64_t num_columns,
                           const void* bias, Activation activation) noexcept;

// The activation alone. oneDNN could do it too, but makes 0 of nan.
void activate(DType dtype, void* values, std::int64_t n, Activation activation) noexcept;

}  // namespace plimsoll::cpu
