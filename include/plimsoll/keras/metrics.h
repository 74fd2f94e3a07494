// Keras's metrics.
//
//   auto accuracy = keras::metrics::SparseCategoricalAccuracy();
//   accuracy->update_with(labels, predictions, {});
//   accuracy->result();                                    // over all updates since reset_state()
#pragma once

#include <functional>

#include "plimsoll/keras/keras_tensor.h"
#include "plimsoll/keras/losses.h"
#include "plimsoll/keras/metric.h"
#include "plimsoll/keras/metrics_classification.h"

namespace plimsoll::keras {

// What keeps a weighted mean.
class MeanBase : public Metric {
 public:
  explicit MeanBase(MetricOptions options);
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  VariablePtr total_, count_;
};

struct MeanConfig {
  static constexpr const char* kClassName = "Mean";
  static constexpr const char* kName = "mean";
  void visit(ConfigVisitor&) {}
};
// The weighted mean of all values.
class MeanMetric : public ConfiguredMetric<MeanBase, MeanConfig> {
 public:
  using ConfiguredMetric::ConfiguredMetric;
};

struct SumConfig {
  static constexpr const char* kClassName = "Sum";
  static constexpr const char* kName = "sum";
  void visit(ConfigVisitor&) {}
};
// The weighted sum of all values.
class SumMetric : public ConfiguredMetric<Metric, SumConfig> {
 public:
  explicit SumMetric(SumConfig config, MetricOptions options = {});
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  VariablePtr total_;
};

// The mean of a function of y_true and y_pred.
class MeanMetricWrapper : public MeanBase {
 public:
  using Fn = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  MeanMetricWrapper(Fn fn, MetricOptions options);
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  std::string class_name() const override { return "MeanMetricWrapper"; }

 protected:
  explicit MeanMetricWrapper(MetricOptions options) : MeanBase(std::move(options)) {}
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) const;

 private:
  Fn fn_;
};

struct BinaryAccuracyConfig {
  static constexpr const char* kClassName = "BinaryAccuracy";
  static constexpr const char* kName = "binary_accuracy";
  double threshold = 0.5;
  void visit(ConfigVisitor& v) { v("threshold", threshold); }
};
struct TopKCategoricalAccuracyConfig {
  static constexpr const char* kClassName = "TopKCategoricalAccuracy";
  static constexpr const char* kName = "top_k_categorical_accuracy";
  std::int64_t k = 5;
  void visit(ConfigVisitor& v) { v("k", k); }
};
struct SparseTopKCategoricalAccuracyConfig {
  static constexpr const char* kClassName = "SparseTopKCategoricalAccuracy";
  static constexpr const char* kName = "sparse_top_k_categorical_accuracy";
  std::int64_t k = 5;
  bool from_sorted_ids = false;  // y_pred are classes, the likeliest first
  void visit(ConfigVisitor& v) {
    v("k", k);
    v.optional("from_sorted_ids", from_sorted_ids, false);
  }
};
struct CosineSimilarityMetricConfig {
  static constexpr const char* kClassName = "CosineSimilarity";
  static constexpr const char* kName = "cosine_similarity";
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    if (v.is_reading()) v("axis", axis);  // Keras does not write it
  }
};
struct PearsonCorrelationConfig {
  static constexpr const char* kClassName = "PearsonCorrelation";
  static constexpr const char* kName = "pearson_correlation";
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
struct ConcordanceCorrelationConfig {
  static constexpr const char* kClassName = "ConcordanceCorrelation";
  static constexpr const char* kName = "concordance_correlation";
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
struct BinaryCrossentropyMetricConfig {
  static constexpr const char* kClassName = "BinaryCrossentropy";
  static constexpr const char* kName = "binary_crossentropy";
  bool from_logits = false;
  double label_smoothing = 0;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
  }
};
struct CategoricalCrossentropyMetricConfig {
  static constexpr const char* kClassName = "CategoricalCrossentropy";
  static constexpr const char* kName = "categorical_crossentropy";
  bool from_logits = false;
  double label_smoothing = 0;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
    v("axis", axis);
  }
};
struct SparseCategoricalCrossentropyMetricConfig {
  static constexpr const char* kClassName = "SparseCategoricalCrossentropy";
  static constexpr const char* kName = "sparse_categorical_crossentropy";
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("ignore_class", ignore_class);
    v("axis", axis);
  }
};

