// F scores and intersections over unions.
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/metrics_classification.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

void FScoreBase::start(std::optional<std::string> average, double beta,
                       std::optional<double> threshold) {
  PLIMSOLL_CHECK(
      !average || *average == "micro" || *average == "macro" || *average == "weighted",
      InvalidArgumentError,
      "Invalid `average` argument value. Expected one of: {{None, 'micro', 'macro', 'weighted'}}. "
      "Received: average={}",
      *average);
  PLIMSOLL_CHECK(beta > 0, InvalidArgumentError,
                 "Invalid `beta` argument value. It should be > 0. Received: beta={}", beta);
  PLIMSOLL_CHECK(!threshold || (*threshold > 0 && *threshold <= 1), InvalidArgumentError,
                 "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. "
                 "Received: threshold={}",
                 *threshold);
  average_ = std::move(average);
  beta_ = beta;
  threshold_ = threshold;
}

void FScoreBase::build(const Shape& y_true, const Shape& y_pred) {
  PLIMSOLL_CHECK(y_true.rank() == 2 && y_pred.rank() == 2, InvalidArgumentError,
                 "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received input "
                 "shapes: y_pred.shape={} and y_true.shape={}.",
                 y_pred.to_string(), y_true.to_string());
  const Shape shape = average_ == "micro" ? Shape() : Shape{y_pred[1]};
  true_positives_ = add_variable(shape, "zeros", "true_positives");
  false_positives_ = add_variable(shape, "zeros", "false_positives");
  false_negatives_ = add_variable(shape, "zeros", "false_negatives");
  weights_ = add_variable(shape, "zeros", "intermediate_weights");
}

void FScoreBase::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  const Tensor labels = to_type(args[0], dtype()), given = to_type(args[1], dtype());
  if (!weights_) build(labels.shape(), given.shape());
  Tensor is_chosen;
  if (threshold_) {
    is_chosen = greater(given, fill({}, *threshold_, dtype()));
  } else {
    is_chosen = logical_and(greater_equal(given, reduce_max(given, {-1}, true)),
                            greater(abs(given), fill({}, 1e-9, dtype())));
  }
  const Tensor chosen = cast(is_chosen, dtype());
  const Axes axes = average_ == "micro" ? Axes{} : Axes{0};
  const auto sum = [&](const Tensor& x) {
    if (!sample_weight.is_valid()) return reduce_sum(x, axes);
    return reduce_sum(x * expand_dims(to_type(sample_weight, dtype()), 1), axes);
  };
  true_positives_->assign_add(sum(chosen * labels));
  false_positives_->assign_add(sum(chosen * (1 - labels)));
  false_negatives_->assign_add(sum((1 - chosen) * labels));
  weights_->assign_add(sum(labels));
}

Tensor FScoreBase::result() const {
  if (!weights_) return zeros({}, dtype());
  const Tensor tp = true_positives_->value();
  const Tensor precision = tp / (tp + false_positives_->value() + kEpsilon);
  const Tensor recall = tp / (tp + false_negatives_->value() + kEpsilon);
  const double b = beta_ * beta_;
  const Tensor scores = precision * recall / (b * precision + recall + kEpsilon) * (1 + b);
  if (average_ == "weighted") {
    const Tensor weights = weights_->value();
    return reduce_sum(scores * (weights / (reduce_sum(weights) + kEpsilon)));
  }
  return average_ ? reduce_mean(scores) : scores;
}

namespace {

MetricOptions as_integers(MetricOptions options) {
  if (!options.dtype) options.dtype = DType::kInt64;
  return options;
}

std::vector<std::int64_t> all_classes(std::int64_t num) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max<std::int64_t>(num, 0)));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

IoUBase::IoUBase(MetricOptions options) : Metric(as_integers(std::move(options))) {}

void IoUBase::start(IoUSettings settings) {
  settings_ = std::move(settings);
  PLIMSOLL_CHECK(settings_.num_classes > 0, InvalidArgumentError,
                 "Argument `num_classes` must be > 0. Received: num_classes={}",
                 settings_.num_classes);
  for (const std::int64_t id : settings_.target_class_ids) {
    PLIMSOLL_CHECK(id >= 0 && id < settings_.num_classes, InvalidArgumentError,
                   "Target class id {} is out of range, which is [0, {}).", id,
                   settings_.num_classes);
  }
  matrix_ = add_variable({settings_.num_classes, settings_.num_classes}, "zeros",
                         "total_confusion_matrix");
}

