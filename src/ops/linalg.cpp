// Triangles, solutions, inverses and determinants of matrices. Gradients are TensorFlow's: that of
// a symmetric input is symmetric, or stands in the triangle that is read.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/linalg_grad.h"

namespace plimsoll {
namespace {

void infer_square(InferCtx& ctx) {
  check_float(ctx);
  check_square(ctx);
  ctx.out.add(ctx.in[0].dtype, ctx.in[0].shape);
}

void infer_band_part(InferCtx& ctx) {
  check_matrices(ctx);
  using A = attr::MatrixBandPart;
  const Shape& s = ctx.in[0].shape;
  const std::int64_t rows = s.dim(s.rank() - 2), columns = s.dim(s.rank() - 1);
  const std::int64_t lower = ctx.attrs[A::num_lower].as_int();
  const std::int64_t upper = ctx.attrs[A::num_upper].as_int();
  PLIMSOLL_CHECK(lower <= rows, InvalidArgumentError,
                 "num_lower must be negative or less or equal to number of rows ({}) got: {} "
                 "[Op:MatrixBandPart]",
                 rows, lower);
  PLIMSOLL_CHECK(upper <= columns, InvalidArgumentError,
                 "num_upper must be negative or less or equal to number of columns ({}) got: {} "
                 "[Op:MatrixBandPart]",
                 columns, upper);
  ctx.out.add(ctx.in[0].dtype, s);
}

// A matrix and what stands on the right of the equation.
void infer_solve(InferCtx& ctx) {
  check_float(ctx);
  check_square(ctx);
  const TensorSpec &matrix = ctx.in[0], &rhs = ctx.in[1];
  PLIMSOLL_CHECK(
      matrix.dtype == rhs.dtype, InvalidArgumentError,
      "cannot compute {0} as input #1(zero-based) was expected to be a {1} tensor but is a {2} "
      "tensor [Op:{0}]",
      ctx.name(), dtype_word(matrix.dtype), dtype_word(rhs.dtype));
  const int rank = matrix.shape.rank();
  bool fits = rhs.shape.rank() == rank;
  for (int i = 0; fits && i < rank - 1; ++i) fits = matrix.shape.dim(i) == rhs.shape.dim(i);
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "Input matrix and rhs are incompatible: In[0]: {}, In[1]: {} [Op:{}]",
                 matrix.shape.to_string(), rhs.shape.to_string(), ctx.name());
  ctx.out.add(rhs.dtype, rhs.shape);
}

void infer_determinant(InferCtx& ctx) {
  check_float(ctx);
  check_square(ctx);
  const auto dims = ctx.in[0].shape.dims();
  const Shape batch(dims.first(dims.size() - 2));
  ctx.out.add(ctx.in[0].dtype, batch);
  if (ctx.op == OpId::LogMatrixDeterminant) ctx.out.add(ctx.in[0].dtype, batch);
}

// l^-T phi(l^T dl) l^-1, made symmetric; phi keeps the lower triangle and half of the diagonal.
void grad_cholesky(GradCtx& g) {
  const Tensor l = g.out(0);
  const Shape& shape = l.shape();
  const Tensor eye = g.emit(OpId::Eye, {}, {l.dtype(), AttrValue(shape)});
  const Tensor inverse = g.emit(OpId::MatrixTriangularSolve, {l, eye}, {true, false});
  const Tensor product = matmul(g, l, g.dout(0), true);
  const Tensor phi = sub(g, band_part(g, product, -1, 0), mul(g, 0.5, band_part(g, product, 0, 0)));
  const Tensor da = matmul(g, matmul(g, inverse, phi, true), inverse);
  g.set_din(0, mul(g, 0.5, add(g, da, transposed(g, da))));
}

// x = a^-1 b: db = a^-T dx, da = -db x^T; transposed where x = a^-T b.
Tensor solve_grad_to_matrix(GradCtx& g, const Tensor& db, bool adjoint) {
  return neg(g,
             adjoint ? matmul(g, g.out(0), db, false, true) : matmul(g, db, g.out(0), false, true));
}

void grad_solve(GradCtx& g) {
  const bool adjoint = g.attrs()[attr::MatrixSolve::adjoint].as_bool();
  const Tensor db = g.emit(OpId::MatrixSolve, {g.in(0), g.dout(0)}, {!adjoint});
  if (g.needs(0)) g.set_din(0, solve_grad_to_matrix(g, db, adjoint));
  if (g.needs(1)) g.set_din(1, db);
}

void grad_triangular_solve(GradCtx& g) {
  using A = attr::MatrixTriangularSolve;
  const bool lower = g.attrs()[A::lower].as_bool(), adjoint = g.attrs()[A::adjoint].as_bool();
  const Tensor db =
      g.emit(OpId::MatrixTriangularSolve, {g.in(0), g.dout(0)}, {g.attrs()[A::lower], !adjoint});
  if (g.needs(0)) {
    const Tensor da = solve_grad_to_matrix(g, db, adjoint);
    g.set_din(0, lower ? band_part(g, da, -1, 0) : band_part(g, da, 0, -1));
  }
  if (g.needs(1)) g.set_din(1, db);
}

void grad_inverse(GradCtx& g) {
  const Tensor y = g.out(0), dy = g.dout(0);
  const bool adjoint = g.attrs()[attr::MatrixInverse::adjoint].as_bool();
  g.set_din(0, neg(g, adjoint ? matmul(g, y, matmul(g, dy, y, true))
                              : matmul(g, y, matmul(g, dy, y, false, true), true)));
}

// The gradient of log |det a| is a^-T. `scale` is one number for each matrix.
void give_inverse(GradCtx& g, const Tensor& scale) {
  const Tensor inverse = g.emit(OpId::MatrixInverse, {g.in(0)}, {true});
  std::vector<std::int64_t> dims(scale.shape().dims().begin(), scale.shape().dims().end());
  dims.insert(dims.end(), {1, 1});
  g.set_din(0, mul(g, g.emit(OpId::Reshape, {scale}, {AttrValue(Shape(dims))}), inverse));
}

}  // namespace

