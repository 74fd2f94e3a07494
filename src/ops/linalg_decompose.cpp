// Decompositions of matrices and their gradients, which are TensorFlow's.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/linalg_grad.h"

namespace plimsoll {
namespace {

using Dims = std::vector<std::int64_t>;

std::int64_t rows_of(const Shape& s) {
  return s.dim(s.rank() - 2);
}
std::int64_t columns_of(const Shape& s) {
  return s.dim(s.rank() - 1);
}

// The batch of `s` with these dimensions behind it.
Shape batch_of(const Shape& s, std::initializer_list<std::int64_t> last) {
  Dims dims(s.dims().begin(), s.dims().end() - 2);
  dims.insert(dims.end(), last.begin(), last.end());
  return Shape(dims);
}

void infer_qr(InferCtx& ctx) {
  check_float(ctx);
  check_matrices(ctx);
  const Shape& s = ctx.in[0].shape;
  const std::int64_t m = rows_of(s), n = columns_of(s);
  const std::int64_t k = ctx.attrs[attr::Qr::full_matrices].as_bool() ? m : std::min(m, n);
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {m, k}));
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {k, n}));
}

void infer_svd(InferCtx& ctx) {
  check_float(ctx);
  check_matrices(ctx);
  const Shape& s = ctx.in[0].shape;
  const std::int64_t m = rows_of(s), n = columns_of(s), k = std::min(m, n);
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {k}));
  if (!ctx.attrs[attr::Svd::compute_uv].as_bool()) return;
  const bool full = ctx.attrs[attr::Svd::full_matrices].as_bool();
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {m, full ? m : k}));
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {n, full ? n : k}));
}

void infer_eigh(InferCtx& ctx) {
  check_float(ctx);
  check_square(ctx);
  const Shape& s = ctx.in[0].shape;
  ctx.out.add(ctx.in[0].dtype, batch_of(s, {columns_of(s)}));
  if (ctx.attrs[attr::SelfAdjointEig::compute_v].as_bool()) ctx.out.add(ctx.in[0].dtype, s);
}

// Columns [begin, end) of matrices.
Tensor columns(GradCtx& g, const Tensor& a, std::int64_t begin, std::int64_t end) {
  if (begin == 0 && end == columns_of(a.shape())) return a;
  Dims first(static_cast<std::size_t>(a.rank()), 0), ones(first.size(), 1);
  first.back() = begin;
  return g.emit(
      OpId::StridedSlice, {a},
      {AttrValue(Shape(first)), AttrValue(batch_of(a.shape(), {rows_of(a.shape()), end - begin})),
       AttrValue(Shape(ones))});
}

// Vectors as matrices of one row, or of one column.
Tensor as_row(GradCtx& g, const Tensor& v) {
  Dims dims(v.shape().dims().begin(), v.shape().dims().end());
  dims.insert(dims.end() - 1, 1);
  return g.emit(OpId::Reshape, {v}, {AttrValue(Shape(dims))});
}
Tensor as_column(GradCtx& g, const Tensor& v) {
  Dims dims(v.shape().dims().begin(), v.shape().dims().end());
  dims.push_back(1);
  return g.emit(OpId::Reshape, {v}, {AttrValue(Shape(dims))});
}
Tensor on_diagonal(GradCtx& g, const Tensor& v) {
  Dims dims(v.shape().dims().begin(), v.shape().dims().end());
  dims.push_back(dims.back());
  const Tensor eye = g.emit(OpId::Eye, {}, {v.dtype(), AttrValue(Shape(dims))});
  return mul(g, eye, as_row(g, v));
}

// 1 / x, and 0 where x is 0; TensorFlow's epsilon.
Tensor safe_reciprocal(GradCtx& g, const Tensor& x) {
  return div(g, x, plus(g, 1e-20, square(g, x)));
}
// 1 / (x_j - x_i), and 0 on the diagonal.
Tensor gaps(GradCtx& g, const Tensor& x) {
  return safe_reciprocal(g, sub(g, as_row(g, x), as_column(g, x)));
}

// x r^-T for upper triangular r.
Tensor divide_by(GradCtx& g, const Tensor& x, const Tensor& r) {
  return transposed(g, g.emit(OpId::MatrixTriangularSolve, {r, transposed(g, x)}, {false, false}));
}

// Of square r: the matrix is square or has more rows than columns.
Tensor qr_grad(GradCtx& g, const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor qdq = matmul(g, q, dq, true);
  const Tensor rdr = matmul(g, r, dr, false, true);
  const Tensor skew = add(g, sub(g, qdq, transposed(g, qdq)), sub(g, rdr, transposed(g, rdr)));
  const Tensor inside = add(g, dr, divide_by(g, band_part(g, skew, -1, 0), r));
  const Tensor outside = divide_by(g, sub(g, dq, matmul(g, q, qdq)), r);
  return add(g, matmul(g, q, inside), outside);
}

