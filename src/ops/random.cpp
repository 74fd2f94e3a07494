#include "base/check.h"
#include "ops/defs.h"

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

}  // namespace

const OpDef op_RandomUniform{.infer = infer_random<false>};
const OpDef op_RandomUniformInt{.infer = infer_random<true>};
const OpDef op_RandomNormal{.infer = infer_random<false>};
const OpDef op_TruncatedNormal{.infer = infer_random<false>};
const OpDef op_RandomShuffle{.infer = infer_with_state};
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
