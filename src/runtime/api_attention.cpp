#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"

namespace plimsoll::nn {
namespace {

Tensor with_heads(const Tensor& x) {
  return x.rank() == 3 ? expand_dims(x, 2) : x;
}
// Axes of 1 in front, up to [batch, heads, tq, tk].
Tensor as_scores(const Tensor& x) {
  if (x.rank() >= 4) return x;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(4 - x.rank()), 1);
  dims.insert(dims.end(), x.shape().dims().begin(), x.shape().dims().end());
  return reshape(x, dims);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  PLIMSOLL_CHECK(query.is_valid() && key.is_valid() && value.is_valid(), InvalidArgumentError,
                 "scaled_dot_product_attention needs query, key and value");
  const bool is_plain = query.rank() == 3 && key.rank() == 3 && value.rank() == 3;
  PLIMSOLL_CHECK(is_plain || (query.rank() == 4 && key.rank() == 4 && value.rank() == 4),
                 InvalidArgumentError,
                 "scaled_dot_product_attention takes [batch, time, heads, dim], or [batch, time, "
                 "dim] throughout. Received: query.shape={}, key.shape={}, value.shape={}",
                 query.shape().to_string(), key.shape().to_string(), value.shape().to_string());
  const std::int64_t dim = query.shape().dim(query.rank() - 1);
  const double scale =
      options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(dim, 1))));
  Tensor bias = options.bias, mask = options.mask;
  if (mask.is_valid() && is_floating(mask.dtype())) {
    bias = bias.is_valid() ? bias + mask : mask;
    mask = Tensor();
  }
  std::vector<Tensor> in{with_heads(query), with_heads(key), with_heads(value)};
  // Without heads, [batch, tq, tk] is meant.
  const auto add_scores = [&](const Tensor& x) {
    in.push_back(as_scores(is_plain && x.rank() == 3 ? expand_dims(x, 1) : x));
  };
  if (bias.is_valid()) add_scores(bias);
  if (mask.is_valid()) add_scores(mask);
  if (options.dropout_rate > 0) {
    const Shape &q = in[0].shape(), &k = in[1].shape();
    const std::int64_t num_scores = q.dim(0) * q.dim(2) * q.dim(1) * k.dim(1);
    in.push_back(random_state(OpId::RandomUniform, query.dtype(), num_scores, options.seed));
  }
  const Tensor out = call_all(
      OpId::Attention, in,
      {scale, options.dropout_rate, options.is_causal, bias.is_valid(), mask.is_valid()})[0];
  return is_plain ? squeeze(out, {2}) : out;
}

}  // namespace plimsoll::nn
