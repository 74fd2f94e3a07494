// Filling a range of a stream's numbers; compiled for several instruction sets.
// Ranges may begin anywhere, so that threads share the work and the numbers do
// not depend on how.
#pragma once

#include "backend/cpu/philox.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

struct FillArgs {
  Philox start;  // of the whole tensor
  void* out;     // of the whole tensor
  double a, b;   // minval and maxval, or mean and stddev
};
// Writes elements [begin, end); begin is a multiple of 4.
using FillFn = void (*)(const FillArgs&, std::int64_t begin, std::int64_t end);
// out = mask(start) ? x / (1 - rate) : 0, for elements [begin, end) of x.
using DropFn = void (*)(const FillArgs&, const void* x, std::int64_t begin, std::int64_t end);

struct FillKernels {
  FillFn uniform, normal, truncated_normal;
  DropFn dropout;
};
const FillKernels& fill_kernels(DType dtype) noexcept;  // pre: a floating type

}  // namespace plimsoll::cpu
