// The inner parts of normalisation, by dtype; compiled for several instruction sets. Parameters and
// statistics are float, for double double; sums that grow long are double.
#pragma once

#include <cstdint>

#include "ops/activation_kind.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

// Rows [first, last) of n elements, each normalised by itself.
struct RowNormArgs {
  const void* x;
  const void* dy;  // for gradients
  const void* scale;
  const void* offset;  // null: none, and no mean is subtracted (rms)
  void* out;           // y or dx
  double* sums;        // for gradients: n of dscale, n of doffset; added to
  std::int64_t n;
  double epsilon;
  bool has_mean;
};
using RowNormFn = void (*)(const RowNormArgs&, std::int64_t first, std::int64_t last);

// Rows [first, last) of c channels, normalised along the rows.
struct ColumnArgs {
  const void* x;
  const void* dy;
  const void* mean;  // of each channel; for the forward sums: a shift, the first row of x
  void* out;
  double* sums;  // c of a, c of b; added to
  std::int64_t c;
  const void* a;  // factors per channel, see the functions
  const void* b;
  const void* d;
  const void* added;   // like x, or null
  const void* offset;  // of gradients through an activation: what was activated is
                       // (x - mean) a + offset
};
using ColumnFn = void (*)(const ColumnArgs&, std::int64_t first, std::int64_t last);

struct NormKernels {
  RowNormFn row, row_grad;
  ColumnFn sums;  // a += x - mean, b += (x - mean)^2
  // By Activation, which dy has come through on its way back.
  ColumnFn grad_sums[kNumActivations];  // a += dy, b += dy (x - mean)
  ColumnFn scale[kNumActivations];      // out = activate((x - mean) a + b + added)
  ColumnFn grad[kNumActivations];       // out = (dy - b - (x - mean) d) a
};
const NormKernels& norm_kernels_of(DType dtype) noexcept;  // pre: a floating type

}  // namespace plimsoll::cpu
