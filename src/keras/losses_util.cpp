#include "keras/losses_util.h"

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include "base/check.h"
#include "keras/backend.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

bool is_mean(std::string_view reduction) {
  return reduction == "mean" || reduction == "sum_over_batch_size";
}

// {from, ..., rank - 1}
Axes axes_from(int from, int rank) {
  Axes axes(static_cast<std::size_t>(std::max(0, rank - from)));
  std::iota(axes.begin(), axes.end(), from);
  return axes;
}

}  // namespace

Tensor to_type(const Tensor& t, DType dtype) {
  return t.is_valid() && t.dtype() != dtype ? cast(t, dtype) : t;
}

std::pair<Tensor, Tensor> squeeze_or_expand_to_same_rank(const Tensor& a, const Tensor& b,
                                                         bool expand_rank_1) {
  if (a.rank() == b.rank() + 1 && a.shape()[a.rank() - 1] == 1) {
    if (b.rank() == 1 && expand_rank_1) return {a, expand_dims(b, -1)};
    return {squeeze(a, {-1}), b};
  }
  if (b.rank() == a.rank() + 1 && b.shape()[b.rank() - 1] == 1) {
    if (a.rank() == 1 && expand_rank_1) return {expand_dims(a, -1), b};
    return {a, squeeze(b, {-1})};
  }
  return {a, b};
}

Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask, DType dtype,
                  std::string_view reduction) {
  if (!mask.is_valid()) return sample_weight;
  Tensor weight = to_type(mask, dtype);
  if (is_mean(reduction)) {
    const Tensor total = fill(Shape(), static_cast<double>(mask.num_elements()), dtype);
    const Tensor valid = reduce_sum(weight);
    weight = weight * math::divide_no_nan(total, valid);
  }
  if (!sample_weight.is_valid()) return weight;
  const auto [a, b] = squeeze_or_expand_to_same_rank(weight, to_type(sample_weight, dtype));
  return a * b;
}

void check_reduction(std::string_view reduction) {
  constexpr std::string_view kAllowed[] = {"sum_over_batch_size", "sum", "none", "mean",
                                           "mean_with_sample_weight"};
  PLIMSOLL_CHECK(std::ranges::find(kAllowed, reduction) != std::end(kAllowed), InvalidArgumentError,
                 "Invalid value for argument `reduction`. Expected one of {}. Received: "
                 "reduction={}",
                 fmt::join(kAllowed, ", "), reduction);
}

Tensor reduce_weighted_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask,
                              std::string_view reduction, DType dtype) {
  Tensor weighted = to_type(values, dtype);
  Tensor weight = apply_mask(to_type(sample_weight, dtype), mask, dtype, reduction);
  if (weight.is_valid()) {
    std::tie(weighted, weight) = squeeze_or_expand_to_same_rank(weighted, weight);
    weighted = weighted * weight;
  }
  if (reduction == "none" || weighted.rank() == 0 || weighted.shape() == Shape{0}) return weighted;
  const Tensor sum = reduce_sum(weighted);
  if (reduction == "sum") return sum;
  if (reduction == "mean_with_sample_weight" && weight.is_valid())
    return math::divide_no_nan(sum, reduce_sum(weight));
  return weighted.num_elements() == 0 ? zeros_like(sum) : reduce_mean(weighted);
}

Reduced reduce_to_samplewise_values(const Tensor& given, const Tensor& sample_weight, DType dtype,
                                    bool is_sum) {
  const auto reduce = [&](const Tensor& t, int from) {
    const Axes axes = axes_from(from, t.rank());
    if (axes.empty()) return t;
    return is_sum ? reduce_sum(t, axes) : reduce_mean(t, axes);
  };
  const Tensor mask = keras_mask(given);
  Tensor values = to_type(given, dtype);
  Tensor weight = to_type(sample_weight, dtype);
  if (weight.is_valid()) {
    if (mask.is_valid()) weight = apply_mask(weight, mask, dtype, "sum");
    std::tie(values, weight) = squeeze_or_expand_to_same_rank(values, weight);
    const int weight_rank = weight.rank();
    if (values.rank() > weight_rank) values = reduce(values, weight_rank);
    weight = broadcast_to(weight, values.shape());
    values = values * weight;
    if (weight_rank > 1) weight = reduce(weight, 1);
  }
  if (values.rank() > 1) values = reduce(values, 1);
  return {std::move(values), std::move(weight)};
}

}  // namespace plimsoll::keras
