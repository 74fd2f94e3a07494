// Reductions, running sums and products, sorting.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

using Axes = std::vector<std::int64_t>;  // empty: all of them

// Sums, means and products are kept in wider types on the way, and rounded once: of floating types
// in float64, of integers in 64 bits. A sum that its own type cannot hold is inf for float16, the
// nearest limit for 8- and 16-bit integers (TensorFlow wraps around: 70,000 ones are 112 there and
// 127 here), and wraps around for int32 and int64; so does every product of integers. Means are
// right wherever the mean itself fits. cumsum and the segment sums do the same.
Tensor reduce_sum(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_mean(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_max(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_min(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_prod(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_any(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_all(const Tensor& input, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_logsumexp(const Tensor& input, const Axes& axis = {}, bool keepdims = false);

// The first position of the largest (smallest). output_type: int64 or int32.
Tensor argmax(const Tensor& input, std::int64_t axis = 0, DType output_type = int64);
Tensor argmin(const Tensor& input, std::int64_t axis = 0, DType output_type = int64);

Tensor cumsum(const Tensor& x, std::int64_t axis = 0, bool exclusive = false, bool reverse = false);

// direction: ASCENDING or DESCENDING. Nans come last, equals stay in their order.
Tensor sort(const Tensor& values, std::int64_t axis = -1, std::string_view direction = "ASCENDING");
// Positions, int32; always stable.
Tensor argsort(const Tensor& values, std::int64_t axis = -1,
               std::string_view direction = "ASCENDING", bool stable = false);

namespace math {

using plimsoll::argmax;
using plimsoll::argmin;
using plimsoll::cumsum;
using plimsoll::reduce_all;
using plimsoll::reduce_any;
using plimsoll::reduce_logsumexp;
using plimsoll::reduce_max;
using plimsoll::reduce_mean;
using plimsoll::reduce_min;
using plimsoll::reduce_prod;
using plimsoll::reduce_sum;

Tensor reduce_variance(const Tensor& input_tensor, const Axes& axis = {}, bool keepdims = false);
Tensor reduce_std(const Tensor& input_tensor, const Axes& axis = {}, bool keepdims = false);
Tensor cumprod(const Tensor& x, std::int64_t axis = 0, bool exclusive = false,
               bool reverse = false);

struct TopK {
  Tensor values;
  Tensor indices;  // int32
};
// The k largest of the last dimension, the first of equals first.
TopK top_k(const Tensor& input, std::int64_t k = 1, bool sorted = true);

}  // namespace math

namespace nn {

struct Moments {
  Tensor mean;
  Tensor variance;
};
// 16-bit types are computed in float32.
Moments moments(const Tensor& x, const Axes& axes, bool keepdims = false);

}  // namespace nn

}  // namespace plimsoll
