// Bins, given or learnt from a summary of the data: values and how many each stands for.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "keras/layers/preprocessing_util.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

struct Summary {
  std::vector<float> values, weights;
};

Summary summarize(std::vector<float> values, double epsilon) {
  std::ranges::sort(values);
  const double step = std::max(static_cast<double>(values.size()) * epsilon, 1.0);
  Summary made;
  for (auto i = static_cast<std::size_t>(step - 1); i < values.size();
       i += static_cast<std::size_t>(step)) {
    made.values.push_back(values[i]);
    made.weights.push_back(static_cast<float>(step));
  }
  return made;
}

// The line through (xs, ys) at x; constant beyond its ends.
double interpolate(double x, const std::vector<double>& xs, const std::vector<float>& ys) {
  if (x <= xs.front()) return ys.front();
  if (x >= xs.back()) return ys.back();
  const auto i = static_cast<std::size_t>(std::ranges::upper_bound(xs, x) - xs.begin()) - 1;
  const double slope = (static_cast<double>(ys[i + 1]) - ys[i]) / (xs[i + 1] - xs[i]);
  return slope * (x - xs[i]) + ys[i];
}

// As many values as `epsilon` leaves room for.
Summary compress(Summary summary, double epsilon) {
  if (static_cast<double>(summary.values.size()) * epsilon < 1) return summary;
  std::vector<float> sums;
  float sum = 0;
  for (const float w : summary.weights) sums.push_back(sum += w);
  std::vector<double> parts;
  for (const float s : sums) parts.push_back(static_cast<double>(s / sums.back()));
  Summary made;
  const auto num = static_cast<std::size_t>(std::ceil(1 / epsilon));
  double before = 0;
  for (std::size_t i = 0; i < num; ++i) {
    const double at = epsilon + static_cast<double>(i) * epsilon;
    const double reached = interpolate(at, parts, sums);
    made.values.push_back(static_cast<float>(interpolate(at, parts, summary.values)));
    made.weights.push_back(static_cast<float>(reached - before));
    before = reached;
  }
  return made;
}

Summary merge(const Summary& a, const Summary& b, double epsilon) {
  std::vector<std::pair<float, float>> all;
  for (const Summary* s : {&a, &b}) {
    for (std::size_t i = 0; i < s->values.size(); ++i)
      all.emplace_back(s->values[i], s->weights[i]);
  }
  std::ranges::stable_sort(all, {}, &std::pair<float, float>::first);
  Summary merged;
  for (const auto& [value, weight] : all) {
    merged.values.push_back(value);
    merged.weights.push_back(weight);
  }
  return compress(std::move(merged), epsilon);
}

}  // namespace

void DiscretizationConfig::visit(ConfigVisitor& v) {
  v("bin_boundaries", bin_boundaries);
  v("num_bins", num_bins);
  v("epsilon", epsilon);
  v("output_mode", output_mode);
  v.constant("sparse", false);
}

DiscretizationLayer::DiscretizationLayer(DiscretizationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  const std::string& mode = config_.output_mode;
  PLIMSOLL_CHECK(mode == "int" || mode == "one_hot" || mode == "multi_hot" || mode == "count",
                 InvalidArgumentError,
                 "Unknown argument for `output_mode` of layer Discretization. Expected one of "
                 "('int', 'one_hot', 'multi_hot', 'count'). Received: {}",
                 mode);
  PLIMSOLL_CHECK(config_.num_bins || config_.bin_boundaries, InvalidArgumentError,
                 "You need to set either `num_bins` or `bin_boundaries`.");
  PLIMSOLL_CHECK(config_.num_bins.value_or(0) >= 0, InvalidArgumentError,
                 "`num_bins` must be greater than or equal to 0. Received: `num_bins={}`",
                 *config_.num_bins);
}

Json DiscretizationLayer::get_config() const {
  Json config = Object::get_config();
  config["name"] = name();
  config["dtype"] = std::string(dtype_name(variable_dtype()));
  return config;
}

void DiscretizationLayer::adapt(std::span<const Tensor> batches) {
  PLIMSOLL_CHECK(config_.num_bins && *config_.num_bins > 0, FailedPreconditionError,
                 "Cannot adapt a Discretization layer that has been initialized with "
                 "`bin_boundaries`, use `num_bins` instead.");
  Summary summary;
  for (const Tensor& batch : batches) {
    const Tensor x = batch.dtype() == DType::kFloat32 ? batch : cast(batch, float32);
    summary = merge(summarize(x.to_vector<float>(), config_.epsilon), summary, config_.epsilon);
  }
  PLIMSOLL_CHECK(!summary.values.empty(), InvalidArgumentError,
                 "adapt() received no values. Expected at least one batch.");
  const Summary bins = compress(summary, 1.0 / static_cast<double>(*config_.num_bins));
  config_.bin_boundaries.emplace(bins.values.begin(), bins.values.end() - 1);
}

Nested DiscretizationLayer::call(const Nested& inputs, const CallArgs&) {
  PLIMSOLL_CHECK(config_.bin_boundaries, FailedPreconditionError,
                 "You need to either pass the `bin_boundaries` argument at construction time or "
                 "call `adapt(dataset)` before you can start using the `Discretization` layer.");
  const Tensor& given = inputs.leaf().tensor();
  const Tensor x = given.dtype() == DType::kFloat32 ? given : cast(given, float32);
  std::vector<float> bounds(config_.bin_boundaries->begin(), config_.bin_boundaries->end());
  const auto num = static_cast<std::int64_t>(bounds.size());
  const Tensor flat = searchsorted(constant(std::span<const float>(bounds), {num}),
                                   reshape(x, {x.num_elements()}), "right");
  const Tensor bins = reshape(flat, x.shape().dims());
  return encode_categories(bins, config_.output_mode, num + 1,
                           config_.output_mode == "int" ? DType::kInt32 : compute_dtype());
}

}  // namespace plimsoll::keras
