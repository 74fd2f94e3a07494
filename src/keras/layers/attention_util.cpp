#include "keras/layers/attention_util.h"

#include "base/check.h"
#include "keras/backend.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// Both; one alone if the other is not there.
Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.is_valid()) return b;
  return b.is_valid() ? logical_and(a, b) : a;
}

Tensor causal_mask(std::int64_t tq, std::int64_t tk) {
  return greater_equal(reshape(range(0, tq), {1, tq, 1}), reshape(range(0, tk), {1, 1, tk}));
}
Tensor window_mask(std::int64_t tq, std::int64_t tk, std::int64_t size) {
  const Tensor far = abs(reshape(range(0, tq), {1, tq, 1}) - reshape(range(0, tk), {1, 1, tk}));
  return less(far, fill({}, static_cast<double>(size), far.dtype()));
}

// [..., tq, tk] as [batch, heads, tq, tk].
Tensor with_heads(Tensor mask) {
  while (mask.is_valid() && mask.rank() < 4) mask = expand_dims(mask, -3);
  return mask;
}

// Which rows have a key they may look at, [batch, heads or 1, tq or 1]; empty: all.
// `mask` [batch, heads, tq, tk] may stand for all rows.
Tensor rows_with_keys(const Tensor& mask, bool causal, std::int64_t tq, std::int64_t tk) {
  if (!mask.is_valid()) return {};
  if (!causal) return reduce_any(mask, {-1});
  if (mask.shape()[2] > 1)
    return reduce_any(logical_and(mask, expand_dims(causal_mask(tq, tk), 0)), {-1});
  // One of the keys up to the row's own.
  Tensor any = greater(cumsum(cast(squeeze(mask, {2}), int32), -1), zeros({}, int32));
  if (tq <= tk) return slice(any, {0, 0, 0}, {-1, -1, tq});
  const Tensor last = slice(any, {0, 0, tk - 1}, {-1, -1, 1});
  return concat({any, broadcast_to(last, {any.shape()[0], any.shape()[1], tq - tk})}, -1);
}

// `made`, and where a row has no keys the mean of all values.
Tensor with_means(const Tensor& made, const Tensor& value, const AttentionMasks& masks,
                  const Tensor& mask, std::int64_t tq, std::int64_t tk) {
  Tensor rows = rows_with_keys(mask, masks.causal, tq, tk);
  if (rows.is_valid()) rows = expand_dims(transpose(rows, {0, 2, 1}), 3);
  if (masks.query.is_valid()) {
    const Shape& q = masks.query.shape();
    rows = both(rows, reshape(masks.query, {q[0], q[1], 1, 1}));
  }
  if (!rows.is_valid()) return made;
  Tensor mean = reduce_mean(value, {1}, true);
  const std::int64_t group = made.shape()[2] / value.shape()[2];
  if (group > 1) mean = repeat(mean, group, 2);
  return where(rows, made, mean);
}

}  // namespace

Tensor as_bool(const Tensor& mask) {
  return !mask.is_valid() || mask.dtype() == DType::kBool ? mask : cast(mask, bool_);
}

Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
              const AttentionMasks& masks, const AttendOptions& options) {
  const std::int64_t tq = query.shape()[1], tk = key.shape()[1];
  Tensor mask = with_heads(masks.given);
  if (masks.sliding_window)
    mask = both(mask, with_heads(window_mask(tq, tk, *masks.sliding_window)));
  if (masks.keys.is_valid())
    mask = both(mask, reshape(masks.keys, {masks.keys.shape()[0], 1, 1, tk}));
  Tensor made = nn::scaled_dot_product_attention(query, key, value,
                                                 {.mask = mask,
                                                  .scale = options.scale,
                                                  .is_causal = masks.causal,
                                                  .dropout_rate = options.dropout,
                                                  .seed = options.seed});
  if (options.means_empty_rows) return with_means(made, value, masks, mask, tq, tk);
  if (!masks.query.is_valid()) return made;
  const Shape& q = masks.query.shape();
  return where(reshape(masks.query, {q[0], q[1], 1, 1}), made, zeros({}, made.dtype()));
}

