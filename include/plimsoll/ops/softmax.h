// Softmax and the cross-entropies.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll::nn {

Tensor softmax(const Tensor& logits, std::int64_t axis = -1);
Tensor log_softmax(const Tensor& logits, std::int64_t axis = -1);

// A loss per row of logits. Labels are distributions; they broadcast to the logits. As
// TensorFlow's, the gradient takes it that each sums to 1. memory: nothing of the size of the
// logits is kept for the gradient but the logits themselves.
Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                         std::int64_t axis = -1);
// Labels are classes, int32 or int64, one per row of the last axis.
// throws: InvalidArgumentError for a class that the logits do not have.
Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);
// A loss per element.
Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);
Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                          const Tensor& pos_weight);

}  // namespace plimsoll::nn
