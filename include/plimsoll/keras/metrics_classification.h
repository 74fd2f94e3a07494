// Metrics of decisions: counts, precision and recall, areas under curves, F scores, overlaps.
#pragma once

#include "plimsoll/keras/metric.h"

namespace plimsoll::keras {

// No number, one, or several.
class Numbers {
 public:
  Numbers() noexcept = default;
  Numbers(double one) : values_{one} {}
  Numbers(std::vector<double> list) : values_(std::move(list)), is_list_(true) {}
  Numbers(std::initializer_list<double> list) : values_(list), is_list_(true) {}

  bool is_none() const noexcept { return values_.empty(); }
  const std::vector<double>& values() const noexcept { return values_; }

  friend Json to_config(const Numbers& thresholds);
  friend void from_config(const Json& json, Numbers& thresholds);

 private:
  std::vector<double> values_;
  bool is_list_ = false;
};

enum class Confusion { kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives };

// What counts true and false decisions, for each of some thresholds.
class ConfusionBase : public Metric {
 public:
  using Metric::Metric;
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;

 protected:
  // Which are kept, in the order of their variables. throws: InvalidArgumentError.
  void start(std::vector<Confusion> kept, std::vector<double> thresholds);
  virtual void build(const Shape& y_pred);
  VariablePtr count(Confusion which) const;  // null if it is not kept
  Tensor value(Confusion which) const;
  Tensor rate(Confusion hits, Confusion misses) const;  // hits / (hits + misses)
  std::size_t num_thresholds() const noexcept { return thresholds_.size(); }

  std::optional<std::int64_t> top_k_, class_id_;
  bool is_multi_label_ = false;
  std::vector<double> label_weights_;
  std::vector<std::string> variable_names_;  // none: Keras's for each

 private:
  std::vector<Confusion> kept_;
  std::vector<double> thresholds_;
  std::vector<VariablePtr> counts_;
};

struct ConditionCountConfig {
  Numbers thresholds = {};  // in [0, 1]; none: 0.5
  void visit(ConfigVisitor& v) { v("thresholds", thresholds); }
};
class ConditionCount : public ConfusionBase {
 public:
  using ConfusionBase::ConfusionBase;
  Tensor result() const override;

 protected:
  void start(Confusion which, const Numbers& thresholds);

 private:
  Confusion which_{};
};

struct TruePositivesConfig : ConditionCountConfig {
  static constexpr const char* kClassName = "TruePositives";
  TruePositivesConfig(ConditionCountConfig config = {}) : ConditionCountConfig(std::move(config)) {}
};
class TruePositivesMetric : public ConfiguredMetric<ConditionCount, TruePositivesConfig> {
 public:
  explicit TruePositivesMetric(TruePositivesConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(Confusion::kTruePositives, config_.thresholds);
  }
};

struct TrueNegativesConfig : ConditionCountConfig {
  static constexpr const char* kClassName = "TrueNegatives";
  TrueNegativesConfig(ConditionCountConfig config = {}) : ConditionCountConfig(std::move(config)) {}
};
class TrueNegativesMetric : public ConfiguredMetric<ConditionCount, TrueNegativesConfig> {
 public:
  explicit TrueNegativesMetric(TrueNegativesConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(Confusion::kTrueNegatives, config_.thresholds);
  }
};

struct FalsePositivesConfig : ConditionCountConfig {
  static constexpr const char* kClassName = "FalsePositives";
  FalsePositivesConfig(ConditionCountConfig config = {})
      : ConditionCountConfig(std::move(config)) {}
};
class FalsePositivesMetric : public ConfiguredMetric<ConditionCount, FalsePositivesConfig> {
 public:
  explicit FalsePositivesMetric(FalsePositivesConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(Confusion::kFalsePositives, config_.thresholds);
  }
};

struct FalseNegativesConfig : ConditionCountConfig {
  static constexpr const char* kClassName = "FalseNegatives";
  FalseNegativesConfig(ConditionCountConfig config = {})
      : ConditionCountConfig(std::move(config)) {}
};
class FalseNegativesMetric : public ConfiguredMetric<ConditionCount, FalseNegativesConfig> {
 public:
  explicit FalseNegativesMetric(FalseNegativesConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(Confusion::kFalseNegatives, config_.thresholds);
  }
};

struct PrecisionConfig {
  static constexpr const char* kClassName = "Precision";
  Numbers thresholds = {};
  std::optional<std::int64_t> top_k = {};     // only the k likeliest classes count as predicted
  std::optional<std::int64_t> class_id = {};  // only this class
  void visit(ConfigVisitor& v) {
    v("thresholds", thresholds);
    v("top_k", top_k);
    v("class_id", class_id);
  }
};
class PrecisionMetric : public ConfiguredMetric<ConfusionBase, PrecisionConfig> {
 public:
  explicit PrecisionMetric(PrecisionConfig config, MetricOptions options = {});
  Tensor result() const override;
};

struct RecallConfig {
  static constexpr const char* kClassName = "Recall";
  Numbers thresholds = {};
  std::optional<std::int64_t> top_k = {};     // only the k likeliest classes count as predicted
  std::optional<std::int64_t> class_id = {};  // only this class
  void visit(ConfigVisitor& v) {
    v("thresholds", thresholds);
    v("top_k", top_k);
    v("class_id", class_id);
  }
};
class RecallMetric : public ConfiguredMetric<ConfusionBase, RecallConfig> {
 public:
  explicit RecallMetric(RecallConfig config, MetricOptions options = {});
  Tensor result() const override;
};

// The best of one rate where another is at least as high as asked.
class BestUnderConstraint : public ConfusionBase {
 public:
  using ConfusionBase::ConfusionBase;

