#include <limits>

#include "base/check.h"
#include "ops/reduce_shape.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

Tensor reduce(OpId op, const Tensor& input, const Axes& axis, bool keepdims) {
  return call(op, {input}, {AttrValue(std::span<const std::int64_t>(axis)), keepdims});
}

// A result with reduced dimensions of 1, without them.
Tensor drop_ones(const Tensor& result, const Tensor& input, const Axes& axis) {
  return reshape(result, reduce_shape(input.shape(), axis, false, "reduce").out.dims());
}

void check_floating(const Tensor& input, const char* what) {
  PLIMSOLL_CHECK(input.is_valid() && is_floating(input.dtype()), InvalidArgumentError,
                 "{}: Input must be either real or complex. Received integer type {}.", what,
                 input.is_valid() ? dtype_name(input.dtype()) : "of an empty Tensor");
}

// Both of a sort along any axis; TopK works along the last one.
std::vector<Tensor> sort_both(const Tensor& values, std::int64_t axis, std::string_view direction) {
  PLIMSOLL_CHECK(direction == "ASCENDING" || direction == "DESCENDING", InvalidArgumentError,
                 "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
                 "direction={}",
                 direction);
  PLIMSOLL_CHECK(values.is_valid(), InvalidArgumentError, "sort of an empty Tensor");
  const int at = normalize_axis(axis, values.rank(), "sort");
  const int last = values.rank() - 1;
  std::vector<std::int64_t> perm;
  for (int i = 0; i <= last; ++i) perm.push_back(i);
  std::swap(perm[static_cast<std::size_t>(at)], perm.back());
  const Tensor rows = at == last ? values : transpose(values, perm);
  std::vector<Tensor> both =
      call_all(OpId::TopK, {&rows, 1}, {rows.shape().dim(last), true, direction == "DESCENDING"});
  for (Tensor& t : both) {
    if (at != last) t = transpose(t, perm);
  }
  return both;
}

}  // namespace

Tensor reduce_sum(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceSum, input, axis, keepdims);
}
Tensor reduce_mean(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceMean, input, axis, keepdims);
}
Tensor reduce_max(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceMax, input, axis, keepdims);
}
Tensor reduce_min(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceMin, input, axis, keepdims);
}
Tensor reduce_prod(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceProd, input, axis, keepdims);
}
Tensor reduce_any(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceAny, input, axis, keepdims);
}
Tensor reduce_all(const Tensor& input, const Axes& axis, bool keepdims) {
  return reduce(OpId::ReduceAll, input, axis, keepdims);
}

Tensor reduce_logsumexp(const Tensor& input, const Axes& axis, bool keepdims) {
  check_floating(input, "reduce_logsumexp");
  // What is taken off is the largest where that is a number: exp then stays below 1.
  const Tensor largest = stop_gradient(reduce_max(input, axis, true));
  const Tensor infinity = fill(Shape(), std::numeric_limits<double>::infinity(), input.dtype());
  const Tensor zero = fill(Shape(), 0, input.dtype());
  const Tensor offset = where(less(abs(largest), infinity), largest, zero);
  const Tensor sum = reduce_sum(exp(subtract(input, offset)), axis, true);
  const Tensor result = add(math::log(sum), offset);
  return keepdims ? result : drop_ones(result, input, axis);
}

Tensor argmax(const Tensor& input, std::int64_t axis, DType output_type) {
  return call(OpId::ArgMax, {input}, {axis, output_type});
}
Tensor argmin(const Tensor& input, std::int64_t axis, DType output_type) {
  return call(OpId::ArgMin, {input}, {axis, output_type});
}
Tensor cumsum(const Tensor& x, std::int64_t axis, bool exclusive, bool reverse) {
  return call(OpId::Cumsum, {x}, {axis, exclusive, reverse});
}
Tensor sort(const Tensor& values, std::int64_t axis, std::string_view direction) {
  return sort_both(values, axis, direction)[0];
}
Tensor argsort(const Tensor& values, std::int64_t axis, std::string_view direction, bool) {
  return sort_both(values, axis, direction)[1];
}

namespace math {

Tensor reduce_variance(const Tensor& input_tensor, const Axes& axis, bool keepdims) {
  check_floating(input_tensor, "reduce_variance");
  const Tensor mean = reduce_mean(input_tensor, axis, true);
  return reduce_mean(square(subtract(input_tensor, mean)), axis, keepdims);
}
Tensor reduce_std(const Tensor& input_tensor, const Axes& axis, bool keepdims) {
  return sqrt(reduce_variance(input_tensor, axis, keepdims));
}
Tensor cumprod(const Tensor& x, std::int64_t axis, bool exclusive, bool reverse) {
  return call(OpId::Cumprod, {x}, {axis, exclusive, reverse});
}
TopK top_k(const Tensor& input, std::int64_t k, bool sorted) {
  std::vector<Tensor> both = call_all(OpId::TopK, {&input, 1}, {k, sorted, true});
  return {std::move(both[0]), std::move(both[1])};
}

}  // namespace math

namespace nn {

Moments moments(const Tensor& x, const Axes& axes, bool keepdims) {
  check_floating(x, "moments");
  const bool is_small = x.dtype() == float16 || x.dtype() == bfloat16;
  const Tensor y = is_small ? cast(x, float32) : x;
  const Tensor mean = reduce_mean(y, axes, true);
  const Tensor variance = reduce_mean(square(subtract(y, stop_gradient(mean))), axes, true);
  const auto finish = [&](const Tensor& t) {
    return cast(keepdims ? t : drop_ones(t, x, axes), x.dtype());
  };
  return {finish(mean), finish(variance)};
}

}  // namespace nn

}  // namespace plimsoll
