#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

void infer_where(InferCtx& ctx) {
  const std::int64_t count = ctx.attrs[attr::Where::count].as_int();
  PLIMSOLL_CHECK(ctx.in[0].dtype == DType::kBool, InvalidArgumentError,
                 "Where needs a condition of type bool, got {}", dtype_word(ctx.in[0].dtype));
  PLIMSOLL_CHECK(count >= 0 && count <= ctx.in[0].shape.num_elements(), InvalidArgumentError,
                 "Where cannot find {} elements in shape {}", count, ctx.in[0].shape.to_string());
  ctx.out.add(DType::kInt64, Shape{count, ctx.in[0].shape.rank()});
}

}  // namespace

const OpDef op_Where{.infer = infer_where};

}  // namespace plimsoll