void grad_qr(GradCtx& g) {
  const Tensor q = g.out(0), r = g.out(1), dq = g.dout(0), dr = g.dout(1);
  const std::int64_t m = rows_of(q.shape()), n = columns_of(r.shape());
  PLIMSOLL_CHECK(m <= n || columns_of(q.shape()) < m, UnimplementedError,
                 "QrGrad not implemented when nrows > ncols and full_matrices is true: {} by {}", m,
                 n);
  if (m >= n) {
    g.set_din(0, qr_grad(g, q, r, dq, dr));
    return;
  }
  // [x, y] = q [u, v]: the square case for x, and y is q v.
  const Tensor u = columns(g, r, 0, m), v = columns(g, r, m, n);
  const Tensor du = columns(g, dr, 0, m), dv = columns(g, dr, m, n);
  const Tensor y = matmul(g, q, v);
  const Tensor dx = qr_grad(g, q, u, add(g, dq, matmul(g, y, dv, false, true)), du);
  const std::int64_t axis = dx.rank() - 1;
  g.set_din(0, g.emit(OpId::Concat, {dx, matmul(g, q, dv)}, {axis}));
}

// What the gradient of a matrix with at least as many columns as rows is made of; a taller one is
// transposed, which exchanges u and v.
struct Svd {
  Tensor s, u, v, ds, du, dv;
};

Tensor svd_grad(GradCtx& g, const Svd& d, bool full_matrices) {
  const std::int64_t m = rows_of(d.u.shape()), n = rows_of(d.v.shape());
  const Tensor v1 = columns(g, d.v, 0, m), dv1 = columns(g, d.dv, 0, m);
  const Tensor s2 = square(g, d.s);
  const Tensor f = gaps(g, s2);
  const Tensor fu = mul(g, f, matmul(g, d.u, d.du, true));
  const Tensor fv = mul(g, f, matmul(g, v1, dv1, true));
  const Tensor right = mul(g, add(g, fu, transposed(g, fu)), as_row(g, d.s));
  const Tensor left = mul(g, as_column(g, d.s), add(g, fv, transposed(g, fv)));
  const Tensor core = add(g, on_diagonal(g, d.ds), add(g, right, left));
  const Tensor da = matmul(g, d.u, matmul(g, core, v1, false, true));
  if (m == n) return da;
  // What of dv stands outside of the space of v.
  const Tensor dv1t = transposed(g, dv1);
  Tensor rest = sub(g, dv1t, matmul(g, matmul(g, dv1t, v1), v1, false, true));
  if (full_matrices) {
    const Tensor v2 = columns(g, d.v, m, n), dv2 = columns(g, d.dv, m, n);
    rest = sub(g, rest, matmul(g, matmul(g, v1, dv2, true), v2, false, true));
  }
  const Tensor scaled = mul(g, d.u, as_row(g, safe_reciprocal(g, d.s)));
  return add(g, da, matmul(g, scaled, rest));
}

void grad_svd(GradCtx& g) {
  if (!g.attrs()[attr::Svd::compute_uv].as_bool()) {
    const Tensor in[] = {g.in(0)};
    const auto made = g.emit_all(OpId::Svd, in, {true, false});
    g.set_din(0, matmul(g, mul(g, made[1], as_row(g, g.dout(0))), made[2], false, true));
    return;
  }
  Svd d{g.out(0), g.out(1), g.out(2), g.dout(0), g.dout(1), g.dout(2)};
  const bool full = g.attrs()[attr::Svd::full_matrices].as_bool();
  const std::int64_t m = rows_of(g.in_spec(0).shape), n = columns_of(g.in_spec(0).shape);
  PLIMSOLL_CHECK(!full || std::abs(m - n) <= 1, UnimplementedError,
                 "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True: "
                 "{} by {}",
                 m, n);
  if (m <= n) {
    g.set_din(0, svd_grad(g, d, full));
  } else {
    std::swap(d.u, d.v);
    std::swap(d.du, d.dv);
    g.set_din(0, transposed(g, svd_grad(g, d, full)));
  }
}

// All of the gradient stands in the lower triangle, the only one that is read.
void grad_eigh(GradCtx& g) {
  Tensor v, core = on_diagonal(g, g.dout(0));
  if (g.attrs()[attr::SelfAdjointEig::compute_v].as_bool()) {
    v = g.out(1);
    core = add(g, core, mul(g, gaps(g, g.out(0)), matmul(g, v, g.dout(1), true)));
  } else {
    const Tensor in[] = {g.in(0)};
    v = g.emit_all(OpId::SelfAdjointEig, in, {true})[1];
  }
  const Tensor da = matmul(g, v, matmul(g, core, v, false, true));
  const Tensor both = add(g, da, transposed(g, da));
  g.set_din(0, sub(g, band_part(g, both, -1, 0), mul(g, 0.5, band_part(g, both, 0, 0))));
}

}  // namespace

const OpDef op_Qr{.infer = infer_qr, .grad = grad_qr};
const OpDef op_Svd{.infer = infer_svd, .grad = grad_svd, .fails = Fails::kAlways};
const OpDef op_SelfAdjointEig{.infer = infer_eigh, .grad = grad_eigh, .fails = Fails::kAlways};

}  // namespace plimsoll