 protected:
  void start(const char* name, double value, std::int64_t num_thresholds,
             std::optional<std::int64_t> class_id);
  Tensor best(const Tensor& constrained, const Tensor& dependent) const;

 private:
  double value_ = 0;
};

struct SensitivityAtSpecificityConfig {
  static constexpr const char* kClassName = "SensitivityAtSpecificity";
  double specificity = 0.5;  // in [0, 1]
  std::int64_t num_thresholds = 200;
  std::optional<std::int64_t> class_id = {};
  void visit(ConfigVisitor& v) {
    v("class_id", class_id);
    v("num_thresholds", num_thresholds);
    v("specificity", specificity);
  }
};
class SensitivityAtSpecificityMetric
    : public ConfiguredMetric<BestUnderConstraint, SensitivityAtSpecificityConfig> {
 public:
  explicit SensitivityAtSpecificityMetric(SensitivityAtSpecificityConfig config,
                                          MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start("specificity", config_.specificity, config_.num_thresholds, config_.class_id);
  }
  Tensor result() const override;
};

struct SpecificityAtSensitivityConfig {
  static constexpr const char* kClassName = "SpecificityAtSensitivity";
  double sensitivity = 0.5;  // in [0, 1]
  std::int64_t num_thresholds = 200;
  std::optional<std::int64_t> class_id = {};
  void visit(ConfigVisitor& v) {
    v("class_id", class_id);
    v("num_thresholds", num_thresholds);
    v("sensitivity", sensitivity);
  }
};
class SpecificityAtSensitivityMetric
    : public ConfiguredMetric<BestUnderConstraint, SpecificityAtSensitivityConfig> {
 public:
  explicit SpecificityAtSensitivityMetric(SpecificityAtSensitivityConfig config,
                                          MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start("sensitivity", config_.sensitivity, config_.num_thresholds, config_.class_id);
  }
  Tensor result() const override;
};

struct PrecisionAtRecallConfig {
  static constexpr const char* kClassName = "PrecisionAtRecall";
  double recall = 0.5;  // in [0, 1]
  std::int64_t num_thresholds = 200;
  std::optional<std::int64_t> class_id = {};
  void visit(ConfigVisitor& v) {
    v("class_id", class_id);
    v("num_thresholds", num_thresholds);
    v("recall", recall);
  }
};
class PrecisionAtRecallMetric
    : public ConfiguredMetric<BestUnderConstraint, PrecisionAtRecallConfig> {
 public:
  explicit PrecisionAtRecallMetric(PrecisionAtRecallConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start("recall", config_.recall, config_.num_thresholds, config_.class_id);
  }
  Tensor result() const override;
};

struct RecallAtPrecisionConfig {
  static constexpr const char* kClassName = "RecallAtPrecision";
  double precision = 0.5;  // in [0, 1]
  std::int64_t num_thresholds = 200;
  std::optional<std::int64_t> class_id = {};
  void visit(ConfigVisitor& v) {
    v("class_id", class_id);
    v("num_thresholds", num_thresholds);
    v("precision", precision);
  }
};
class RecallAtPrecisionMetric
    : public ConfiguredMetric<BestUnderConstraint, RecallAtPrecisionConfig> {
 public:
  explicit RecallAtPrecisionMetric(RecallAtPrecisionConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start("precision", config_.precision, config_.num_thresholds, config_.class_id);
  }
  Tensor result() const override;
};

struct AUCConfig {
  static constexpr const char* kClassName = "AUC";
  std::int64_t num_thresholds = 200;
  std::string curve = "ROC";                       // PR, PRGAIN
  std::string summation_method = "interpolation";  // majoring, minoring
  Numbers thresholds = {};                         // none: num_thresholds of them, evenly
  bool multi_label = false;
  std::optional<std::int64_t> num_labels = {};
  Numbers label_weights = {};
  bool from_logits = false;
  void visit(ConfigVisitor& v);
};
// The area under a curve, by sums over thresholds.
class AUCMetric : public ConfiguredMetric<ConfusionBase, AUCConfig> {
 public:
  explicit AUCMetric(AUCConfig config, MetricOptions options = {});
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 protected:
  void build(const Shape& y_pred) override;