void check_float(const InferCtx& ctx) {
  const DType dtype = ctx.in[0].dtype;
  PLIMSOLL_CHECK(dtype == DType::kFloat32 || dtype == DType::kFloat64, InvalidArgumentError,
                 "Value for attr 'T' of {} is not in the list of allowed values: double, float "
                 "[Op:{}]",
                 dtype_word(dtype), ctx.name());
}

void check_matrices(const InferCtx& ctx) {
  PLIMSOLL_CHECK(ctx.in[0].shape.rank() >= 2, InvalidArgumentError,
                 "Input tensor 0 must have rank >= 2, got {}: {} [Op:{}]", ctx.in[0].shape.rank(),
                 ctx.in[0].shape.to_string(), ctx.name());
}

void check_square(const InferCtx& ctx) {
  check_matrices(ctx);
  const Shape& s = ctx.in[0].shape;
  PLIMSOLL_CHECK(s.dim(s.rank() - 2) == s.dim(s.rank() - 1), InvalidArgumentError,
                 "Input matrix must be square: {} [Op:{}]", s.to_string(), ctx.name());
}

const OpDef op_MatrixBandPart{
    .infer = infer_band_part,
    .grad = [](GradCtx& g) { g.set_din(0, g.emit(OpId::MatrixBandPart, {g.dout(0)}, g.attrs())); },
    .may_alias = Alias::kIn0,
};
const OpDef op_Cholesky{.infer = infer_square,
                        .grad = grad_cholesky,
                        .may_alias = Alias::kIn0,
                        .fails = Fails::kAlways};
const OpDef op_MatrixTriangularSolve{.infer = infer_solve,
                                     .grad = grad_triangular_solve,
                                     .may_alias = Alias::kIn1,
                                     .fails = Fails::kAlways};
const OpDef op_MatrixSolve{.infer = infer_solve, .grad = grad_solve, .fails = Fails::kAlways};
const OpDef op_MatrixInverse{.infer = infer_square, .grad = grad_inverse, .fails = Fails::kAlways};
const OpDef op_MatrixDeterminant{
    .infer = infer_determinant,
    .grad = [](GradCtx& g) { give_inverse(g, mul(g, g.dout(0), g.out(0))); },
};
const OpDef op_LogMatrixDeterminant{
    .infer = infer_determinant,
    .grad = [](GradCtx& g) { give_inverse(g, g.dout(1)); },
};

}  // namespace plimsoll