// A number for each sample.
namespace metrics {
Tensor accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred,
                       const BinaryAccuracyConfig& options = {});
Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred);
Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                  const TopKCategoricalAccuracyConfig& options = {});
Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                         const SparseTopKCategoricalAccuracyConfig& options = {});
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityMetricConfig& options = {});
Tensor pearson_correlation(const Tensor& y_true, const Tensor& y_pred,
                           const PearsonCorrelationConfig& options = {});
Tensor concordance_correlation(const Tensor& y_true, const Tensor& y_pred,
                               const ConcordanceCorrelationConfig& options = {});
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyMetricConfig& options = {});
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyMetricConfig& options = {});
Tensor sparse_categorical_crossentropy(
    const Tensor& y_true, const Tensor& y_pred,
    const SparseCategoricalCrossentropyMetricConfig& options = {});
using losses::categorical_hinge;
using losses::hinge;
using losses::kl_divergence;
using losses::log_cosh;
using losses::mean_absolute_error;
using losses::mean_absolute_percentage_error;
using losses::mean_squared_error;
using losses::mean_squared_logarithmic_error;
using losses::poisson;
using losses::squared_hinge;
}  // namespace metrics

// The class of a function of these.
template <class C, auto kFunction>
class FunctionMetric : public ConfiguredMetric<MeanMetricWrapper, C> {
 public:
  using ConfiguredMetric<MeanMetricWrapper, C>::ConfiguredMetric;
  std::string class_name() const override { return C::kClassName; }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    if constexpr (std::is_invocable_v<decltype(kFunction), const Tensor&, const Tensor&,
                                      const C&>) {
      return kFunction(y_true, y_pred, this->config_);
    } else {
      return kFunction(y_true, y_pred);
    }
  }
};

// Metrics without options of their own.
#define PLIMSOLL_PLAIN_METRIC(Name, name, function)                           \
  struct Name##MetricConfig {                                                 \
    static constexpr const char* kClassName = #Name;                          \
    static constexpr const char* kName = #name;                               \
    void visit(ConfigVisitor&) {}                                             \
  };                                                                          \
  using Name##Metric = FunctionMetric<Name##MetricConfig, metrics::function>; \
  namespace metrics {                                                         \
  using Name = MetricRef<Name##Metric>;                                       \
  }
PLIMSOLL_PLAIN_METRIC(Accuracy, accuracy, accuracy)
PLIMSOLL_PLAIN_METRIC(CategoricalAccuracy, categorical_accuracy, categorical_accuracy)
PLIMSOLL_PLAIN_METRIC(SparseCategoricalAccuracy, sparse_categorical_accuracy,
                      sparse_categorical_accuracy)
PLIMSOLL_PLAIN_METRIC(MeanSquaredError, mean_squared_error, mean_squared_error)
PLIMSOLL_PLAIN_METRIC(MeanAbsoluteError, mean_absolute_error, mean_absolute_error)
PLIMSOLL_PLAIN_METRIC(MeanAbsolutePercentageError, mean_absolute_percentage_error,
                      mean_absolute_percentage_error)
PLIMSOLL_PLAIN_METRIC(MeanSquaredLogarithmicError, mean_squared_logarithmic_error,
                      mean_squared_logarithmic_error)
PLIMSOLL_PLAIN_METRIC(LogCoshError, logcosh, log_cosh)
PLIMSOLL_PLAIN_METRIC(Hinge, hinge, hinge)
PLIMSOLL_PLAIN_METRIC(SquaredHinge, squared_hinge, squared_hinge)
PLIMSOLL_PLAIN_METRIC(CategoricalHinge, categorical_hinge, categorical_hinge)
PLIMSOLL_PLAIN_METRIC(KLDivergence, kl_divergence, kl_divergence)
PLIMSOLL_PLAIN_METRIC(Poisson, poisson, poisson)
#undef PLIMSOLL_PLAIN_METRIC

