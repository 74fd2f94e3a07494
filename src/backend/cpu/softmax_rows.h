// Softmax and its kin over rows, by dtype; compiled for several instruction sets. All are over
// `num` rows of `n` elements; with `inner` > 1, neighbours in a row lie `inner` apart and the rows
// of one block of n * inner elements are interleaved.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

enum class RowOp { kSoftmax, kLogSoftmax, kSoftmaxGrad, kLogSoftmaxGrad };

struct RowArgs {
  RowOp op;
  const void* x;  // logits, or the gradient
  const void* y;  // output, for gradients
  void* out;
  std::int64_t n;
  std::int64_t inner;
};
// One slice: `inner` rows of n elements, of which columns [first, last) are done.
using RowFn = void (*)(const RowArgs&, std::int64_t first, std::int64_t last);

struct LossArgs {
  const void* logits;
  const void* labels;  // dense, or int32 or int64 classes; null in the loss of sparse labels
  std::int64_t label;  // sparse
  const void* dloss;   // of the row; null: the loss is wanted
  void* out;           // the loss, or the gradient
  std::int64_t n;
};
using LossFn = void (*)(const LossArgs&);

struct RowKernels {
  RowFn rows;
  LossFn loss;
};
const RowKernels& row_kernels(DType dtype) noexcept;

}  // namespace plimsoll::cpu
