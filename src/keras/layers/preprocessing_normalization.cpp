#include <algorithm>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/layers/preprocessing_util.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

void NormalizationConfig::visit(ConfigVisitor& v) {
  v("axis", axis);
  v("invert", invert);
  v("mean", mean);
  v("variance", variance);
}

NormalizationLayer::NormalizationLayer(NormalizationConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  config_.axis = Sizes(std::vector(config_.axis.values()));
  PLIMSOLL_CHECK(config_.mean.is_null() == config_.variance.is_null(), InvalidArgumentError,
                 "When setting values directly, both `mean` and `variance` must be set. Received: "
                 "mean={} and variance={}",
                 config_.mean.dump(), config_.variance.dump());
  supports_masking_ = true;
  if (config_.mean.is_null()) return;
  const Shape mean = to_tensor(config_.mean, DType::kFloat32).shape();
  const Shape variance = to_tensor(config_.variance, DType::kFloat32).shape();
  PLIMSOLL_CHECK(mean == variance, InvalidArgumentError,
                 "When setting values directly, `mean` and `variance` must have the same shape. "
                 "Received: mean shape {} and variance shape {}",
                 PartialShape(mean).to_string(), PartialShape(variance).to_string());
  const std::size_t num_axes = config_.axis.values().size();
  PLIMSOLL_CHECK(static_cast<std::size_t>(mean.rank()) <= num_axes, InvalidArgumentError,
                 "The rank of `mean` must be less than or equal to the number of axes ({}). "
                 "Received: mean shape {}",
                 num_axes, PartialShape(mean).to_string());
}

void NormalizationLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  keep_axes_.clear();
  for (const std::int64_t axis : config_.axis.values()) {
    PLIMSOLL_CHECK(axis >= -input.rank() && axis < input.rank(), InvalidArgumentError,
                   "All `axis` values must be in the range [-ndim, ndim). Received inputs with "
                   "ndim={}, while axis={}",
                   input.rank(), axis);
    keep_axes_.push_back(axis < 0 ? axis + input.rank() : axis);
  }
  std::ranges::sort(keep_axes_);
  std::vector<std::int64_t> kept;
  for (int i = 0; i < input.rank(); ++i) {
    const bool is_kept = std::ranges::find(keep_axes_, i) != keep_axes_.end();
    PLIMSOLL_CHECK(!is_kept || input[i] != kNone, InvalidArgumentError,
                   "All `axis` values to be kept must have a known shape. Received axis={}, "
                   "inputs.shape={}, with unknown axis at index {}",
                   to_config(config_.axis).dump(), input.to_string(), i);
    broadcast_shape_.push_back(is_kept ? input[i] : 1);
    if (is_kept)
      kept.push_back(input[i]);
    else
      reduce_axes_.push_back(i);
  }
  if (!config_.mean.is_null()) return;
  const Shape shape{std::span(kept)};
  adapt_mean_ =
      add_weight({.name = "mean", .shape = shape, .initializer = "zeros", .trainable = false});
  adapt_variance_ =
      add_weight({.name = "variance", .shape = shape, .initializer = "ones", .trainable = false});
  count_ = add_weight({.name = "count",
                       .shape = {},
                       .initializer = "zeros",
                       .dtype = DType::kInt32,
                       .trainable = false});
}

void NormalizationLayer::adapt(std::span<const Tensor> batches) {
  PLIMSOLL_CHECK(!batches.empty(), InvalidArgumentError,
                 "adapt() received an empty iterable (no batches). Expected at least one batch.");
  PLIMSOLL_CHECK(config_.mean.is_null(), FailedPreconditionError,
                 "layer '{}' was given its mean and variance; there is nothing to adapt", name());
  ensure_built(PartialShape(batches[0].shape()));
  Tensor mean = zeros(adapt_mean_->shape()), variance = zeros(adapt_mean_->shape());
  double total = 0;
  for (const Tensor& batch : batches) {
    for (const std::int64_t axis : keep_axes_) {
      const auto i = static_cast<int>(axis);
      PLIMSOLL_CHECK(batch.rank() == static_cast<int>(broadcast_shape_.size()) &&
                         batch.shape()[i] == broadcast_shape_[static_cast<std::size_t>(i)],
                     InvalidArgumentError,
                     "The layer was built with input_shape={}, but adapt() is being called with "
                     "data with an incompatible shape, data.shape={}",
                     PartialShape(broadcast_shape_).to_string(),
                     PartialShape(batch.shape()).to_string());
    }
    const Tensor x = cast(batch, float32);
    if (reduce_axes_.empty()) {  // every element is the mean of itself
      mean = x;
      variance = zeros_like(x);
      continue;
    }
    const Tensor batch_mean = reduce_mean(x, reduce_axes_);
    const Tensor batch_variance = math::reduce_variance(x, reduce_axes_);
    double num = 1;
    for (const std::int64_t axis : reduce_axes_)
      num *= static_cast<double>(x.shape()[static_cast<int>(axis)]);
    total += num;
    const double weight = num / total;
    const Tensor next = mean * (1 - weight) + batch_mean * weight;
    variance = (variance + square(mean - next)) * (1 - weight) +
               (batch_variance + square(batch_mean - next)) * weight;
    mean = next;
  }
  adapt_mean_->assign(cast(mean, adapt_mean_->dtype()));
  adapt_variance_->assign(cast(variance, adapt_variance_->dtype()));
}

Nested NormalizationLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor x = cast(inputs.leaf().tensor(), compute_dtype());
  const auto given = [&](const Json& json) {
    const Tensor value = to_tensor(json, compute_dtype());
    std::vector<std::int64_t> dims(broadcast_shape_.size(), 1);
    for (int i = 1; i <= value.rank(); ++i)  // from the last of the axes
      dims[static_cast<std::size_t>(keep_axes_[keep_axes_.size() - static_cast<std::size_t>(i)])] =
          value.shape()[value.rank() - i];
    return reshape(value, dims);
  };
  const auto learnt = [&](const Variable& v) {
    return cast(reshape(v.value(), broadcast_shape_), compute_dtype());
  };
  const Tensor mean = adapt_mean_ ? learnt(*adapt_mean_) : given(config_.mean);
  const Tensor variance = adapt_variance_ ? learnt(*adapt_variance_) : given(config_.variance);
  const Tensor deviation = maximum(sqrt(variance), fill({}, kEpsilon, variance.dtype()));
  return config_.invert ? mean + x * deviation : (x - mean) / deviation;
}

}  // namespace plimsoll::keras
