// Rows with the same id become one.
#include "ops/segment_scale.h"

#include "base/check.h"
#include "ops/defs.h"
#include "ops/grad_emit.h"
#include "ops/index_dtype.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;
using Attr = attr::SegmentSum;  // num_segments and sorted stand at the same places in all

void infer_segment(InferCtx& ctx) {
  const Shape& data = ctx.in[0].shape;
  const Shape& ids = ctx.in[1].shape;
  const std::int64_t num_segments = ctx.attrs[Attr::num_segments].as_int();
  check_index_dtype(ctx, 1);
  PLIMSOLL_CHECK(num_segments >= 0, InvalidArgumentError,
                 "Input num_segments == {} must not be negative. [Op:{}]", num_segments,
                 ctx.name());
  if (ctx.attrs[Attr::sorted].as_bool()) {
    PLIMSOLL_CHECK(ids.rank() == 1, InvalidArgumentError,
                   "segment_ids should be a vector, got shape {} [Op:{}]", ids.to_string(),
                   ctx.name());
    PLIMSOLL_CHECK(
        data.rank() >= 1 && data.dim(0) == ids.dim(0), InvalidArgumentError,
        "segment_ids should be the same size as dimension 0 of input, got {} for input of "
        "shape {} [Op:{}]",
        ids.dim(0), data.to_string(), ctx.name());
  }
  bool is_prefix = ids.rank() <= data.rank();
  for (int i = 0; is_prefix && i < ids.rank(); ++i) is_prefix = ids.dim(i) == data.dim(i);
  PLIMSOLL_CHECK(is_prefix, InvalidArgumentError,
                 "data.shape = {} does not start with segment_ids.shape = {} [Op:{}]",
                 data.to_string(), ids.to_string(), ctx.name());
  std::vector<std::int64_t> dims{num_segments};
  for (int i = ids.rank(); i < data.rank(); ++i) dims.push_back(data.dim(i));
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
}

void infer_segment_sum(InferCtx& ctx) {
  infer_segment(ctx);
  const std::int64_t scale = ctx.attrs[attr::SegmentSum::scale].as_int();
  PLIMSOLL_CHECK(scale >= 0 && scale <= 2, InvalidArgumentError,
                 "SegmentSum has no way {} to scale sums", scale);
  PLIMSOLL_CHECK(
      scale != static_cast<std::int64_t>(SegmentScale::kSqrtCount) || is_floating(ctx.in[0].dtype),
      InvalidArgumentError, "SegmentSum divides by a root in floating point, not in {}",
      dtype_word(ctx.in[0].dtype));
}

// What gradients of all four are made of. Data of the shape of the input, segments of the output.
class SegmentGrad {
 public:
  explicit SegmentGrad(GradCtx& g) : g_(g), ids_(g.in(1)) {
    sorted_ = g.attrs()[Attr::sorted].as_bool();
    num_segments_ = g.attrs()[Attr::num_segments].as_int();
  }

  // The row of its segment for each row of data; zeros where the id is negative.
  Tensor gather(const Tensor& segments) {
    if (num_segments_ == 0) return fill(g_.in_spec(0).shape, segments.dtype());
    if (sorted_) return g_.emit(OpId::Gather, {segments, ids_}, {0, 0});
    const Tensor zero = g_.scalar(0, ids_.dtype());
    const Tensor rows =
        g_.emit(OpId::Gather, {segments, g_.emit(OpId::Maximum, {ids_, zero})}, {0, 0});
    return g_.emit(OpId::Select, {is_counted(), rows, g_.scalar(0, rows.dtype())});
  }
  Tensor sum(const Tensor& data) {
    return g_.emit(OpId::SegmentSum, {data, ids_}, {num_segments_, sorted_, 0});
  }
  Tensor prod(const Tensor& data) {
    return g_.emit(OpId::SegmentProd, {data, ids_}, {num_segments_, sorted_});
  }
  // One over how many rows a segment has, or over the root of it; as [num_segments, 1, ...].
  Tensor scale_of(SegmentScale scale, DType dtype) {
    const DType wide = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
    const Tensor rows = sum(fill(g_.in_spec(1).shape, wide, 1));
    const Tensor count = g_.emit(OpId::Maximum, {rows, g_.scalar(1, wide)});
    const Tensor factor =
        g_.emit(scale == SegmentScale::kCount ? OpId::Reciprocal : OpId::Rsqrt, {count});
    std::vector<std::int64_t> dims(static_cast<std::size_t>(g_.out_spec(0).shape.rank()), 1);
    dims[0] = num_segments_;
    return g_.emit(OpId::Reshape, {g_.emit(OpId::Cast, {factor}, {dtype})},
                   {AttrValue(Ints(dims))});
  }
  Tensor fill(const Shape& shape, DType dtype, double value = 0) {
    return g_.emit(OpId::Fill, {}, {dtype, shape, value});
  }

