#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_util.h"

namespace plimsoll {
namespace {

void infer_matmul(InferCtx& ctx) {
  const Shape& a = ctx.in[0].shape;
  const Shape& b = ctx.in[1].shape;
  PLIMSOLL_CHECK(
      ctx.in[0].dtype == ctx.in[1].dtype, InvalidArgumentError,
      "cannot compute MatMul as input #1(zero-based) was expected to be a {} tensor but is a {} "
      "tensor [Op:MatMul]",
      dtype_word(ctx.in[0].dtype), dtype_word(ctx.in[1].dtype));
  PLIMSOLL_CHECK(a.rank() >= 2 && b.rank() >= 2, InvalidArgumentError,
                 "MatMul needs tensors of rank 2 or more, got {} and {}", a.to_string(),
                 b.to_string());
  const bool ta = ctx.attrs[attr::MatMul::transpose_a].as_bool();
  const bool tb = ctx.attrs[attr::MatMul::transpose_b].as_bool();
  const std::int64_t m = a.dim(a.rank() - (ta ? 1 : 2));
  const std::int64_t ka = a.dim(a.rank() - (ta ? 2 : 1));
  const std::int64_t kb = b.dim(b.rank() - (tb ? 1 : 2));
  const std::int64_t n = b.dim(b.rank() - (tb ? 2 : 1));
  PLIMSOLL_CHECK(ka == kb, InvalidArgumentError,
                 "Matrix size-incompatible: In[0]: {}, In[1]: {} [Op:MatMul]", a.to_string(),
                 b.to_string());
  const auto lead = [](const Shape& s) {
    return Shape(s.dims().first(static_cast<std::size_t>(s.rank() - 2)));
  };
  const Shape batch = broadcast_shapes(lead(a), lead(b), "MatMul");
  std::vector<std::int64_t> dims(batch.dims().begin(), batch.dims().end());
  dims.push_back(m);
  dims.push_back(n);
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
  if (ctx.op != OpId::MatMulBias) return;
  PLIMSOLL_CHECK(ctx.in[2].dtype == ctx.in[0].dtype && ctx.in[2].shape == Shape({n}),
                 InvalidArgumentError, "MatMulBias needs a bias of {} {}, got {} {}",
                 dtype_name(ctx.in[0].dtype), Shape({n}).to_string(), dtype_name(ctx.in[2].dtype),
                 ctx.in[2].shape.to_string());
}

void grad_matmul(GradCtx& g) {
  const bool ta = g.attrs()[attr::MatMul::transpose_a].as_bool();
  const bool tb = g.attrs()[attr::MatMul::transpose_b].as_bool();
  const Tensor d = g.dout(0);
  if (g.needs(0)) {  // a' = d b^T, or transposed: b d^T
    const Tensor da = ta ? g.emit(OpId::MatMul, {g.in(1), d}, {tb, true})
                         : g.emit(OpId::MatMul, {d, g.in(1)}, {false, !tb});
    g.set_din(0, sum_to(g, da, g.in_spec(0).shape));
  }
  if (g.needs(1)) {
    const Tensor db = tb ? g.emit(OpId::MatMul, {d, g.in(0)}, {true, ta})
                         : g.emit(OpId::MatMul, {g.in(0), d}, {!ta, false});
    g.set_din(1, sum_to(g, db, g.in_spec(1).shape));
  }
}

}  // namespace

const OpDef op_MatMul{.infer = infer_matmul, .grad = grad_matmul};
const OpDef op_MatMulBias{.infer = infer_matmul};

}  // namespace plimsoll
