// Along one axis: positions of extremes, running sums and products, the largest elements.
#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

void infer_arg(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  const std::int64_t given = ctx.attrs[attr::ArgMax::axis].as_int();
  const DType to = ctx.attrs[attr::ArgMax::output_type].as_dtype();
  PLIMSOLL_CHECK(given >= -in.rank() && given < in.rank(), InvalidArgumentError,
                 "Expected dimension in the range [{}, {}), but got {} [Op:{}]", -in.rank(),
                 in.rank(), given, ctx.name());
  PLIMSOLL_CHECK(to == DType::kInt64 || to == DType::kInt32, InvalidArgumentError,
                 "Value for attr 'output_type' of {} is not in the list of allowed values: int32, "
                 "int64 [Op:{}]",
                 dtype_word(to), ctx.name());
  const int axis = static_cast<int>(given < 0 ? given + in.rank() : given);
  PLIMSOLL_CHECK(in.dim(axis) > 0, InvalidArgumentError,
                 "Reduction axis {} is empty in shape {} [Op:{}]", axis, in.to_string(),
                 ctx.name());
  PLIMSOLL_CHECK(to == DType::kInt64 || in.dim(axis) <= INT32_MAX, InvalidArgumentError,
                 "positions along axis {} of shape {} do not fit into int32 [Op:{}]", axis,
                 in.to_string(), ctx.name());
  std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
  dims.erase(dims.begin() + axis);
  ctx.out.add(to, Shape(dims));
}

int scan_axis(const Shape& in, const Attrs& attrs, std::string_view name) {
  const std::int64_t axis = attrs[0].as_int();
  PLIMSOLL_CHECK(axis >= -in.rank() && axis < in.rank(), InvalidArgumentError,
                 "ScanOp: Expected scan axis in the range [{}, {}), but got {} [Op:{}]", -in.rank(),
                 in.rank(), axis, name);
  return static_cast<int>(axis < 0 ? axis + in.rank() : axis);
}

void infer_scan(InferCtx& ctx) {
  scan_axis(ctx.in[0].shape, ctx.attrs, ctx.name());
  infer_same_as_in0(ctx);
}

void grad_cumsum(GradCtx& g) {
  using A = attr::Cumsum;
  g.set_din(0, g.emit(OpId::Cumsum, {g.dout(0)},
                      {g.attrs()[A::axis], g.attrs()[A::exclusive].as_bool(),
                       !g.attrs()[A::reverse].as_bool()}));
}

// t moved by one along the axis, towards its end or its beginning; a zero comes in.
Tensor shifted(GradCtx& g, const Tensor& t, int axis, bool to_end) {
  const auto at = static_cast<std::size_t>(axis);
  const auto rank = static_cast<std::size_t>(t.rank());
  if (t.shape().dim(axis) == 0) return t;
  std::vector<std::int64_t> begin(rank, 0), after(rank, 0);
  const std::vector<std::int64_t> ones(rank, 1);
  std::vector<std::int64_t> size(t.shape().dims().begin(), t.shape().dims().end());
  --size[at];
  begin[at] = to_end ? 0 : 1;
  const Tensor part = g.emit(
      OpId::StridedSlice, {t},
      {AttrValue(Ints(size[at] ? begin : after)), AttrValue(Ints(size)), AttrValue(Ints(ones))});
  begin[at] = to_end ? 1 : 0;
  after[at] = to_end ? 0 : 1;
  return g.emit(OpId::Pad, {part}, {AttrValue(Ints(begin)), AttrValue(Ints(after)), 0.0});
}

// Without division, so right with zeros: d x[k] = (product before k) * s[k], where s runs from the
// end: s[k] = d y[k] + x[k + 1] s[k + 1].
void grad_cumprod(GradCtx& g) {
  using A = attr::Cumprod;
  const int axis = scan_axis(g.in_spec(0).shape, g.attrs(), "Cumprod");
  const bool exclusive = g.attrs()[A::exclusive].as_bool();
  const bool reverse = g.attrs()[A::reverse].as_bool();
  const Tensor x = g.in(0);
  const Tensor before = g.emit(OpId::Cumprod, {x}, {axis, true, reverse});
  const Tensor factors = shifted(g, x, axis, reverse);
  const Tensor terms = exclusive ? shifted(g, g.dout(0), axis, reverse) : g.dout(0);
  const Tensor sums = g.emit(OpId::LinearRecurrence, {factors, terms}, {axis, !reverse});
  g.set_din(0, g.emit(OpId::Mul, {before, sums}));
}