 private:
  // Whether a row has a segment; with ones for the dimensions that ids do not have.
  Tensor is_counted() {
    const Tensor counted = g_.emit(OpId::GreaterEqual, {ids_, g_.scalar(0, ids_.dtype())});
    std::vector<std::int64_t> dims(ids_.shape().dims().begin(), ids_.shape().dims().end());
    dims.resize(static_cast<std::size_t>(g_.in_spec(0).shape.rank()), 1);
    return g_.emit(OpId::Reshape, {counted}, {AttrValue(Ints(dims))});
  }

  GradCtx& g_;
  Tensor ids_;
  std::int64_t num_segments_;
  bool sorted_;
};

void grad_sum(GradCtx& g) {
  if (!g.needs(0)) return;
  SegmentGrad s(g);
  const auto scale = static_cast<SegmentScale>(g.attrs()[attr::SegmentSum::scale].as_int());
  Tensor dout = g.dout(0);
  if (scale != SegmentScale::kNone) dout = mul(g, dout, s.scale_of(scale, dout.dtype()));
  g.set_din(0, s.gather(dout));
}

// Where several are equally large, each has the same part.
void grad_extreme(GradCtx& g) {
  if (!g.needs(0)) return;
  SegmentGrad s(g);
  const DType dtype = g.in_spec(0).dtype;
  const Tensor is_taken = g.emit(OpId::Equal, {g.in(0), s.gather(g.out(0))});
  const Tensor count = s.sum(g.emit(OpId::Cast, {is_taken}, {dtype}));
  const Tensor part = s.gather(g.emit(OpId::DivNoNan, {g.dout(0), count}));
  g.set_din(0, g.emit(OpId::Select, {is_taken, part, g.scalar(0, dtype)}));
}

// The product of all others: the product over x, and where x is the only zero, that of the rest.
void grad_prod(GradCtx& g) {
  if (!g.needs(0)) return;
  SegmentGrad s(g);
  const DType dtype = g.in_spec(0).dtype;
  const Tensor x = g.in(0);
  const Tensor zero = g.scalar(0, dtype);
  const Tensor one = g.scalar(1, dtype);
  const Tensor is_zero = g.emit(OpId::Equal, {x, zero});
  const Tensor num_zeros = s.sum(g.emit(OpId::Cast, {is_zero}, {dtype}));
  const Tensor not_zero = g.emit(OpId::Select, {is_zero, one, x});
  const Tensor rest = s.prod(not_zero);
  const Tensor has_none = g.emit(OpId::Equal, {num_zeros, zero});
  const Tensor has_one = g.emit(OpId::Equal, {num_zeros, one});
  const Tensor dout = mul(g, g.dout(0), rest);
  const Tensor of_others = div(g, s.gather(g.emit(OpId::Select, {has_none, dout, zero})), not_zero);
  const Tensor of_zero = s.gather(g.emit(OpId::Select, {has_one, dout, zero}));
  g.set_din(0, g.emit(OpId::Select, {is_zero, of_zero, of_others}));
}

void infer_bincount(InferCtx& ctx) {
  using A = attr::Bincount;
  const Shape& in = ctx.in[0].shape;
  const std::int64_t size = ctx.attrs[A::size].as_int();
  const DType dtype = ctx.attrs[A::dtype].as_dtype();
  check_index_dtype(ctx, 0, "Tidx");
  PLIMSOLL_CHECK(ctx.in.size() <= 2, InvalidArgumentError,
                 "Bincount takes integers and weights, got {} inputs", ctx.in.size());
  PLIMSOLL_CHECK(in.rank() <= 2, InvalidArgumentError,
                 "Shape must be at most rank 2 but is rank {} [Op:Bincount]", in.rank());
  PLIMSOLL_CHECK(size >= 0, InvalidArgumentError, "size ({}) must be non-negative [Op:Bincount]",
                 size);
  PLIMSOLL_CHECK(dtype != DType::kBool && dtype != DType::kString, InvalidArgumentError,
                 "Bincount counts in numbers, not in {}", dtype_word(dtype));
  if (ctx.in.size() == 2) {
    PLIMSOLL_CHECK(ctx.in[1].shape == in && ctx.in[1].dtype == dtype, InvalidArgumentError,
                   "weights must have the shape of arr and the type of the result: got {} of {} "
                   "for {} of {} [Op:Bincount]",
                   ctx.in[1].shape.to_string(), dtype_word(ctx.in[1].dtype), in.to_string(),
                   dtype_word(dtype));
  }
  ctx.out.add(dtype, in.rank() == 2 ? Shape{in.dim(0), size} : Shape{size});
}

}  // namespace

const OpDef op_SegmentSum{.infer = infer_segment_sum, .grad = grad_sum, .fails = Fails::kAlways};
const OpDef op_SegmentProd{.infer = infer_segment, .grad = grad_prod, .fails = Fails::kAlways};
const OpDef op_SegmentMax{.infer = infer_segment, .grad = grad_extreme, .fails = Fails::kAlways};
const OpDef op_SegmentMin{.infer = infer_segment, .grad = grad_extreme, .fails = Fails::kAlways};
const OpDef op_Bincount{.infer = infer_bincount, .fails = Fails::kAlways};

}  // namespace plimsoll
