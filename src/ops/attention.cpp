#include "base/check.h"
#include "ops/attention_inputs.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

void check_query_key_value(const TensorSpec& q, const TensorSpec& k, const TensorSpec& v) {
  PLIMSOLL_CHECK(
      q.shape.rank() == 4 && k.shape.rank() == 4 && v.shape.rank() == 4, InvalidArgumentError,
      "query, key and value must be [batch, time, heads, dim]. Received: query.shape={}, "
      "key.shape={}, value.shape={}",
      q.shape.to_string(), k.shape.to_string(), v.shape.to_string());
  PLIMSOLL_CHECK(is_floating(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype,
                 InvalidArgumentError,
                 "query, key and value must have the same floating type, received {}, {} and {}",
                 dtype_name(q.dtype), dtype_name(k.dtype), dtype_name(v.dtype));
  const bool fits = q.shape.dim(0) == k.shape.dim(0) && q.shape.dim(0) == v.shape.dim(0) &&
                    k.shape.dim(1) == v.shape.dim(1) && k.shape.dim(2) == v.shape.dim(2) &&
                    q.shape.dim(3) == k.shape.dim(3);
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "query [batch, tq, heads, dim], key [batch, tk, kv_heads, dim] and value [batch, "
                 "tk, kv_heads, dv] do not go together. Received: query.shape={}, key.shape={}, "
                 "value.shape={}",
                 q.shape.to_string(), k.shape.to_string(), v.shape.to_string());
  const std::int64_t heads = q.shape.dim(2), kv_heads = k.shape.dim(2);
  PLIMSOLL_CHECK(heads == kv_heads || (kv_heads > 0 && heads % kv_heads == 0), InvalidArgumentError,
                 "heads of the query must be a multiple of those of key and value, received {} "
                 "and {}",
                 heads, kv_heads);
}

void check_broadcasts(const TensorSpec& spec, const char* name, const Shape& scores) {
  bool fits = spec.shape.rank() == 4;
  for (int i = 0; fits && i < 4; ++i)
    fits = spec.shape.dim(i) == scores.dim(i) || spec.shape.dim(i) == 1;
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "{} must broadcast to the scores [batch, heads, tq, tk] = {}, received shape {}",
                 name, scores.to_string(), spec.shape.to_string());
}

