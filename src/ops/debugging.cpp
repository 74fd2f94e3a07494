// Ops that have no result: they print, or end the run.
#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

void check_text(const InferCtx& ctx, std::size_t i) {
  PLIMSOLL_CHECK(
      ctx.in.size() > i && ctx.in[i].dtype == DType::kUInt8 && ctx.in[i].shape.rank() == 1,
      InvalidArgumentError, "input {} of {} has to be a text, a vector of uint8", i, ctx.name());
}

void infer_print(InferCtx& ctx) {
  check_text(ctx, 0);
}

void infer_assert(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].dtype == DType::kBool, InvalidArgumentError,
                 "cannot compute Assert as input #0(zero-based) was expected to be a bool tensor "
                 "but is a {} tensor [Op:Assert]",
                 dtype_word(ctx.in[0].dtype));
  PLIMSOLL_CHECK(ctx.in[0].shape.rank() == 0, InvalidArgumentError,
                 "In[0] should be a scalar: {} [Op:Assert]", ctx.in[0].shape.to_string());
  check_text(ctx, 1);
}

}  // namespace

const OpDef op_Print{.infer = infer_print, .is_effect = true};
const OpDef op_Assert{.infer = infer_assert, .fails = Fails::kAlways, .is_effect = true};

}  // namespace plimsoll