 private:
  Tensor interpolated_pr() const;
  std::pair<Tensor, Tensor> curve() const;
  Tensor summed(const Tensor& terms) const;
};

class FScoreBase : public Metric {
 public:
  using Metric::Metric;
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 protected:
  // throws: InvalidArgumentError.
  void start(std::optional<std::string> average, double beta, std::optional<double> threshold);

 private:
  void build(const Shape& y_true, const Shape& y_pred);

  std::optional<std::string> average_;
  double beta_ = 1;
  std::optional<double> threshold_;
  VariablePtr true_positives_, false_positives_, false_negatives_, weights_;
};
struct FBetaScoreConfig {
  static constexpr const char* kClassName = "FBetaScore";
  static constexpr const char* kName = "fbeta_score";
  std::optional<std::string> average = {};  // micro, macro, weighted; none: one for each class
  double beta = 1;
  std::optional<double> threshold = {};  // none: the largest is the predicted one
  void visit(ConfigVisitor& v) {
    v("average", average);
    v("beta", beta);
    v("threshold", threshold);
  }
};
class FBetaScoreMetric : public ConfiguredMetric<FScoreBase, FBetaScoreConfig> {
 public:
  explicit FBetaScoreMetric(FBetaScoreConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(config_.average, config_.beta, config_.threshold);
  }
};
struct F1ScoreConfig {
  static constexpr const char* kClassName = "F1Score";
  static constexpr const char* kName = "f1_score";
  std::optional<std::string> average = {};
  std::optional<double> threshold = {};
  void visit(ConfigVisitor& v) {
    v("average", average);
    v("threshold", threshold);
  }
};
class F1ScoreMetric : public ConfiguredMetric<FScoreBase, F1ScoreConfig> {
 public:
  explicit F1ScoreMetric(F1ScoreConfig config, MetricOptions options = {})
      : ConfiguredMetric(std::move(config), std::move(options)) {
    start(config_.average, 1, config_.threshold);
  }
};

// How far predicted and true classes overlap: |both| / |either|, the mean over some classes.
struct IoUSettings {
  std::int64_t num_classes = 0;
  std::vector<std::int64_t> target_class_ids = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;  // classes, not one number for each
  std::int64_t axis = -1;
  std::optional<double> threshold = {};  // of predictions between 0 and 1
};
class IoUBase : public Metric {
 public:
  explicit IoUBase(MetricOptions options);
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight = {}) override;
  Tensor result() const override;

 protected:
  // throws: InvalidArgumentError for a class that is not there.
  void start(IoUSettings settings);

 private:
  IoUSettings settings_;
  VariablePtr matrix_;
};

