#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"

namespace plimsoll {
namespace {

void check_axis(const InferCtx& ctx) {
  const int rank = ctx.in[0].shape.rank();
  const std::int64_t axis = ctx.attrs[attr::Softmax::axis].as_int();
  PLIMSOLL_CHECK(axis >= -rank && axis < rank, InvalidArgumentError,
                 "`dim` must be in the range [{}, {}) where {} is the number of dimensions in the "
                 "input. Received: dim={}",
                 -rank, rank, rank, axis);
}
void infer_softmax(InferCtx& ctx) {
  check_axis(ctx);
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}
void infer_softmax_grad(InferCtx& ctx) {
  check_axis(ctx);
  PLIMSOLL_CHECK(ctx.in[0] == ctx.in[1], InvalidArgumentError,
                 "{} needs a gradient like the output, got {} {} and {} {}", ctx.name(),
                 dtype_name(ctx.in[0].dtype), ctx.in[0].shape.to_string(),
                 dtype_name(ctx.in[1].dtype), ctx.in[1].shape.to_string());
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

Shape without_last(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 1)));
}

void check_logits(const TensorSpec& logits) {
  PLIMSOLL_CHECK(logits.shape.rank() >= 1, InvalidArgumentError,
                 "logits must have a last axis of classes, got shape {}", logits.shape.to_string());
}
void check_dense(const TensorSpec& logits, const TensorSpec& labels) {
  check_logits(logits);
  PLIMSOLL_CHECK(logits.shape == labels.shape, InvalidArgumentError,
                 "logits and labels must be broadcastable: logits_size={} labels_size={} "
                 "[Op:SoftmaxCrossEntropyWithLogits]",
                 logits.shape.to_string(), labels.shape.to_string());
  PLIMSOLL_CHECK(logits.dtype == labels.dtype, InvalidArgumentError,
                 "cannot compute SoftmaxCrossEntropyWithLogits as input #1(zero-based) was "
                 "expected to be a {} tensor but is a {} tensor [Op:SoftmaxCrossEntropyWithLogits]",
                 dtype_word(logits.dtype), dtype_word(labels.dtype));
}
void check_sparse(const TensorSpec& logits, const TensorSpec& labels) {
  check_logits(logits);
  PLIMSOLL_CHECK(without_last(logits.shape) == labels.shape, InvalidArgumentError,
                 "`labels.shape` must equal `logits.shape` except for the last dimension. "
                 "Received: labels.shape={} and logits.shape={}",
                 labels.shape.to_string(), logits.shape.to_string());
  PLIMSOLL_CHECK(labels.dtype == DType::kInt32 || labels.dtype == DType::kInt64,
                 InvalidArgumentError, "labels must be int32 or int64, got {}",
                 dtype_name(labels.dtype));
}

template <void (*kCheck)(const TensorSpec&, const TensorSpec&)>
void infer_loss(InferCtx& ctx) {
  kCheck(ctx.in[0], ctx.in[1]);
  ctx.out.add(ctx.in[0].dtype, without_last(ctx.in[0].shape));
}
template <void (*kCheck)(const TensorSpec&, const TensorSpec&)>
void infer_loss_grad(InferCtx& ctx) {
  kCheck(ctx.in[1], ctx.in[2]);
  PLIMSOLL_CHECK(ctx.in[0] == (TensorSpec{ctx.in[1].dtype, without_last(ctx.in[1].shape)}),
                 InvalidArgumentError, "{} needs a gradient per row of {}, got {}", ctx.name(),
                 ctx.in[1].shape.to_string(), ctx.in[0].shape.to_string());
  ctx.out.add(ctx.in[1].dtype, ctx.in[1].shape);
}
void infer_sigmoid(InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].shape == ctx.in[1].shape, InvalidArgumentError,
                 "`logits` and `labels` must have the same shape, received ({} vs {}).",
                 ctx.in[0].shape.to_string(), ctx.in[1].shape.to_string());
  PLIMSOLL_CHECK(ctx.in[0].dtype == ctx.in[1].dtype, InvalidArgumentError,
                 "`logits` and `labels` must have the same type, received {} and {}",
                 dtype_name(ctx.in[0].dtype), dtype_name(ctx.in[1].dtype));
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

Tensor sum_kept(GradCtx& g, const Tensor& x, std::int64_t axis) {
  return g.emit(OpId::ReduceSum, {x}, {AttrValue(std::span<const std::int64_t>(&axis, 1)), true});
}
std::int64_t axis_of(GradCtx& g) {
  return g.attrs()[attr::Softmax::axis].as_int();
}
// A loss per row as a column beside the logits.
Tensor as_column(GradCtx& g, const Tensor& loss) {
  std::vector<std::int64_t> dims(loss.shape().dims().begin(), loss.shape().dims().end());
  dims.push_back(1);
  return g.emit(OpId::Reshape, {loss}, {AttrValue(std::span<const std::int64_t>(dims))});
}