void IoUBase::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  const IoUSettings& s = settings_;
  Tensor given = args[1];
  if (s.threshold) given = greater_equal(given, fill({}, *s.threshold, given.dtype()));
  const auto classes = [&](const Tensor& t, bool is_sparse) {
    return reshape(to_type(is_sparse ? t : argmax(t, s.axis), int64), {-1});
  };
  const Tensor labels = classes(args[0], s.sparse_y_true);
  const Tensor predicted = classes(given, s.sparse_y_pred);
  const Tensor zero = zeros({}, int64), num = fill({}, static_cast<double>(s.num_classes), int64);
  const auto is_class = [&](const Tensor& t) {
    return logical_and(greater_equal(t, zero), less(t, num));
  };
  Tensor is_counted = logical_and(is_class(labels), is_class(predicted));
  if (s.ignore_class) {
    const Tensor ignored = fill({}, static_cast<double>(*s.ignore_class), int64);
    is_counted = logical_and(is_counted, not_equal(labels, ignored));
  }
  Tensor weight = sample_weight.is_valid() ? to_type(sample_weight, dtype()) : ones({}, dtype());
  if (weight.rank() > 1) weight = reshape(weight, {-1});
  weight = broadcast_to(weight, labels.shape());
  const Tensor cell =
      where(is_counted, labels * static_cast<double>(s.num_classes) + predicted, zero);
  weight = where(is_counted, weight, zeros({}, dtype()));
  const Tensor sums = math::unsorted_segment_sum(weight, cell, s.num_classes * s.num_classes);
  matrix_->assign_add(reshape(sums, {s.num_classes, s.num_classes}));
}

Tensor IoUBase::result() const {
  const Tensor matrix = cast(matrix_->value(), float32);
  const Tensor hits = linalg::diag_part(matrix);
  const Tensor either = reduce_sum(matrix, {0}) + reduce_sum(matrix, {1}) - hits;
  const Tensor ids = constant(std::span<const std::int64_t>(settings_.target_class_ids),
                              {static_cast<std::int64_t>(settings_.target_class_ids.size())});
  const Tensor denominator = gather(either, ids);
  const Tensor is_valid = greater(denominator, fill({}, 1e-9));
  const Tensor iou =
      where(is_valid, gather(hits, ids) / (denominator + kEpsilon), zeros({}, float32));
  return reduce_sum(iou) / (reduce_sum(cast(is_valid, float32)) + kEpsilon);
}

IoUMetric::IoUMetric(IoUConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  start({.num_classes = config_.num_classes,
         .target_class_ids = config_.target_class_ids,
         .ignore_class = config_.ignore_class,
         .sparse_y_true = config_.sparse_y_true,
         .sparse_y_pred = config_.sparse_y_pred,
         .axis = config_.axis});
}
BinaryIoUMetric::BinaryIoUMetric(BinaryIoUConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  start({.num_classes = 2,
         .target_class_ids = config_.target_class_ids,
         .threshold = config_.threshold});
}
MeanIoUMetric::MeanIoUMetric(MeanIoUConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  start({.num_classes = config_.num_classes,
         .target_class_ids = all_classes(config_.num_classes),
         .ignore_class = config_.ignore_class,
         .sparse_y_true = config_.sparse_y_true,
         .sparse_y_pred = config_.sparse_y_pred,
         .axis = config_.axis});
}
OneHotIoUMetric::OneHotIoUMetric(OneHotIoUConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  start({.num_classes = config_.num_classes,
         .target_class_ids = config_.target_class_ids,
         .ignore_class = config_.ignore_class,
         .sparse_y_true = false,
         .sparse_y_pred = config_.sparse_y_pred,
         .axis = config_.axis});
}
OneHotMeanIoUMetric::OneHotMeanIoUMetric(OneHotMeanIoUConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  start({.num_classes = config_.num_classes,
         .target_class_ids = all_classes(config_.num_classes),
         .ignore_class = config_.ignore_class,
         .sparse_y_true = false,
         .sparse_y_pred = config_.sparse_y_pred,
         .axis = config_.axis});
}

}  // namespace plimsoll::keras
