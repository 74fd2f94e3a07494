#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll::nn {

Tensor softmax(const Tensor& logits, std::int64_t axis) {
  return call(OpId::Softmax, {logits}, {axis});
}
Tensor log_softmax(const Tensor& logits, std::int64_t axis) {
  return call(OpId::LogSoftmax, {logits}, {axis});
}

Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                         std::int64_t axis) {
  PLIMSOLL_CHECK(labels.is_valid() && logits.is_valid(), InvalidArgumentError,
                 "softmax_cross_entropy_with_logits needs labels and logits");
  const int rank = logits.rank();
  if (rank > 0 && normalize_axis(axis, rank, "SoftmaxCrossEntropyWithLogits") != rank - 1) {
    // Not along the last axis: the definition itself.
    const Tensor terms = labels * log_softmax(logits, axis);
    return negative(reduce_sum(terms, {axis}));
  }
  if (labels.shape() != logits.shape() && labels.rank() <= rank) {
    const Shape both =
        broadcast_shapes(logits.shape(), labels.shape(), "SoftmaxCrossEntropyWithLogits");
    if (both == logits.shape()) {
      return call(OpId::SoftmaxCrossEntropy, {logits, broadcast_to(labels, both)});
    }
  }
  return call(OpId::SoftmaxCrossEntropy, {logits, labels});
}

Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits) {
  return call(OpId::SparseSoftmaxCrossEntropy, {logits, labels});
}

Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits) {
  return call(OpId::SigmoidCrossEntropy, {logits, labels});
}

Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                          const Tensor& pos_weight) {
  const Tensor weight = 1.0 + (pos_weight - 1.0) * labels;
  return (1.0 - labels) * logits + weight * softplus(negative(logits));
}

}  // namespace plimsoll::nn
