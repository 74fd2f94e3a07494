#include <algorithm>

#include "base/check.h"
#include "keras/backend.h"
#include "plimsoll/keras/metrics_classification.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

using enum Confusion;

// "roc" is ROC, "Majoring" is majoring.
std::string one_of(const std::string& given, std::initializer_list<const char*> names,
                   const char* what) {
  std::string expected;
  const auto lower = [](std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  };
  for (const char* name : names) {
    if (lower(given) == lower(name)) return name;
    expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", name);
  }
  throw InvalidArgumentError(
      fmt::format("Invalid AUC {} value: \"{}\". Expected values are [{}]", what, given, expected));
}

// All but the last threshold, and all but the first.
Tensor head(const Tensor& x) {
  return getitem(x, {Index({}, -1)});
}
Tensor tail(const Tensor& x) {
  return getitem(x, {Index(1, {})});
}
Tensor at_least_zero(const Tensor& x) {
  return maximum(x, zeros({}, x.dtype()));
}

}  // namespace

void AUCConfig::visit(ConfigVisitor& v) {
  v("num_thresholds", num_thresholds);
  v("curve", curve);
  v("summation_method", summation_method);
  v("multi_label", multi_label);
  v("num_labels", num_labels);
  v("label_weights", label_weights);
  v("from_logits", from_logits);
  v.optional("thresholds", thresholds, Numbers());
}

AUCMetric::AUCMetric(AUCConfig config, MetricOptions options)
    : ConfiguredMetric(std::move(config), std::move(options)) {
  config_.curve = one_of(config_.curve, {"PR", "ROC", "PRGAIN"}, "curve");
  config_.summation_method = one_of(config_.summation_method,
                                    {"interpolation", "majoring", "minoring"}, "summation method");
  PLIMSOLL_CHECK(config_.multi_label || !config_.num_labels, InvalidArgumentError,
                 "`num_labels` is needed only when `multi_label` is True.");
  std::vector<double> thresholds{-kEpsilon};
  if (config_.thresholds.is_none()) {
    PLIMSOLL_CHECK(config_.num_thresholds > 1, InvalidArgumentError,
                   "Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={}",
                   config_.num_thresholds);
    const auto num = static_cast<double>(config_.num_thresholds - 1);
    for (std::int64_t i = 1; i + 1 < config_.num_thresholds; ++i)
      thresholds.push_back(static_cast<double>(i) / num);
  } else {
    std::vector<double> sorted = config_.thresholds.values();
    std::ranges::sort(sorted);
    config_.thresholds = sorted;
    thresholds.insert(thresholds.end(), sorted.begin(), sorted.end());
    config_.num_thresholds = static_cast<std::int64_t>(sorted.size()) + 2;
  }
  thresholds.push_back(1 + kEpsilon);
  is_multi_label_ = config_.multi_label;
  if (!is_multi_label_) label_weights_ = config_.label_weights.values();
  start({kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives}, std::move(thresholds));
  if (is_multi_label_ && config_.num_labels) build({1, *config_.num_labels});
}

void AUCMetric::build(const Shape& y_pred) {
  PLIMSOLL_CHECK(!is_multi_label_ || y_pred.rank() == 2, InvalidArgumentError,
                 "`y_pred` must have rank 2 when `multi_label=True`. Found rank {}. Full shape "
                 "received for `y_pred`: {}",
                 y_pred.rank(), y_pred.to_string());
  ConfusionBase::build(y_pred);
}

void AUCMetric::update_state(std::span<const Tensor> args, const Tensor& sample_weight) {
  if (!config_.from_logits || args.size() != 2)
    return ConfusionBase::update_state(args, sample_weight);
  const Tensor probable[] = {args[0], sigmoid(args[1])};
  ConfusionBase::update_state(probable, sample_weight);
}

Tensor AUCMetric::summed(const Tensor& terms) const {
  if (!is_multi_label_) return reduce_sum(terms);
  const Tensor by_label = reduce_sum(terms, {0});
  if (config_.label_weights.is_none()) return reduce_mean(by_label);
  const std::vector<double>& given = config_.label_weights.values();
  std::vector<float> values(given.begin(), given.end());
  const Tensor weights =
      cast(constant(std::span<const float>(values), {static_cast<std::int64_t>(values.size())}),
           by_label.dtype());
  return math::divide_no_nan(reduce_sum(by_label * weights), reduce_sum(weights));
}

// Between two thresholds, true positives follow a line over all positives, and precision a curve.
Tensor AUCMetric::interpolated_pr() const {
  const Tensor tp = value(kTruePositives), p = tp + value(kFalsePositives);
  const Tensor d_tp = head(tp) - tail(tp), d_p = head(p) - tail(p);
  const Tensor slope = math::divide_no_nan(d_tp, at_least_zero(d_p));
  const Tensor intercept = tail(tp) - slope * tail(p);
  const Tensor zero = zeros({}, p.dtype());
  const Tensor ratio =
      where(logical_and(greater(head(p), zero), greater(tail(p), zero)),
            math::divide_no_nan(head(p), at_least_zero(tail(p))), ones({}, p.dtype()));
  const Tensor all = at_least_zero(tail(tp) + tail(value(kFalseNegatives)));
  return summed(math::divide_no_nan(slope * (d_tp + intercept * math::log(ratio)), all));
}

std::pair<Tensor, Tensor> AUCMetric::curve() const {
  const Tensor tp = value(kTruePositives), fp = value(kFalsePositives);
  const Tensor tn = value(kTrueNegatives), fn = value(kFalseNegatives);
  const Tensor recall = rate(kTruePositives, kFalseNegatives);
  if (config_.curve == "ROC") return {rate(kFalsePositives, kTrueNegatives), recall};
  if (config_.curve == "PR") return {recall, rate(kTruePositives, kFalsePositives)};
  const Tensor zero = zeros({}, tp.dtype()), one = ones({}, tp.dtype());
  const Tensor scale = math::divide_no_nan(tp + fn, tn + fp);
  const Tensor is_none = equal(tp, zero);
  const Tensor recall_gain = where(is_none, zero, 1 - scale * math::divide_no_nan(fn, tp));
  const Tensor precision_gain = where(is_none, one, 1 - scale * math::divide_no_nan(fp, tp));
  return {at_least_zero(recall_gain), precision_gain};
}

Tensor AUCMetric::result() const {
  if (!count(kTruePositives)) return zeros({}, dtype());
  const std::string& method = config_.summation_method;
  if (config_.curve == "PR" && method == "interpolation") return interpolated_pr();
  const auto [x, y] = curve();
  Tensor heights = (head(y) + tail(y)) / 2;
  if (method == "minoring") heights = minimum(head(y), tail(y));
  if (method == "majoring") heights = maximum(head(y), tail(y));
  return summed((head(x) - tail(x)) * heights);
}

}  // namespace plimsoll::keras
