#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/metrics_classification.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr double kNever = -1e10;  // of predictions that do not count

void check_range(const Numbers& thresholds) {
  Json wrong = Json::array();
  for (const double t : thresholds.values()) {
    if (!(t >= 0 && t <= 1)) wrong.push_back(t);
  }
  PLIMSOLL_CHECK(wrong.as_array().empty(), InvalidArgumentError,
                 "Threshold values must be in [0, 1]. Received: {}", wrong.dump());
}
std::vector<double> values_or(const Numbers& thresholds, double otherwise) {
  check_range(thresholds);
  return thresholds.is_none() ? std::vector<double>{otherwise} : thresholds.values();
}

bool are_even(const std::vector<double>& thresholds) {
  const std::size_t num = thresholds.size();
  if (num < 3) return false;
  for (std::size_t i = 0; i < num; ++i) {
    const double even = static_cast<double>(i) / static_cast<double>(num - 1);
    if (std::abs(thresholds[i] - even) > kEpsilon + 1e-5 * even) return false;
  }
  return true;
}

Tensor only_top_k(const Tensor& x, std::int64_t k) {
  const Tensor indices = math::top_k(x, k).indices;
  const std::int64_t num = x.shape()[x.rank() - 1];
  const Tensor mask = reduce_sum(one_hot(indices, num, 1, 0, -1, x.dtype()), {-2});
  return x * mask + kNever * (1 - mask);
}

// Weights of positives and negatives that are predicted for each threshold: [thresholds] or
// [thresholds, labels].
struct Predicted {
  Tensor positives, negatives;
};

// Numbers that lie evenly in [0, 1]: each prediction is counted once, in its bucket.
Predicted count_in_buckets(const Tensor& truth, const Tensor& falsehood, const Tensor& y_pred,
                           const std::vector<double>& thresholds, bool is_multi_label) {
  const auto num = static_cast<std::int64_t>(thresholds.size());
  Tensor bucket = math::ceil(clip_by_value(y_pred, 0, 1) * static_cast<double>(num - 1)) - 1;
  if (thresholds.front() < 0 || thresholds.back() > 1) bucket = nn::relu(bucket);
  Tensor ids = cast(bucket, int32);
  const std::int64_t num_labels = is_multi_label ? y_pred.shape()[1] : 1;
  if (is_multi_label) {
    const Tensor spread = ids * static_cast<double>(num_labels) + range(0, num_labels);
    ids = where(less(ids, zeros({}, int32)), ids, spread);  // those below all count nowhere
  }
  const auto sums = [&](const Tensor& weights) {
    const Tensor flat =
        math::unsorted_segment_sum(reshape(weights, {-1}), reshape(ids, {-1}), num * num_labels);
    const Tensor by_bucket = is_multi_label ? reshape(flat, {num, num_labels}) : flat;
    return cumsum(by_bucket, 0, false, true);
  };
  return {sums(truth), sums(falsehood)};
}

Predicted compare_with_each(const Tensor& truth, const Tensor& falsehood, const Tensor& y_pred,
                            const std::vector<double>& thresholds, bool is_multi_label) {
  std::vector<float> limits(thresholds.begin(), thresholds.end());
  const auto num = static_cast<std::int64_t>(limits.size());
  const Tensor flat = is_multi_label ? expand_dims(y_pred, 0) : reshape(y_pred, {1, -1});
  const Tensor limit = cast(
      constant(std::span<const float>(limits), is_multi_label ? Shape{num, 1, 1} : Shape{num, 1}),
      y_pred.dtype());
  const Tensor is_positive = greater(flat, limit);
  const auto sums = [&](const Tensor& weights) {
    const Tensor one = is_multi_label ? expand_dims(weights, 0) : reshape(weights, {1, -1});
    return reduce_sum(where(is_positive, one, zeros({}, one.dtype())), {1});
  };
  return {sums(truth), sums(falsehood)};
}

}  // namespace

Json to_config(const Numbers& thresholds) {
  if (thresholds.is_list_) return to_config(thresholds.values_);
  return thresholds.is_none() ? Json() : Json(thresholds.values_[0]);
}
void from_config(const Json& json, Numbers& thresholds) {
  thresholds = {};
  if (json.is_number()) {
    thresholds = Numbers(json.as_double());
  } else if (!json.is_null()) {
    from_config(json, thresholds.values_);
    thresholds.is_list_ = true;
  }
}

void ConfusionBase::start(std::vector<Confusion> kept, std::vector<double> thresholds) {
  kept_ = std::move(kept);
  thresholds_ = std::move(thresholds);
  if (!is_multi_label_) build({});
}

void ConfusionBase::build(const Shape& y_pred) {
  static constexpr const char* kNames[] = {"true_positives", "false_positives", "true_negatives",
                                           "false_negatives"};
  const auto num = static_cast<std::int64_t>(thresholds_.size());
  for (const Confusion which : kept_) {
    const std::string name = variable_names_.empty() ? kNames[static_cast<std::size_t>(which)]
                                                     : variable_names_[counts_.size()];
    counts_.push_back(
        add_variable(is_multi_label_ ? Shape{num, y_pred[1]} : Shape{num}, "zeros", name));
  }
}

VariablePtr ConfusionBase::count(Confusion which) const {
  const auto found = std::ranges::find(kept_, which);
  const auto i = static_cast<std::size_t>(found - kept_.begin());
  return i < counts_.size() ? counts_[i] : nullptr;
}
Tensor ConfusionBase::value(Confusion which) const {
  return count(which)->value();
}
Tensor ConfusionBase::rate(Confusion hits, Confusion misses) const {
  return math::divide_no_nan(value(hits), value(hits) + value(misses));
}

