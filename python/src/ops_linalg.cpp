// Products of matrices, and what solves, factors and measures them.
#include <fmt/format.h>

#include "op_table.h"

namespace plimsoll::python {
namespace {

nb::object tensordot_op(nb::handle a, nb::handle b, nb::handle axes) {
  Tensor kept;
  const Tensor x = to_tensor(a);
  const Tensor y = to_tensor(b, x.dtype());
  if (PyIndex_Check(axes.ptr())) return to_python(tensordot(x, y, to_int(axes, "axes")));
  if (nb::len(axes) != 2)
    raise_value_error(
        fmt::format("'axes' must be an integer or have length 2, got {}", repr_of(axes)));
  return to_python(tensordot(x, y, to_ints(axes[0], "axes"), to_ints(axes[1], "axes")));
}

Tensor multiply_matrices(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b,
                         bool adjoint_a, bool adjoint_b) {
  return matmul(a, b,
                {.transpose_a = transpose_a || adjoint_a, .transpose_b = transpose_b || adjoint_b});
}

// A number of diagonals, or (k, k) for the one.
std::int64_t diagonal(const std::vector<std::int64_t>& k) {
  if (k.size() == 1 || (k.size() == 2 && k[0] == k[1])) return k[0];
  throw UnimplementedError("bands of several diagonals are not built; k is one number");
}

std::array<Tensor, 2> qr_op(const Tensor& input, bool full_matrices) {
  const linalg::Qr made = linalg::qr(input, full_matrices);
  return {made.q, made.r};
}
std::array<Tensor, 2> eigh_op(const Tensor& tensor) {
  const linalg::Eigh made = linalg::eigh(tensor);
  return {made.eigenvalues, made.eigenvectors};
}
std::array<Tensor, 2> slogdet_op(const Tensor& input) {
  const linalg::SLogDet made = linalg::slogdet(input);
  return {made.sign, made.log_abs_determinant};
}
nb::object svd_op(nb::handle tensor, nb::handle full_matrices, nb::handle compute_uv) {
  const Tensor from = to_tensor(tensor);
  const bool full = to_bool(full_matrices, "full_matrices");
  const bool both = to_bool(compute_uv, "compute_uv");
  const linalg::Svd made =
      without_gil(from.num_elements(), [&] { return linalg::svd(from, full, both); });
  if (!both) return to_python(made.s);
  return nb::make_tuple(to_python(made.s), to_python(made.u), to_python(made.v));
}

}  // namespace

std::vector<OpRow> linalg_ops() {
  return {
      op("matmul linalg.matmul",
         "a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, "
         "!a_is_sparse=False, !b_is_sparse=False, !output_type=None, !grad_a=False, !grad_b=False",
         multiply_matrices, "The product of matrices, in the last two dimensions."),
      op("linalg.matvec",
         "a, b, transpose_a=False, !adjoint_a=False, !a_is_sparse=False, !b_is_sparse=False",
         linalg::matvec),
      op("tensordot linalg.tensordot", "a, b, axes", tensordot_op),
      op("norm linalg.norm", "tensor, ord='euclidean', axis=None, keepdims=None", norm),
      op("linalg.matrix_transpose", "a, name=None, conjugate=False",
         [](const Tensor& a, bool) { return linalg::matrix_transpose(a); }),
      op("linalg.adjoint", "matrix", linalg::matrix_transpose),
      op("linalg.tensor_diag", "diagonal",
         [](const Tensor& values) { return linalg::diag(values); }),
      op("linalg.band_part", "input, num_lower, num_upper", linalg::band_part),
      op("linalg.diag",
         "diagonal, name=None, k=0, num_rows=-1, num_cols=-1, !padding_value=0, "
         "!align='RIGHT_LEFT'",
         [](const Tensor& values, const std::vector<std::int64_t>& k, std::int64_t rows,
            std::int64_t cols) { return linalg::diag(values, diagonal(k), rows, cols); }),
      op("linalg.diag_part", "input, name=None, k=0, !padding_value=0, !align='RIGHT_LEFT'",
         [](const Tensor& input, const std::vector<std::int64_t>& k) {
           return linalg::diag_part(input, diagonal(k));
         }),
      op("linalg.tensor_diag_part", "input",
         [](const Tensor& input) { return linalg::diag_part(input); }),
      op("linalg.set_diag", "input, diagonal, name=None, k=0, !align='RIGHT_LEFT'",
         [](const Tensor& input, const Tensor& values, const std::vector<std::int64_t>& k) {
           return linalg::set_diag(input, values, diagonal(k));
         }),
      op("linalg.trace", "x", linalg::trace),
      op("linalg.cholesky", "input", linalg::cholesky),
      op("linalg.cholesky_solve", "chol, rhs", linalg::cholesky_solve),
      op("linalg.triangular_solve", "matrix, rhs, lower=True, adjoint=False",
         linalg::triangular_solve),
      op("linalg.solve", "matrix, rhs, adjoint=False", linalg::solve),
      op("linalg.inv", "input, adjoint=False", linalg::inv),
      op("linalg.det", "input", linalg::det),
      op("linalg.logdet", "matrix", linalg::logdet),
      op("linalg.slogdet", "input", slogdet_op),
      op("linalg.qr", "input, full_matrices=False", qr_op),
      op("linalg.svd", "tensor, full_matrices=False, compute_uv=True", svd_op),
      op("linalg.eigh", "tensor", eigh_op),
      op("linalg.eigvalsh", "tensor", linalg::eigvalsh),
      op("linalg.einsum_of_list", "equation, inputs",
         static_cast<Tensor (*)(std::string_view, std::span<const Tensor>)>(einsum)),
      op("meshgrid_of_list", "args, indexing='xy'",
         static_cast<std::vector<Tensor> (*)(std::span<const Tensor>, std::string_view)>(meshgrid)),
  };
}

}  // namespace plimsoll::python
