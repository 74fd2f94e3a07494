#include <algorithm>

#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

void check_state(const InferCtx& ctx, std::size_t i) {
  const TensorSpec& state = ctx.in[i];
  PLIMSOLL_CHECK(state.dtype == DType::kInt32 || state.dtype == DType::kInt64, InvalidArgumentError,
                 "seed must be int32 or int64, not {}", dtype_name(state.dtype));
  PLIMSOLL_CHECK(
      state.shape == Shape({2}) || (state.shape == Shape({3}) && state.dtype == DType::kInt64),
      InvalidArgumentError, "seed must have shape [2], not {}", state.shape.to_string());
}

template <bool kIsInt>
void infer_random(InferCtx& ctx) {
  check_state(ctx, 0);
  const DType dtype = ctx.attrs[attr::RandomUniform::dtype].as_dtype();
  const bool fits = kIsInt ? dtype == DType::kInt32 || dtype == DType::kInt64 : is_floating(dtype);
  PLIMSOLL_CHECK(fits, InvalidArgumentError, "{} makes no {}; {}", ctx.name(), dtype_name(dtype),
                 kIsInt ? "int32, int64" : "float16, bfloat16, float32, float64");
  if constexpr (kIsInt) {
    const std::int64_t lo = ctx.attrs[attr::RandomUniformInt::minval].as_int();
    const std::int64_t hi = ctx.attrs[attr::RandomUniformInt::maxval].as_int();
    PLIMSOLL_CHECK(lo < hi, InvalidArgumentError,
                   "Need minval < maxval, got {} >= {} [Op:RandomUniformInt]", lo, hi);
  }
  ctx.out.add(dtype, Shape(ctx.attrs[attr::RandomUniform::shape].as_ints()));
}

void infer_with_state(InferCtx& ctx) {
  check_state(ctx, 1);
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

void infer_bits(InferCtx& ctx) {
  check_state(ctx, 0);
  const DType dtype = ctx.attrs[attr::RandomBits::dtype].as_dtype();
  PLIMSOLL_CHECK(dtype == DType::kInt32 || dtype == DType::kInt64, InvalidArgumentError,
                 "{} makes no {}; int32, int64", ctx.name(), dtype_name(dtype));
  ctx.out.add(dtype, Shape(ctx.attrs[attr::RandomBits::shape].as_ints()));
}

void infer_categorical(InferCtx& ctx) {
  check_state(ctx, 1);
  const TensorSpec& logits = ctx.in[0];
  PLIMSOLL_CHECK(is_floating(logits.dtype), InvalidArgumentError, "logits must be floating, not {}",
                 dtype_name(logits.dtype));
  PLIMSOLL_CHECK(logits.shape.rank() == 2, InvalidArgumentError,
                 "logits should be a matrix, got shape {}", logits.shape.to_string());
  const DType dtype = ctx.attrs[attr::RandomCategorical::dtype].as_dtype();
  PLIMSOLL_CHECK(dtype == DType::kInt32 || dtype == DType::kInt64, InvalidArgumentError,
                 "Argument `dtype` got invalid value {}. Accepted dtypes are int32, int64",
                 dtype_name(dtype));
  const std::int64_t n = ctx.attrs[attr::RandomCategorical::num_samples].as_int();
  PLIMSOLL_CHECK(n >= 0, InvalidArgumentError, "num_samples should be nonnegative, got {}", n);
  PLIMSOLL_CHECK(n == 0 || logits.shape.dim(0) == 0 || logits.shape.dim(1) > 0,
                 InvalidArgumentError, "num_classes should be positive, got {}",
                 logits.shape.dim(1));
  ctx.out.add(dtype, Shape({logits.shape.dim(0), n}));
}

// The parameters' shape is the end of the result's.
void check_ends_with(const InferCtx& ctx, const Shape& shape, const Shape& parameters) {
  const auto all = shape.dims(), end = parameters.dims();
  const bool fits =
      end.size() <= all.size() && std::equal(end.begin(), end.end(), all.end() - parameters.rank());
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "{}: shape {} must end with the shape of the parameters, {}", ctx.name(),
                 shape.to_string(), parameters.to_string());
}