struct RootMeanSquaredErrorConfig {
  static constexpr const char* kClassName = "RootMeanSquaredError";
  static constexpr const char* kName = "root_mean_squared_error";
  void visit(ConfigVisitor&) {}
};
class RootMeanSquaredErrorMetric : public ConfiguredMetric<MeanBase, RootMeanSquaredErrorConfig> {
 public:
  using ConfiguredMetric::ConfiguredMetric;
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;
};

struct R2ScoreConfig {
  static constexpr const char* kClassName = "R2Score";
  static constexpr const char* kName = "r2_score";
  // Or variance_weighted_average; none: one for each output.
  std::optional<std::string> class_aggregation = "uniform_average";
  std::int64_t num_regressors = 0;  // for the adjusted score
  void visit(ConfigVisitor& v) {
    v("class_aggregation", class_aggregation);
    v("num_regressors", num_regressors);
  }
};
class R2ScoreMetric : public ConfiguredMetric<Metric, R2ScoreConfig> {
 public:
  explicit R2ScoreMetric(R2ScoreConfig config, MetricOptions options = {});
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 private:
  VariablePtr num_samples_, squared_sum_, sum_, residual_, count_;
};

using PearsonCorrelationMetric =
    FunctionMetric<PearsonCorrelationConfig, metrics::pearson_correlation>;
using ConcordanceCorrelationMetric =
    FunctionMetric<ConcordanceCorrelationConfig, metrics::concordance_correlation>;
using BinaryAccuracyMetric = FunctionMetric<BinaryAccuracyConfig, metrics::binary_accuracy>;
using TopKCategoricalAccuracyMetric =
    FunctionMetric<TopKCategoricalAccuracyConfig, metrics::top_k_categorical_accuracy>;
using SparseTopKCategoricalAccuracyMetric =
    FunctionMetric<SparseTopKCategoricalAccuracyConfig, metrics::sparse_top_k_categorical_accuracy>;
using CosineSimilarityMetric =
    FunctionMetric<CosineSimilarityMetricConfig, metrics::cosine_similarity>;
using BinaryCrossentropyMetric =
    FunctionMetric<BinaryCrossentropyMetricConfig, metrics::binary_crossentropy>;
using CategoricalCrossentropyMetric =
    FunctionMetric<CategoricalCrossentropyMetricConfig, metrics::categorical_crossentropy>;
using SparseCategoricalCrossentropyMetric =
    FunctionMetric<SparseCategoricalCrossentropyMetricConfig,
                   metrics::sparse_categorical_crossentropy>;

namespace metrics {
using Mean = MetricRef<MeanMetric>;
using Sum = MetricRef<SumMetric>;
using RootMeanSquaredError = MetricRef<RootMeanSquaredErrorMetric>;
using R2Score = MetricRef<R2ScoreMetric>;
using PearsonCorrelation = MetricRef<PearsonCorrelationMetric>;
using ConcordanceCorrelation = MetricRef<ConcordanceCorrelationMetric>;
using BinaryAccuracy = MetricRef<BinaryAccuracyMetric>;
using TopKCategoricalAccuracy = MetricRef<TopKCategoricalAccuracyMetric>;
using SparseTopKCategoricalAccuracy = MetricRef<SparseTopKCategoricalAccuracyMetric>;
using CosineSimilarity = MetricRef<CosineSimilarityMetric>;
using BinaryCrossentropy = MetricRef<BinaryCrossentropyMetric>;
using CategoricalCrossentropy = MetricRef<CategoricalCrossentropyMetric>;
using SparseCategoricalCrossentropy = MetricRef<SparseCategoricalCrossentropyMetric>;
}  // namespace metrics

// What compile() makes of "accuracy" and "acc": binary, sparse or categorical by the shapes. The
// metric has the name that was given.
MetricPtr resolve_accuracy(const std::string& name, const PartialShape& y_true,
                           const PartialShape& y_pred);
// The same for "crossentropy" and "ce".
LossPtr resolve_crossentropy(const std::string& name, const PartialShape& y_true,
                             const PartialShape& y_pred);

}  // namespace plimsoll::keras
