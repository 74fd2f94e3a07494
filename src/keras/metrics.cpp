#include "plimsoll/keras/metrics.h"

#include <cctype>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kMetrics[] = {
    {"Mean", make_metric_of_config<MeanMetric>},
    {"Sum", make_metric_of_config<SumMetric>},
    {"Accuracy", make_metric_of_config<AccuracyMetric>},
    {"BinaryAccuracy", make_metric_of_config<BinaryAccuracyMetric>},
    {"CategoricalAccuracy", make_metric_of_config<CategoricalAccuracyMetric>},
    {"SparseCategoricalAccuracy", make_metric_of_config<SparseCategoricalAccuracyMetric>},
    {"TopKCategoricalAccuracy", make_metric_of_config<TopKCategoricalAccuracyMetric>},
    {"SparseTopKCategoricalAccuracy", make_metric_of_config<SparseTopKCategoricalAccuracyMetric>},
    {"MeanSquaredError", make_metric_of_config<MeanSquaredErrorMetric>, "mse"},
    {"MeanAbsoluteError", make_metric_of_config<MeanAbsoluteErrorMetric>, "mae"},
    {"MeanAbsolutePercentageError", make_metric_of_config<MeanAbsolutePercentageErrorMetric>,
     "mape"},
    {"MeanSquaredLogarithmicError", make_metric_of_config<MeanSquaredLogarithmicErrorMetric>,
     "msle"},
    {"CosineSimilarity", make_metric_of_config<CosineSimilarityMetric>},
    {"LogCoshError", make_metric_of_config<LogCoshErrorMetric>, "logcosh"},
    {"RootMeanSquaredError", make_metric_of_config<RootMeanSquaredErrorMetric>},
    {"R2Score", make_metric_of_config<R2ScoreMetric>},
    {"PearsonCorrelation", make_metric_of_config<PearsonCorrelationMetric>},
    {"ConcordanceCorrelation", make_metric_of_config<ConcordanceCorrelationMetric>},
    {"TruePositives", make_metric_of_config<TruePositivesMetric>},
    {"TrueNegatives", make_metric_of_config<TrueNegativesMetric>},
    {"FalsePositives", make_metric_of_config<FalsePositivesMetric>},
    {"FalseNegatives", make_metric_of_config<FalseNegativesMetric>},
    {"Precision", make_metric_of_config<PrecisionMetric>},
    {"Recall", make_metric_of_config<RecallMetric>},
    {"SensitivityAtSpecificity", make_metric_of_config<SensitivityAtSpecificityMetric>},
    {"SpecificityAtSensitivity", make_metric_of_config<SpecificityAtSensitivityMetric>},
    {"PrecisionAtRecall", make_metric_of_config<PrecisionAtRecallMetric>},
    {"RecallAtPrecision", make_metric_of_config<RecallAtPrecisionMetric>},
    {"AUC", make_metric_of_config<AUCMetric>},
    {"FBetaScore", make_metric_of_config<FBetaScoreMetric>},
    {"F1Score", make_metric_of_config<F1ScoreMetric>},
    {"IoU", make_metric_of_config<IoUMetric>},
    {"BinaryIoU", make_metric_of_config<BinaryIoUMetric>},
    {"MeanIoU", make_metric_of_config<MeanIoUMetric>},
    {"OneHotIoU", make_metric_of_config<OneHotIoUMetric>},
    {"OneHotMeanIoU", make_metric_of_config<OneHotMeanIoUMetric>},
    {"Hinge", make_metric_of_config<HingeMetric>},
    {"SquaredHinge", make_metric_of_config<SquaredHingeMetric>},
    {"CategoricalHinge", make_metric_of_config<CategoricalHingeMetric>},
    {"KLDivergence", make_metric_of_config<KLDivergenceMetric>},
    {"Poisson", make_metric_of_config<PoissonMetric>},
    {"BinaryCrossentropy", make_metric_of_config<BinaryCrossentropyMetric>, "bce"},
    {"CategoricalCrossentropy", make_metric_of_config<CategoricalCrossentropyMetric>},
    {"SparseCategoricalCrossentropy", make_metric_of_config<SparseCategoricalCrossentropyMetric>},
};