Tensor full_mask(const AttentionMasks& masks, std::int64_t tq, std::int64_t tk) {
  Tensor mask;
  if (masks.query.is_valid()) mask = expand_dims(masks.query, -1);
  if (masks.keys.is_valid()) mask = both(mask, expand_dims(masks.keys, -2));
  if (masks.causal) mask = both(mask, causal_mask(tq, tk));
  if (masks.sliding_window) mask = both(mask, window_mask(tq, tk, *masks.sliding_window));
  if (mask.is_valid() && masks.given.is_valid() && masks.given.rank() == 4) mask = with_heads(mask);
  return both(masks.given, mask);
}

Tensor masked_softmax(const Tensor& scores, Tensor mask, int num_axes) {
  Tensor x = scores;
  if (mask.is_valid()) {
    while (mask.rank() < scores.rank()) mask = expand_dims(mask, -2 * num_axes - 1);
    const double low = scores.dtype() == DType::kFloat16 ? -3e4 : -1e9;
    x = where(mask, x, fill({}, low, x.dtype()));
  }
  if (num_axes == 1) {
    x = nn::softmax(x);
  } else {
    std::vector<std::int64_t> dims(x.shape().dims().begin(), x.shape().dims().end() - num_axes);
    dims.push_back(-1);
    const std::vector<std::int64_t> whole(x.shape().dims().begin(), x.shape().dims().end());
    x = reshape(nn::softmax(reshape(x, dims)), whole);
  }
  if (!mask.is_valid()) return x;
  x = where(mask, x, zeros({}, x.dtype()));
  set_keras_mask(x, mask);  // as Keras's layer Softmax does
  return x;
}

Tensor named_tensor(const CallArgs& args, std::string_view name) {
  const Nested* found = args.find(name);
  return found && !found->is_none() ? found->leaf().tensor() : Tensor();
}

AttentionInputs attention_inputs(const Layer& layer, const Nested& inputs, const CallArgs& args,
                                 const Tensor& query_mask) {
  AttentionInputs in{.query = inputs,
                     .key = named_tensor(args, "key"),
                     .value = named_tensor(args, "value"),
                     .masks = {}};
  PLIMSOLL_CHECK(in.value.is_valid(), InvalidArgumentError,
                 "Layer '{}' has to be called on a query and a value: layer(query, {{.named = "
                 "{{\"value\", ...}}}})",
                 layer.name());
  Tensor value_mask = named_tensor(args, "value_mask"), key_mask = named_tensor(args, "key_mask");
  if (!value_mask.is_valid()) value_mask = keras_mask(in.value);
  if (!key_mask.is_valid() && in.key.is_valid()) key_mask = keras_mask(in.key);
  if (!in.key.is_valid()) in.key = in.value;
  in.masks.query = as_bool(query_mask);
  in.masks.keys = both(as_bool(value_mask), as_bool(key_mask));
  in.masks.given = as_bool(named_tensor(args, "attention_mask"));
  in.masks.causal = args.option("use_causal_mask", false);
  return in;
}

KeyValueShapes key_value_shapes(const Layer& layer, const Shapes& named) {
  const Shapes *value = named.find("value"), *key = named.find("key");
  PLIMSOLL_CHECK(value && !value->is_none(), InvalidArgumentError,
                 "Layer '{}' has to be called on a query and a value: layer(query, {{.named = "
                 "{{\"value\", ...}}}})",
                 layer.name());
  KeyValueShapes shapes{value->leaf(), key && !key->is_none() ? key->leaf() : value->leaf()};
  bool fits = shapes.value.rank() == shapes.key.rank();
  for (int i = 1; fits && i < shapes.value.rank() - 1; ++i) fits = shapes.value[i] == shapes.key[i];
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "All dimensions of `value` and `key`, except the last one, must be equal. "
                 "Received: value_shape={} and key_shape={}",
                 shapes.value.to_string(), shapes.key.to_string());
  return shapes;
}

}  // namespace plimsoll::keras