void infer_linear_recurrence(InferCtx& ctx) {
  scan_axis(ctx.in[0].shape, ctx.attrs, ctx.name());
  PLIMSOLL_CHECK(ctx.in[0] == ctx.in[1], InvalidArgumentError,
                 "LinearRecurrence needs factors and terms of one shape and type, got {} and {}",
                 ctx.in[0].shape.to_string(), ctx.in[1].shape.to_string());
  infer_same_as_in0(ctx);
}

// d b[k] = d y[k] + a[k + 1] d b[k + 1], a recurrence from the other end; d a[k] = d b[k] y[k - 1].
void grad_linear_recurrence(GradCtx& g) {
  const int axis = scan_axis(g.in_spec(0).shape, g.attrs(), "LinearRecurrence");
  const bool reverse = g.attrs()[attr::LinearRecurrence::reverse].as_bool();
  const Tensor db = g.emit(OpId::LinearRecurrence, {shifted(g, g.in(0), axis, reverse), g.dout(0)},
                           {axis, !reverse});
  if (g.needs(0)) g.set_din(0, g.emit(OpId::Mul, {db, shifted(g, g.out(0), axis, !reverse)}));
  if (g.needs(1)) g.set_din(1, db);
}

void infer_window_sum(InferCtx& ctx) {
  const std::int64_t radius = ctx.attrs[attr::WindowSum::radius].as_int();
  PLIMSOLL_CHECK(ctx.in[0].shape.rank() >= 1, InvalidArgumentError,
                 "WindowSum needs at least one dimension");
  PLIMSOLL_CHECK(radius >= 0, InvalidArgumentError, "WindowSum needs a radius >= 0, got {}",
                 radius);
  infer_same_as_in0(ctx);
}

void infer_top_k(InferCtx& ctx) {
  const Shape& in = ctx.in[0].shape;
  const std::int64_t k = ctx.attrs[attr::TopK::k].as_int();
  PLIMSOLL_CHECK(in.rank() >= 1, InvalidArgumentError,
                 "input must be >= 1-D, got shape {} [Op:TopK]", in.to_string());
  const std::int64_t columns = in.dim(in.rank() - 1);
  PLIMSOLL_CHECK(k >= 0, InvalidArgumentError, "Need k >= 0, got {} [Op:TopK]", k);
  PLIMSOLL_CHECK(k <= columns, InvalidArgumentError,
                 "input must have at least k columns. Had {}, needed {} [Op:TopK]", columns, k);
  PLIMSOLL_CHECK(columns <= INT32_MAX, InvalidArgumentError,
                 "TopK: positions among {} columns do not fit into int32", columns);
  std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
  dims.back() = k;
  ctx.out.add(ctx.in[0].dtype, Shape(dims));
  ctx.out.add(DType::kInt32, Shape(dims));
}

void grad_top_k(GradCtx& g) {
  const Shape& in = g.in_spec(0).shape;
  const int last = in.rank() - 1;
  g.set_din(0, g.emit(OpId::GatherGrad, {g.dout(0), g.out(1)}, {in, last, last}));
}

}  // namespace

const OpDef op_ArgMax{.infer = infer_arg};
const OpDef op_ArgMin{.infer = infer_arg};
const OpDef op_Cumsum{.infer = infer_scan, .grad = grad_cumsum};
const OpDef op_Cumprod{.infer = infer_scan, .grad = grad_cumprod};
const OpDef op_LinearRecurrence{.infer = infer_linear_recurrence, .grad = grad_linear_recurrence};
// Each element is in the windows of those that are in its own.
const OpDef op_WindowSum{
    .infer = infer_window_sum,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::WindowSum, {g.dout(0)}, g.attrs())); },
};
const OpDef op_TopK{.infer = infer_top_k, .grad = grad_top_k};

}  // namespace plimsoll