void infer_gamma(InferCtx& ctx) {
  check_state(ctx, 1);
  PLIMSOLL_CHECK(is_floating(ctx.in[0].dtype), InvalidArgumentError,
                 "alpha must be floating, not {}", dtype_name(ctx.in[0].dtype));
  const Shape shape(ctx.attrs[attr::RandomGamma::shape].as_ints());
  check_ends_with(ctx, shape, ctx.in[0].shape);
  ctx.out.add(ctx.in[0].dtype, shape);
}
void infer_gamma_grad(InferCtx& ctx) {
  PLIMSOLL_CHECK(is_floating(ctx.in[0].dtype) && ctx.in[0].dtype == ctx.in[1].dtype,
                 InvalidArgumentError, "{} needs alpha and sample of one floating type, got {} {}",
                 ctx.name(), dtype_name(ctx.in[0].dtype), dtype_name(ctx.in[1].dtype));
  check_ends_with(ctx, ctx.in[1].shape, ctx.in[0].shape);
  ctx.out.add(ctx.in[1].dtype, ctx.in[1].shape);
}
// The types of counts: floating, int32, int64.
void check_counted(const InferCtx& ctx, DType dtype) {
  PLIMSOLL_CHECK(is_floating(dtype) || dtype == DType::kInt32 || dtype == DType::kInt64,
                 InvalidArgumentError, "{} makes no {}; floating types, int32, int64", ctx.name(),
                 dtype_name(dtype));
}
void infer_poisson(InferCtx& ctx) {
  check_state(ctx, 1);
  PLIMSOLL_CHECK(is_floating(ctx.in[0].dtype), InvalidArgumentError, "lam must be floating, not {}",
                 dtype_name(ctx.in[0].dtype));
  const DType dtype = ctx.attrs[attr::RandomPoisson::dtype].as_dtype();
  check_counted(ctx, dtype);
  const Shape shape(ctx.attrs[attr::RandomPoisson::shape].as_ints());
  check_ends_with(ctx, shape, ctx.in[0].shape);
  ctx.out.add(dtype, shape);
}
void infer_binomial(InferCtx& ctx) {
  check_state(ctx, 2);
  PLIMSOLL_CHECK(is_floating(ctx.in[0].dtype) && ctx.in[0].dtype == ctx.in[1].dtype &&
                     ctx.in[0].shape == ctx.in[1].shape,
                 InvalidArgumentError,
                 "{} needs counts and probs of one shape and floating type, got {} {} and {} {}",
                 ctx.name(), dtype_name(ctx.in[0].dtype), ctx.in[0].shape.to_string(),
                 dtype_name(ctx.in[1].dtype), ctx.in[1].shape.to_string());
  const DType dtype = ctx.attrs[attr::RandomBinomial::dtype].as_dtype();
  check_counted(ctx, dtype);
  const Shape shape(ctx.attrs[attr::RandomBinomial::shape].as_ints());
  check_ends_with(ctx, shape, ctx.in[0].shape);
  ctx.out.add(dtype, shape);
}

// By alpha, at the number that was drawn: implicit reparameterisation.
void grad_gamma(GradCtx& g) {
  if (!g.needs(0)) return;
  const Tensor slope = g.emit(OpId::RandomGammaGrad, {g.in(0), g.out(0)});
  give(g, 0, mul(g, g.dout(0), slope));
}
[[noreturn]] void no_second_gradient(GradCtx&) {
  throw UnimplementedError("the gradient of random::gamma cannot be differentiated again");
}

}  // namespace

const OpDef op_RandomUniform{.infer = infer_random<false>};
const OpDef op_RandomUniformInt{.infer = infer_random<true>};
const OpDef op_RandomNormal{.infer = infer_random<false>};
const OpDef op_TruncatedNormal{.infer = infer_random<false>};
const OpDef op_RandomBits{.infer = infer_bits};
const OpDef op_RandomShuffle{.infer = infer_with_state};
const OpDef op_RandomCategorical{.infer = infer_categorical};
const OpDef op_RandomGamma{.infer = infer_gamma, .grad = grad_gamma};
const OpDef op_RandomGammaGrad{.infer = infer_gamma_grad, .grad = no_second_gradient};
const OpDef op_RandomPoisson{.infer = infer_poisson};
const OpDef op_RandomBinomial{.infer = infer_binomial};
// Linear in x: the gradient is the same op, which draws the same mask again.
const OpDef op_Dropout{
    .infer = infer_with_state,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::Dropout, {g.dout(0), g.in(1)}, g.attrs()));
        },
    .may_alias = Alias::kIn0,
};

}  // namespace plimsoll