struct IoUConfig {
  static constexpr const char* kClassName = "IoU";
  std::int64_t num_classes = 0;
  std::vector<std::int64_t> target_class_ids = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("num_classes", num_classes);
    v("target_class_ids", target_class_ids);
    v("ignore_class", ignore_class);
    v("sparse_y_true", sparse_y_true);
    v("sparse_y_pred", sparse_y_pred);
    v("axis", axis);
  }
};
class IoUMetric : public ConfiguredMetric<IoUBase, IoUConfig> {
 public:
  explicit IoUMetric(IoUConfig config, MetricOptions options = {});
};

struct BinaryIoUConfig {
  static constexpr const char* kClassName = "BinaryIoU";
  std::vector<std::int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;
  void visit(ConfigVisitor& v) {
    v("target_class_ids", target_class_ids);
    v("threshold", threshold);
  }
};
class BinaryIoUMetric : public ConfiguredMetric<IoUBase, BinaryIoUConfig> {
 public:
  explicit BinaryIoUMetric(BinaryIoUConfig config, MetricOptions options = {});
};

struct MeanIoUConfig {
  static constexpr const char* kClassName = "MeanIoU";
  std::int64_t num_classes = 0;
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("num_classes", num_classes);
    v("ignore_class", ignore_class);
    v("sparse_y_true", sparse_y_true);
    v("sparse_y_pred", sparse_y_pred);
    v("axis", axis);
  }
};
class MeanIoUMetric : public ConfiguredMetric<IoUBase, MeanIoUConfig> {
 public:
  explicit MeanIoUMetric(MeanIoUConfig config, MetricOptions options = {});
};

struct OneHotIoUConfig {
  static constexpr const char* kClassName = "OneHotIoU";
  std::int64_t num_classes = 0;
  std::vector<std::int64_t> target_class_ids = {};
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("num_classes", num_classes);
    v("target_class_ids", target_class_ids);
    v("ignore_class", ignore_class);
    v("sparse_y_pred", sparse_y_pred);
    v("axis", axis);
  }
};
class OneHotIoUMetric : public ConfiguredMetric<IoUBase, OneHotIoUConfig> {
 public:
  explicit OneHotIoUMetric(OneHotIoUConfig config, MetricOptions options = {});
};

struct OneHotMeanIoUConfig {
  static constexpr const char* kClassName = "OneHotMeanIoU";
  std::int64_t num_classes = 0;
  std::optional<std::int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("num_classes", num_classes);
    v("ignore_class", ignore_class);
    v("sparse_y_pred", sparse_y_pred);
    v("axis", axis);
  }
};
class OneHotMeanIoUMetric : public ConfiguredMetric<IoUBase, OneHotMeanIoUConfig> {
 public:
  explicit OneHotMeanIoUMetric(OneHotMeanIoUConfig config, MetricOptions options = {});
};

namespace metrics {
using TruePositives = MetricRef<TruePositivesMetric>;
using TrueNegatives = MetricRef<TrueNegativesMetric>;
using FalsePositives = MetricRef<FalsePositivesMetric>;
using FalseNegatives = MetricRef<FalseNegativesMetric>;
using Precision = MetricRef<PrecisionMetric>;
using Recall = MetricRef<RecallMetric>;
using SensitivityAtSpecificity = MetricRef<SensitivityAtSpecificityMetric>;
using SpecificityAtSensitivity = MetricRef<SpecificityAtSensitivityMetric>;
using PrecisionAtRecall = MetricRef<PrecisionAtRecallMetric>;
using RecallAtPrecision = MetricRef<RecallAtPrecisionMetric>;
using AUC = MetricRef<AUCMetric>;
using FBetaScore = MetricRef<FBetaScoreMetric>;
using F1Score = MetricRef<F1ScoreMetric>;
using IoU = MetricRef<IoUMetric>;
using BinaryIoU = MetricRef<BinaryIoUMetric>;
using MeanIoU = MetricRef<MeanIoUMetric>;
using OneHotIoU = MetricRef<OneHotIoUMetric>;
using OneHotMeanIoU = MetricRef<OneHotMeanIoUMetric>;
}  // namespace metrics

}  // namespace plimsoll::keras