void ConfusionBase::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  PLIMSOLL_CHECK(args.size() == 2, InvalidArgumentError,
                 "metric '{}' takes y_true and y_pred, received {} tensors", name(), args.size());
  if (counts_.empty()) build(args[1].shape());
  auto [y_pred, y_true] =
      squeeze_or_expand_to_same_rank(to_type(args[1], dtype()), to_type(args[0], dtype()));
  Tensor weight;
  if (sample_weight.is_valid()) {
    weight = expand_dims(to_type(sample_weight, dtype()), -1);
    weight = squeeze_or_expand_to_same_rank(y_true, weight, false).second;
  }
  if (top_k_) y_pred = only_top_k(y_pred, *top_k_);
  if (class_id_) {
    PLIMSOLL_CHECK(y_pred.rank() > 1, InvalidArgumentError,
                   "When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
                   "num_classes), found shape: {}",
                   y_pred.shape().to_string());
    y_true = getitem(y_true, {ellipsis, *class_id_, newaxis});
    y_pred = getitem(y_pred, {ellipsis, *class_id_, newaxis});
  }
  if (!label_weights_.empty()) {
    std::vector<float> values(label_weights_.begin(), label_weights_.end());
    const Tensor labels = cast(
        constant(std::span<const float>(values), {1, static_cast<std::int64_t>(values.size())}),
        dtype());
    weight = weight.is_valid() ? weight * labels : labels;
  }
  const Tensor is_true = cast(cast(y_true, bool_), dtype());
  Tensor truth = is_true, falsehood = 1 - is_true;
  if (weight.is_valid()) {
    weight = broadcast_to(weight, y_pred.shape());
    truth = truth * weight;
    falsehood = falsehood * weight;
  }
  const auto count_them = are_even(thresholds_) ? count_in_buckets : compare_with_each;
  const Predicted found = count_them(truth, falsehood, y_pred, thresholds_, is_multi_label_);
  const Axes over = is_multi_label_ ? Axes{0} : Axes{};
  using enum Confusion;
  if (const auto v = count(kTruePositives)) v->assign_add(found.positives);
  if (const auto v = count(kFalsePositives)) v->assign_add(found.negatives);
  if (const auto v = count(kTrueNegatives))
    v->assign_add(reduce_sum(falsehood, over) - found.negatives);
  if (const auto v = count(kFalseNegatives))
    v->assign_add(reduce_sum(truth, over) - found.positives);
}

void ConditionCount::start(Confusion which, const Numbers& thresholds) {
  which_ = which;
  variable_names_ = {"accumulator"};
  ConfusionBase::start({which}, values_or(thresholds, 0.5));
}
Tensor ConditionCount::result() const {
  return num_thresholds() == 1 ? reshape(value(which_), {}) : value(which_);
}

PrecisionMetric::PrecisionMetric(PrecisionConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  top_k_ = config_.top_k;
  class_id_ = config_.class_id;
  start({Confusion::kTruePositives, Confusion::kFalsePositives},
        values_or(config_.thresholds, top_k_ ? kNever : 0.5));
}
Tensor PrecisionMetric::result() const {
  const Tensor all = rate(Confusion::kTruePositives, Confusion::kFalsePositives);
  return num_thresholds() == 1 ? reshape(all, {}) : all;
}

RecallMetric::RecallMetric(RecallConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  top_k_ = config_.top_k;
  class_id_ = config_.class_id;
  start({Confusion::kTruePositives, Confusion::kFalseNegatives},
        values_or(config_.thresholds, top_k_ ? kNever : 0.5));
}
Tensor RecallMetric::result() const {
  const Tensor all = rate(Confusion::kTruePositives, Confusion::kFalseNegatives);
  return num_thresholds() == 1 ? reshape(all, {}) : all;
}

void BestUnderConstraint::start(const char* name, double value, std::int64_t num_thresholds,
                                std::optional<std::int64_t> class_id) {
  PLIMSOLL_CHECK(value >= 0 && value <= 1, InvalidArgumentError,
                 "Argument `{}` must be in the range [0, 1]. Received: {}={}", name, name, value);
  PLIMSOLL_CHECK(num_thresholds > 0, InvalidArgumentError,
                 "Argument `num_thresholds` must be an integer > 0. Received: num_thresholds={}",
                 num_thresholds);
  value_ = value;
  class_id_ = class_id;
  std::vector<double> thresholds;
  for (std::int64_t i = 0; i < num_thresholds; ++i)
    thresholds.push_back(static_cast<double>(i) / static_cast<double>(num_thresholds - 1));
  if (num_thresholds == 1) thresholds = {0.5};
  using enum Confusion;
  ConfusionBase::start({kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives},
                       std::move(thresholds));
}
Tensor BestUnderConstraint::best(const Tensor& constrained, const Tensor& dependent) const {
  const Tensor is_feasible = greater_equal(constrained, fill({}, value_, constrained.dtype()));
  return reduce_max(where(is_feasible, dependent, zeros({}, dependent.dtype())));
}

using enum Confusion;
Tensor SensitivityAtSpecificityMetric::result() const {
  return best(rate(kTrueNegatives, kFalsePositives), rate(kTruePositives, kFalseNegatives));
}
Tensor SpecificityAtSensitivityMetric::result() const {
  return best(rate(kTruePositives, kFalseNegatives), rate(kTrueNegatives, kFalsePositives));
}
Tensor PrecisionAtRecallMetric::result() const {
  return best(rate(kTruePositives, kFalseNegatives), rate(kTruePositives, kFalsePositives));
}
Tensor RecallAtPrecisionMetric::result() const {
  return best(rate(kTruePositives, kFalsePositives), rate(kTruePositives, kFalseNegatives));
}

}  // namespace plimsoll::keras
