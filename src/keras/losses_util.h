// How values of samples are weighted and summed up, for losses and metrics.
#pragma once

#include <string_view>
#include <utility>

#include "plimsoll/tensor.h"

namespace plimsoll::keras {

Tensor to_type(const Tensor& t, DType dtype);  // an empty one stays empty

// Squeezes or adds a last dimension of 1 where the ranks differ by one.
std::pair<Tensor, Tensor> squeeze_or_expand_to_same_rank(const Tensor& a, const Tensor& b,
                                                         bool expand_rank_1 = true);

// Weights with those of masked samples set to 0, and the others scaled up in means. Either may be
// empty; both: empty.
Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask, DType dtype,
                  std::string_view reduction);

// reduction: sum_over_batch_size (mean is the same), sum, mean_with_sample_weight, none.
// throws: InvalidArgumentError for another one.
Tensor reduce_weighted_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask,
                              std::string_view reduction, DType dtype);
void check_reduction(std::string_view reduction);

struct Reduced {
  Tensor values;   // one for each sample, weighted
  Tensor weights;  // empty if none were given
};
// Means over everything but the samples; with weights, weighted. `is_sum`: sums instead.
Reduced reduce_to_samplewise_values(const Tensor& values, const Tensor& sample_weight, DType dtype,
                                    bool is_sum = false);

}  // namespace plimsoll::keras
