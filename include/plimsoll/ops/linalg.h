// Linear algebra: matrices stand in the last two dimensions, those before them are a batch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/ops/matmul.h"
#include "plimsoll/ops/norm.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// Sums products over pairs of axes: the last `axes` of a with the first of b, or the lists.
Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t axes);
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& a_axes, const Axes& b_axes);

// "ij,jk->ik": any number of operands, repeated and summed labels, diagonals ("ii->i", "i->ii"),
// "..." for dimensions that broadcast, and without "->" the labels that stand once, in order.
// Operands are contracted in pairs by matmul, those first that leave the least.
// throws: InvalidArgumentError that repeats the equation.
Tensor einsum(std::string_view equation, std::span<const Tensor> inputs);
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> inputs) {
  return einsum(equation, std::span(inputs.begin(), inputs.size()));
}

// A number (1, 2, infinity, and for vectors any that is positive), "euclidean" or "fro".
class NormOrd {
 public:
  NormOrd(const char* name) : name_(name) {}
  NormOrd(std::string_view name) : name_(name) {}
  NormOrd(double p) : p_(p) {}
  const std::string& name() const noexcept { return name_; }  // empty: a number
  double p() const noexcept { return p_; }

 private:
  std::string name_;
  double p_ = 2;
};
// Of vectors along one axis, of matrices along two, or of all elements (no axis).
Tensor norm(const Tensor& tensor, const NormOrd& ord = "euclidean", const Axes& axis = {},
            bool keepdims = false);

namespace linalg {

using plimsoll::einsum;
using plimsoll::norm;
using plimsoll::tensordot;
using plimsoll::math::l2_normalize;

Tensor matrix_transpose(const Tensor& a);
// Zeros but for so many diagonals below and above the main one; negative: all of them.
Tensor band_part(const Tensor& input, std::int64_t num_lower, std::int64_t num_upper);
// Vectors as the k-th diagonals of matrices (above the main one if positive), which are as small as
// can be unless their size is given; and back.
Tensor diag(const Tensor& diagonal, std::int64_t k = 0, std::int64_t num_rows = -1,
            std::int64_t num_cols = -1);
Tensor diag_part(const Tensor& input, std::int64_t k = 0);
Tensor set_diag(const Tensor& input, const Tensor& diagonal, std::int64_t k = 0);
Tensor trace(const Tensor& x);

// What follows takes float32 and float64.

// The lower triangular l with l l^T = input, of which the lower triangle is read.
// throws: InvalidArgumentError if it is not positive definite.
Tensor cholesky(const Tensor& input);
// x with matrix x = rhs, by the Cholesky factor of the matrix.
Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs);
// x with matrix x = rhs (adjoint: matrix^T x = rhs); batches of the triangular one broadcast.
// throws: InvalidArgumentError if the matrix is not invertible.
Tensor triangular_solve(const Tensor& matrix, const Tensor& rhs, bool lower = true,
                        bool adjoint = false);
Tensor solve(const Tensor& matrix, const Tensor& rhs, bool adjoint = false);
Tensor inv(const Tensor& input, bool adjoint = false);

Tensor det(const Tensor& input);
Tensor logdet(const Tensor& matrix);  // of positive definite matrices
struct SLogDet {
  Tensor sign;
  Tensor log_abs_determinant;
};
SLogDet slogdet(const Tensor& input);

struct Qr {
  Tensor q, r;
};
// Gradients: not with full matrices where there are more rows than columns.
Qr qr(const Tensor& input, bool full_matrices = false);

struct Svd {
  Tensor s, u, v;  // tensor = u diag(s) v^T; u and v are empty unless computed
};
// Gradients: with full matrices only where rows and columns differ by one at most.
Svd svd(const Tensor& tensor, bool full_matrices = false, bool compute_uv = true);

struct Eigh {
  Tensor eigenvalues;   // ascending
  Tensor eigenvectors;  // in columns
};
// Of symmetric matrices; the lower triangle is read.
Eigh eigh(const Tensor& tensor);
Tensor eigvalsh(const Tensor& tensor);

}  // namespace linalg
}  // namespace plimsoll
