#include "ops/op_def.h"

#include "ops/defs.h"

namespace plimsoll {
namespace {

constexpr const OpDef* kDefs[] = {
#define OP(Name, ...) &op_##Name,
#include "ops/ops.def"
#undef OP
};

}  // namespace

const OpDef& op_def(OpId op) noexcept {
  return *kDefs[static_cast<std::size_t>(op)];
}

void OutSpecs::add(DType dtype, const Shape& shape) {
  if (num_ < kMaxFixedOut && more_.empty()) {
    few_[static_cast<std::size_t>(num_)] = {dtype, shape};
  } else {
    if (more_.empty()) more_.assign(few_.begin(), few_.end());
    more_.push_back({dtype, shape});
  }
  ++num_;
}

void infer_same_as_in0(InferCtx& ctx) {
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

}  // namespace plimsoll
