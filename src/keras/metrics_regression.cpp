#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

void RootMeanSquaredErrorMetric::update_state(std::span<const Tensor> args,
                                              const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  const auto [labels, predicted] =
      squeeze_or_expand_to_same_rank(to_type(args[0], dtype()), to_type(args[1], dtype()));
  const Tensor squares = square(predicted - labels);
  MeanBase::update_state(std::span(&squares, 1), sample_weight);
}
Tensor RootMeanSquaredErrorMetric::result() const {
  return sqrt(MeanBase::result());
}

R2ScoreMetric::R2ScoreMetric(R2ScoreConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  const auto& aggregation = config_.class_aggregation;
  PLIMSOLL_CHECK(!aggregation || *aggregation == "uniform_average" ||
                     *aggregation == "variance_weighted_average",
                 InvalidArgumentError,
                 "Invalid value for argument `class_aggregation`. Expected one of (None, "
                 "'uniform_average', 'variance_weighted_average'). Received: class_aggregation={}",
                 *aggregation);
  PLIMSOLL_CHECK(config_.num_regressors >= 0, InvalidArgumentError,
                 "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                 "num_regressors={}",
                 config_.num_regressors);
  num_samples_ = add_variable({}, "zeros", "num_samples");
}

void R2ScoreMetric::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  const auto [labels, predicted] =
      squeeze_or_expand_to_same_rank(to_type(args[0], dtype()), to_type(args[1], dtype()));
  PLIMSOLL_CHECK(labels.rank() == 2 && predicted.rank() == 2, InvalidArgumentError,
                 "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input "
                 "shapes: y_pred.shape={} and y_true.shape={}.",
                 predicted.shape().to_string(), labels.shape().to_string());
  if (!sum_) {
    const Shape shape{predicted.shape()[1]};
    squared_sum_ = add_variable(shape, "zeros", "squared_sum");
    sum_ = add_variable(shape, "zeros", "sum");
    residual_ = add_variable(shape, "zeros", "residual");
    count_ = add_variable(shape, "zeros", "count");
  }
  Tensor weight = sample_weight.is_valid() ? to_type(sample_weight, dtype()) : ones({}, dtype());
  if (weight.rank() == 1) weight = expand_dims(weight, 1);
  weight = broadcast_to(weight, labels.shape());
  const Tensor weighted = labels * weight;
  sum_->assign_add(reduce_sum(weighted, {0}));
  squared_sum_->assign_add(reduce_sum(labels * weighted, {0}));
  residual_->assign_add(reduce_sum(square(labels - predicted) * weight, {0}));
  count_->assign_add(reduce_sum(weight, {0}));
  num_samples_->assign_add(fill({}, static_cast<double>(labels.num_elements()), dtype()));
}

Tensor R2ScoreMetric::result() const {
  if (!sum_) return zeros({}, dtype());
  const Tensor total = squared_sum_->value() - sum_->value() * (sum_->value() / count_->value());
  Tensor scores = 1 - residual_->value() / total;
  scores = where(math::is_inf(scores), zeros({}, dtype()), scores);
  if (config_.class_aggregation == "uniform_average") {
    scores = reduce_mean(scores);
  } else if (config_.class_aggregation) {
    scores = reduce_sum(total * scores) / reduce_sum(total);
  }
  if (config_.num_regressors == 0) return scores;
  // Adjusted, where there are enough samples for it.
  const Tensor freedom = num_samples_->value() - (static_cast<double>(config_.num_regressors) + 1);
  const Tensor adjusted = 1 - (1 - scores) * (num_samples_->value() - 1) / freedom;
  return where(greater(freedom, zeros({}, dtype())), adjusted, scores);
}

namespace metrics {

Tensor pearson_correlation(const Tensor& y_true, const Tensor& y_pred,
                           const PearsonCorrelationConfig& options) {
  const auto [labels, predicted] =
      squeeze_or_expand_to_same_rank(to_type(y_true, y_pred.dtype()), y_pred);
  const Axes axis{options.axis};
  const auto standard = [&](const Tensor& x) {
    const Tensor centred = x - reduce_mean(x, axis, true);
    return centred / math::reduce_std(centred, axis, true);
  };
  return reduce_mean(standard(labels) * standard(predicted), axis);
}

Tensor concordance_correlation(const Tensor& y_true, const Tensor& y_pred,
                               const ConcordanceCorrelationConfig& options) {
  const auto [labels, predicted] =
      squeeze_or_expand_to_same_rank(to_type(y_true, y_pred.dtype()), y_pred);
  const Axes axis{options.axis};
  const Tensor mean_true = reduce_mean(labels, axis, true);
  const Tensor mean_pred = reduce_mean(predicted, axis, true);
  const Tensor both = (labels - mean_pred) * (predicted - mean_pred);
  const Tensor norm = math::reduce_variance(labels - mean_true, axis, true) +
                      math::reduce_variance(predicted - mean_pred, axis, true) +
                      square(mean_true - mean_pred);
  return reduce_mean(2 * both / (norm + kEpsilon), axis);
}

}  // namespace metrics
}  // namespace plimsoll::keras