// dx = (dy - sum(dy y)) y
void grad_softmax_grad(GradCtx& g) {
  const Tensor dy = g.in(0), y = g.in(1), d = g.dout(0);
  if (g.needs(0)) g.set_din(0, g.emit(OpId::SoftmaxGrad, {d, y}, g.attrs()));
  if (g.needs(1)) {
    const Tensor inner = sum_kept(g, mul(g, dy, y), axis_of(g));
    const Tensor direct = mul(g, d, sub(g, dy, inner));
    const Tensor through = mul(g, dy, sum_kept(g, mul(g, d, y), axis_of(g)));
    g.set_din(1, sub(g, direct, through));
  }
}
// dx = dy - exp(y) sum(dy)
void grad_log_softmax_grad(GradCtx& g) {
  const Tensor y = g.in(1), d = g.dout(0);
  const Tensor scaled = mul(g, d, g.emit(OpId::Exp, {y}));
  if (g.needs(0)) g.set_din(0, sub(g, d, sum_kept(g, scaled, axis_of(g))));
  if (g.needs(1)) {
    g.set_din(1, neg(g, mul(g, scaled, sum_kept(g, g.in(0), axis_of(g)))));
  }
}

void grad_cross_entropy(GradCtx& g) {
  if (g.needs(0)) {
    g.set_din(0, g.emit(OpId::SoftmaxCrossEntropyGrad, {g.dout(0), g.in(0), g.in(1)}));
  }
  if (g.needs(1)) {
    const Tensor log = g.emit(OpId::LogSoftmax, {g.in(0)}, {-1});
    g.set_din(1, neg(g, mul(g, as_column(g, g.dout(0)), log)));
  }
}
// dx = column(dl) (softmax(x) - labels); the part through the softmax is SoftmaxGrad's.
void grad_cross_entropy_grad(GradCtx& g) {
  const Tensor dl = g.in(0), d = g.dout(0);
  const Tensor p = g.emit(OpId::Softmax, {g.in(1)}, {-1});
  if (g.needs(0)) {
    const Tensor rows = sum_kept(g, mul(g, d, sub(g, p, g.in(2))), -1);
    g.set_din(0, g.emit(OpId::Reshape, {rows}, {AttrValue(dl.shape())}));
  }
  const Tensor scaled = mul(g, d, as_column(g, dl));
  if (g.needs(1)) g.set_din(1, g.emit(OpId::SoftmaxGrad, {scaled, p}, {-1}));
  if (g.needs(2)) g.set_din(2, neg(g, scaled));
}
// As above; sum(d onehot) is what the loss itself would pick out of d, so it is taken by the same
// trick: the gradient op is linear in dl.
void grad_sparse_grad(GradCtx& g) {
  const Tensor dl = g.in(0), d = g.dout(0);
  if (g.needs(0)) {
    const Tensor one = g.emit(OpId::Fill, {}, {dl.dtype(), dl.shape(), 1.0});
    const Tensor slope = g.emit(OpId::SparseSoftmaxCrossEntropyGrad, {one, g.in(1), g.in(2)});
    const Tensor rows = sum_kept(g, mul(g, d, slope), -1);
    g.set_din(0, g.emit(OpId::Reshape, {rows}, {AttrValue(dl.shape())}));
  }
  if (g.needs(1)) {
    const Tensor p = g.emit(OpId::Softmax, {g.in(1)}, {-1});
    g.set_din(1, g.emit(OpId::SoftmaxGrad, {mul(g, d, as_column(g, dl)), p}, {-1}));
  }
}

}  // namespace

const OpDef op_Softmax{
    .infer = infer_softmax,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::SoftmaxGrad, {g.dout(0), g.out(0)}, g.attrs()));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_LogSoftmax{
    .infer = infer_softmax,
    .grad =
        [](GradCtx& g) {
          g.set_din(0, g.emit(OpId::LogSoftmaxGrad, {g.dout(0), g.out(0)}, g.attrs()));
        },
    .may_alias = Alias::kIn0,
};
const OpDef op_SoftmaxGrad{
    .infer = infer_softmax_grad, .grad = grad_softmax_grad, .may_alias = Alias::kAnyIn};
const OpDef op_LogSoftmaxGrad{
    .infer = infer_softmax_grad, .grad = grad_log_softmax_grad, .may_alias = Alias::kAnyIn};

const OpDef op_SoftmaxCrossEntropy{.infer = infer_loss<check_dense>, .grad = grad_cross_entropy};
const OpDef op_SoftmaxCrossEntropyGrad{.infer = infer_loss_grad<check_dense>,
                                       .grad = grad_cross_entropy_grad};
const OpDef op_SparseSoftmaxCrossEntropy{
    .infer = infer_loss<check_sparse>,
    .grad =
        [](GradCtx& g) {
          if (!g.needs(0)) return;
          g.set_din(0, g.emit(OpId::SparseSoftmaxCrossEntropyGrad, {g.dout(0), g.in(0), g.in(1)}));
        },
    .fails = Fails::kAlways,
};
const OpDef op_SparseSoftmaxCrossEntropyGrad{
    .infer = infer_loss_grad<check_sparse>, .grad = grad_sparse_grad, .fails = Fails::kAlways};
const OpDef op_SigmoidCrossEntropy{
    .infer = infer_sigmoid,
    .grad =
        [](GradCtx& g) {
          const Tensor d = g.dout(0), x = g.in(0);
          if (g.needs(0)) {
            g.set_din(0, mul(g, d, sub(g, g.emit(OpId::Sigmoid, {x}), g.in(1))));
          }
          if (g.needs(1)) g.set_din(1, neg(g, mul(g, d, x)));
        },
    .may_alias = Alias::kAnyIn,
};

}  // namespace plimsoll