enum class Labels { kBinary, kSparse, kCategorical };
Labels labels_of(const PartialShape& y_true, const PartialShape& y_pred) {
  const std::int64_t last = y_pred.rank() > 0 ? y_pred[-1] : 1;
  if (last == 1) return Labels::kBinary;
  if (y_true.rank() < y_pred.rank() || (y_true[-1] == 1 && last > 1)) return Labels::kSparse;
  return Labels::kCategorical;
}

}  // namespace

std::span<const ClassRow> metric_rows() {
  return kMetrics;
}

std::shared_ptr<Metric> Metric::get(const Json& identifier) {
  if (identifier.is_string()) {  // MSE is mse
    for (const ClassRow& row : kMetrics) {
      std::string upper = row.alias ? row.alias : "";
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (!upper.empty() && upper == identifier.as_string()) return get(Json(row.alias));
    }
  }
  return make_object_of<Metric>(identifier, kMetrics, "metric");
}

MetricPtr resolve_accuracy(const std::string& name, const PartialShape& y_true,
                           const PartialShape& y_pred) {
  const MetricOptions options{.name = name};
  switch (labels_of(y_true, y_pred)) {
    case Labels::kBinary:
      return std::make_shared<BinaryAccuracyMetric>(BinaryAccuracyConfig{}, options);
    case Labels::kSparse:
      return std::make_shared<SparseCategoricalAccuracyMetric>(
          SparseCategoricalAccuracyMetricConfig{}, options);
    case Labels::kCategorical:
      break;
  }
  return std::make_shared<CategoricalAccuracyMetric>(CategoricalAccuracyMetricConfig{}, options);
}

LossPtr resolve_crossentropy(const std::string& name, const PartialShape& y_true,
                             const PartialShape& y_pred) {
  const LossOptions options{.name = name};
  switch (labels_of(y_true, y_pred)) {
    case Labels::kBinary:
      return std::make_shared<BinaryCrossentropyLoss>(BinaryCrossentropyLossConfig{}, options);
    case Labels::kSparse:
      return std::make_shared<SparseCategoricalCrossentropyLoss>(
          SparseCategoricalCrossentropyLossConfig{}, options);
    case Labels::kCategorical:
      break;
  }
  return std::make_shared<CategoricalCrossentropyLoss>(CategoricalCrossentropyLossConfig{},
                                                       options);
}

MeanBase::MeanBase(MetricOptions options)
    : Metric(std::move(options)),
      total_(add_variable(Shape(), "zeros", "total")),
      count_(add_variable(Shape(), "zeros", "count")) {}

void MeanBase::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 1, InvalidArgumentError,
                 "metric '{}' takes one tensor of values, received {}", name(), args.size());
  const Reduced reduced = reduce_to_samplewise_values(args[0], sample_weight, dtype());
  total_->assign_add(reduce_sum(reduced.values));
  count_->assign_add(
      reduced.weights.is_valid()
          ? reduce_sum(reduced.weights)
          : fill(Shape(), static_cast<double>(reduced.values.num_elements()), dtype()));
}

Tensor MeanBase::result() const {
  return math::divide_no_nan(total_->value(), count_->value());
}

SumMetric::SumMetric(SumConfig config, MetricOptions options)
    : ConfiguredMetric(config, std::move(options)),
      total_(add_variable(Shape(), "zeros", "total")) {}

void SumMetric::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 1, InvalidArgumentError,
                 "metric '{}' takes one tensor of values, received {}", name(), args.size());
  total_->assign_add(
      reduce_sum(reduce_to_samplewise_values(args[0], sample_weight, dtype(), true).values));
}

Tensor SumMetric::result() const {
  return total_->value();
}

MeanMetricWrapper::MeanMetricWrapper(Fn fn, MetricOptions options)
    : MeanBase(with_default_name(std::move(options), "MeanMetricWrapper", nullptr)),
      fn_(std::move(fn)) {
  PLIMSOLL_CHECK(fn_, InvalidArgumentError, "MeanMetricWrapper '{}' needs a function", name());
}

Tensor MeanMetricWrapper::values(const Tensor& y_true, const Tensor& y_pred) const {
  return fn_(y_true, y_pred);
}

void MeanMetricWrapper::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  const Tensor weight = apply_mask(sample_weight, keras_mask(args[1]), dtype(), "sum");
  const Tensor found = values(args[0], args[1]);
  MeanBase::update_state(std::span(&found, 1), weight);
}

}  // namespace plimsoll::keras
