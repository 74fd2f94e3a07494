#include "base/check.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras::metrics {
namespace {

// Whether fewer than k classes are likelier than the target, as TensorFlow's in_top_k: not where
// the target is no class, or where a prediction is not finite. targets: [n], predictions: [n, c].
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, std::int64_t k) {
  const std::int64_t num_classes = predictions.shape()[1];
  const Tensor at = one_hot(targets, num_classes, 1, 0, -1, bool_);
  const Tensor zero = zeros({}, predictions.dtype());
  const Tensor wanted = reduce_sum(where(at, predictions, zero), {-1}, true);
  const Tensor num_likelier = reduce_sum(cast(greater(predictions, wanted), int32), {-1});
  const Tensor is_known =
      logical_and(reduce_any(at, {-1}), reduce_all(math::is_finite(predictions), {-1}));
  const Tensor limit = fill({}, static_cast<double>(k), int32);
  return logical_and(is_known, less(num_likelier, limit));
}

Tensor flat_rows(const Tensor& t) {
  return t.rank() > 2 ? reshape(t, {-1, t.shape()[t.rank() - 1]}) : t;
}

Tensor as_floats(const Tensor& matches, const Shape& shape) {
  return reshape(cast(matches, float32), shape.dims());
}

}  // namespace

Tensor accuracy(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] =
      squeeze_or_expand_to_same_rank(to_type(y_true, y_pred.dtype()), y_pred);
  return cast(equal(labels, predicted), float32);
}

Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred,
                       const BinaryAccuracyConfig& options) {
  const auto [labels, predicted] = squeeze_or_expand_to_same_rank(y_true, y_pred);
  const Tensor is_one = greater(predicted, fill({}, options.threshold, predicted.dtype()));
  return cast(equal(labels, cast(is_one, labels.dtype())), float32);
}

Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return cast(equal(argmax(y_true, -1), argmax(y_pred, -1)), float32);
}

Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  Tensor labels = to_type(y_true, int64);
  if (labels.rank() == y_pred.rank() && labels.shape()[labels.rank() - 1] == 1)
    labels = squeeze(labels, {-1});
  const Tensor matches = cast(equal(labels, argmax(y_pred, -1)), float32);
  const int rank = matches.rank();
  return rank > 1 && matches.shape()[rank - 1] == 1 ? squeeze(matches, {-1}) : matches;
}

Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                  const TopKCategoricalAccuracyConfig& options) {
  const Tensor labels = argmax(y_true, -1);
  return as_floats(in_top_k(reshape(labels, {-1}), flat_rows(y_pred), options.k), labels.shape());
}

Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                         const SparseTopKCategoricalAccuracyConfig& options) {
  const Tensor rows = flat_rows(y_pred);
  if (options.from_sorted_ids) {
    const Tensor labels = reshape(to_type(y_true, y_pred.dtype()), {-1, 1});
    const std::int64_t num = std::min(options.k, rows.shape()[1]);
    const Tensor first = slice(rows, {0, 0}, {-1, num});
    return as_floats(reduce_any(equal(labels, first), {1}), y_true.shape());
  }
  const Tensor labels = reshape(to_type(y_true, int64), {-1});
  return as_floats(in_top_k(labels, rows, options.k), y_true.shape());
}

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityMetricConfig& options) {
  return -losses::cosine_similarity(y_true, y_pred, {.axis = options.axis});
}

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyMetricConfig& options) {
  return losses::binary_crossentropy(
      y_true, y_pred,
      {.from_logits = options.from_logits, .label_smoothing = options.label_smoothing});
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyMetricConfig& options) {
  return losses::categorical_crossentropy(y_true, y_pred,
                                          {.from_logits = options.from_logits,
                                           .label_smoothing = options.label_smoothing,
                                           .axis = options.axis});
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyMetricConfig& options) {
  return losses::sparse_categorical_crossentropy(y_true, y_pred,
                                                 {.from_logits = options.from_logits,
                                                  .ignore_class = options.ignore_class,
                                                  .axis = options.axis});
}

}  // namespace plimsoll::keras::metrics