DType lse_dtype(DType dtype) {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}
Shape lse_shape(const Shape& q) {
  return Shape({q.dim(0), q.dim(2), q.dim(1)});
}
Shape out_shape(const Shape& q, const Shape& v) {
  return Shape({q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
}

// The inputs of Attention, which begin at `first`.
void check_inputs(const InferCtx& ctx, int first) {
  const AttentionInputs at(ctx.attrs, first);
  PLIMSOLL_CHECK(static_cast<int>(ctx.in.size()) == at.end, InvalidArgumentError,
                 "{} needs {} inputs, got {}", ctx.name(), at.end, ctx.in.size());
  const auto in = [&](int i) -> const TensorSpec& { return ctx.in[static_cast<std::size_t>(i)]; };
  const TensorSpec &q = in(at.q), &k = in(at.k);
  check_query_key_value(q, k, in(at.v));
  const Shape scores({q.shape.dim(0), q.shape.dim(2), q.shape.dim(1), k.shape.dim(1)});
  if (at.bias >= 0) {
    PLIMSOLL_CHECK(in(at.bias).dtype == q.dtype, InvalidArgumentError,
                   "bias must have the type of the query, {}, received {}", dtype_name(q.dtype),
                   dtype_name(in(at.bias).dtype));
    check_broadcasts(in(at.bias), "bias", scores);
  }
  if (at.mask >= 0) {
    PLIMSOLL_CHECK(in(at.mask).dtype == DType::kBool, InvalidArgumentError,
                   "mask must be bool, received {}", dtype_name(in(at.mask).dtype));
    check_broadcasts(in(at.mask), "mask", scores);
  }
  const double rate = ctx.attrs[attr::Attention::rate].as_float();
  PLIMSOLL_CHECK(rate >= 0 && rate < 1, InvalidArgumentError,
                 "`dropout_rate` must be in the range [0, 1). Received: {}", rate);
  if (at.state >= 0) {
    const TensorSpec& state = in(at.state);
    const bool is_pair =
        state.shape == Shape({2}) && (state.dtype == DType::kInt32 || state.dtype == DType::kInt64);
    PLIMSOLL_CHECK(is_pair || state == (TensorSpec{DType::kInt64, Shape({3})}),
                   InvalidArgumentError, "seed must have shape [2], not {}",
                   state.shape.to_string());
  }
}

void infer_attention(InferCtx& ctx) {
  check_inputs(ctx, 0);
  const TensorSpec &q = ctx.in[0], &v = ctx.in[2];
  ctx.out.add(q.dtype, out_shape(q.shape, v.shape));
  ctx.out.add(lse_dtype(q.dtype), lse_shape(q.shape));
}

void check_grad(const InferCtx& ctx) {
  check_inputs(ctx, AttentionInputs::kGradFirst);
  const AttentionInputs at(ctx.attrs, AttentionInputs::kGradFirst);
  const auto in = [&](int i) -> const TensorSpec& { return ctx.in[static_cast<std::size_t>(i)]; };
  const TensorSpec out{in(at.q).dtype, out_shape(in(at.q).shape, in(at.v).shape)};
  const TensorSpec lse{lse_dtype(in(at.q).dtype), lse_shape(in(at.q).shape)};
  PLIMSOLL_CHECK(
      in(0) == out && in(1) == out && in(2) == lse && (at.dlse < 0 || in(at.dlse) == lse),
      InvalidArgumentError, "{} needs gradient and outputs of Attention, got {}, {}, {}",
      ctx.name(), in(0).shape.to_string(), in(1).shape.to_string(), in(2).shape.to_string());
}
void infer_grad(InferCtx& ctx) {
  check_grad(ctx);
  for (int i = 0; i < 3; ++i) {
    const TensorSpec& of = ctx.in[static_cast<std::size_t>(AttentionInputs::kGradFirst + i)];
    ctx.out.add(of.dtype, of.shape);
  }
}
void infer_bias_grad(InferCtx& ctx) {
  check_grad(ctx);
  const AttentionInputs at(ctx.attrs, AttentionInputs::kGradFirst);
  PLIMSOLL_CHECK(at.bias >= 0, InvalidArgumentError, "{} needs a bias", ctx.name());
  const TensorSpec& bias = ctx.in[static_cast<std::size_t>(at.bias)];
  ctx.out.add(bias.dtype, bias.shape);
}

void grad_attention(GradCtx& g) {
  const AttentionInputs at(g.attrs(), 0);
  const bool to_bias = at.bias >= 0 && g.needs(at.bias);
  const bool to_rest = g.needs(at.q) || g.needs(at.k) || g.needs(at.v);
  if (!to_bias && !to_rest) return;
  const bool has_dlse = g.has_dout(1);
  std::vector<Tensor> in{g.dout(0), g.out(0), g.out(1)};
  for (int i = 0; i < at.end; ++i) in.push_back(g.in(i));
  if (has_dlse) in.push_back(g.dout(1));
  using A = attr::Attention;
  const Attrs& a = g.attrs();
  const Attrs attrs{a[A::scale],    a[A::rate],     a[A::is_causal],
                    a[A::has_bias], a[A::has_mask], has_dlse};
  if (to_rest) {
    const std::vector<Tensor> d = g.emit_all(OpId::AttentionGrad, in, attrs);
    for (const int i : {at.q, at.k, at.v}) {
      if (g.needs(i)) g.set_din(i, d[static_cast<std::size_t>(i)]);
    }
  }
  if (to_bias) g.set_din(at.bias, g.emit_all(OpId::AttentionBiasGrad, in, attrs)[0]);
}

[[noreturn]] void no_second_gradient(GradCtx&) {
  throw UnimplementedError(
      "the gradient of scaled_dot_product_attention cannot be differentiated again; write "
      "softmax(matmul(query, key) ...) for gradients of gradients");
}

}  // namespace

const OpDef op_Attention{.infer = infer_attention, .grad = grad_attention};
const OpDef op_AttentionGrad{.infer = infer_grad, .grad = no_second_gradient};
const OpDef op_AttentionBiasGrad{.infer = infer_bias_grad, .grad = no_second_gradient};

}  // namespace plimsoll
