#include "plimsoll/ops/linalg.h"

#include <cmath>

#include "base/check.h"
#include "plimsoll/ops/create.h"
#include "plimsoll/ops/elementwise.h"
#include "plimsoll/ops/shape.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

using Dims = std::vector<std::int64_t>;

void check_rank(const Tensor& t, int least, const char* what) {
  PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError, "{} got an empty Tensor", what);
  PLIMSOLL_CHECK(t.rank() >= least, InvalidArgumentError,
                 "{} needs a tensor of rank {} or more, got shape {}", what, least,
                 t.shape().to_string());
}

// The leading dimensions with these behind them.
Dims with_last(const Shape& s, int dropped, std::initializer_list<std::int64_t> last) {
  Dims dims(s.dims().begin(), s.dims().end() - dropped);
  dims.insert(dims.end(), last.begin(), last.end());
  return dims;
}

// Where the k-th diagonal of a matrix stands among its elements, row by row.
struct Diagonal {
  std::int64_t begin, stride, size;
};
Diagonal find_diagonal(std::int64_t rows, std::int64_t columns, std::int64_t k, const char* what) {
  PLIMSOLL_CHECK((k > -rows && k < columns) || k == 0, InvalidArgumentError,
                 "{}: diagonal {} is out of bound: it must be between {} and {}", what, k, -rows,
                 columns);
  return {k >= 0 ? k : -k * columns, columns + 1,
          k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns)};
}

// Attributes of a slice along the last of `rank` dimensions, each beginning with 0, or 1.
AttrValue on_last(int rank, std::int64_t others, std::int64_t last) {
  Dims dims(static_cast<std::size_t>(rank), others);
  dims.back() = last;
  return AttrValue(std::span<const std::int64_t>(dims));
}

Tensor p_norm(const Tensor& tensor, double p, const Axes& axis) {
  const Tensor size = abs(tensor);
  const bool is_matrix = axis.size() == 2;
  const Axes first = axis.empty() ? axis : Axes{axis.front()};
  if (p == 1) {
    const Tensor sums = reduce_sum(size, first, true);
    return is_matrix ? reduce_max(sums, {axis[1]}, true) : sums;
  }
  if (std::isinf(p))
    return reduce_max(is_matrix ? reduce_sum(size, {axis[1]}, true) : size, first, true);
  const auto number = [&](double value) { return fill(Shape(), value, tensor.dtype()); };
  return pow(reduce_sum(pow(size, number(p)), axis, true), number(1 / p));
}

// The largest singular value of the matrices along two axes, with both kept as 1.
Tensor spectral_norm(const Tensor& tensor, const Axes& axis) {
  Dims perm;
  for (int i = 0; i < tensor.rank(); ++i) {
    if (i != axis[0] && i != axis[1]) perm.push_back(i);
  }
  perm.insert(perm.end(), axis.begin(), axis.end());
  const Tensor s = linalg::svd(transpose(tensor, perm), false, false).s;
  Dims dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  for (const std::int64_t i : axis) dims[static_cast<std::size_t>(i)] = 1;
  return reshape(reduce_max(s, {-1}), dims);
}

Axes norm_axes(const Tensor& tensor, const Axes& axis) {
  PLIMSOLL_CHECK(
      axis.size() <= 2, InvalidArgumentError,
      "'axis' must be None, an integer, or a tuple of 2 unique integers, got {}",
      AttrValue(std::span(axis).first(std::min<std::size_t>(axis.size(), 16))).to_string());
  Axes made;
  for (const std::int64_t i : axis) made.push_back(normalize_axis(i, tensor.rank(), "norm"));
  PLIMSOLL_CHECK(made.size() < 2 || made[0] != made[1], InvalidArgumentError,
                 "'axis' must be None, an integer, or a tuple of 2 unique integers, got [{},{}]",
                 axis[0], axis[1]);
  return made;
}

}  // namespace

Tensor norm(const Tensor& tensor, const NormOrd& ord, const Axes& axis, bool keepdims) {
  check_rank(tensor, 0, "norm");
  const Axes axes = norm_axes(tensor, axis);
  const bool is_named = !ord.name().empty(), is_matrix = axes.size() == 2;
  PLIMSOLL_CHECK(!is_named || ord.name() == "euclidean" || ord.name() == "fro",
                 InvalidArgumentError,
                 "'ord' must be a supported vector norm: 'euclidean', 'fro' or a positive number, "
                 "got '{}'",
                 ord.name());
  PLIMSOLL_CHECK(ord.name() != "fro" || is_matrix || axes.empty(), InvalidArgumentError,
                 "'ord' must be a supported vector norm in ['euclidean', 1, 2, inf], got 'fro'");
  PLIMSOLL_CHECK(is_named || ord.p() > 0, InvalidArgumentError,
                 "'ord' must be a supported vector norm: a positive number, got {}", ord.p());
  PLIMSOLL_CHECK(is_named || !is_matrix || ord.p() == 1 || ord.p() == 2 || std::isinf(ord.p()),
                 InvalidArgumentError,
                 "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {}",
                 ord.p());
  Tensor made;
  if (!is_named && ord.p() == 2 && is_matrix) {
    made = spectral_norm(tensor, axes);
  } else if (is_named || ord.p() == 2) {
    made = sqrt(reduce_sum(square(tensor), axes, true));
  } else {
    made = p_norm(tensor, ord.p(), axes);
  }
  if (keepdims) return made;
  return axes.empty() ? reshape(made, {}) : squeeze(made, axes);
}

namespace linalg {

Tensor matrix_transpose(const Tensor& a) {
  check_rank(a, 2, "matrix_transpose");
  Dims perm;
  for (int i = 0; i < a.rank(); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 2], perm.back());
  return transpose(a, perm);
}

Tensor band_part(const Tensor& input, std::int64_t num_lower, std::int64_t num_upper) {
  return call(OpId::MatrixBandPart, {input}, {num_lower, num_upper});
}

// The k-th diagonal is a slice of the elements of a matrix, row by row.
Tensor diag_part(const Tensor& input, std::int64_t k) {
  check_rank(input, 2, "diag_part");
  const int rank = input.rank();
  const std::int64_t rows = input.shape()[rank - 2], columns = input.shape()[rank - 1];
  const Diagonal d = find_diagonal(rows, columns, k, "diag_part");
  const Tensor flat = reshape(input, with_last(input.shape(), 2, {rows * columns}));
  const Dims size = with_last(input.shape(), 2, {d.size});
  return call(OpId::StridedSlice, {flat},
              {on_last(rank - 1, 0, d.size ? d.begin : 0),
               AttrValue(std::span<const std::int64_t>(size)), on_last(rank - 1, 1, d.stride)});
}

Tensor diag(const Tensor& diagonal, std::int64_t k, std::int64_t num_rows, std::int64_t num_cols) {
  check_rank(diagonal, 1, "diag");
  const int rank = diagonal.rank();
  const std::int64_t length = diagonal.shape()[rank - 1];
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  PLIMSOLL_CHECK(k > -kMost && k < kMost && num_rows < kMost && num_cols < kMost,
                 InvalidArgumentError, "diag: k {}, {} rows and {} columns are too many", k,
                 num_rows, num_cols);
  const std::int64_t least_rows = length - std::min<std::int64_t>(k, 0);
  const std::int64_t least_columns = length + std::max<std::int64_t>(k, 0);
  // Square if neither is given; else what is not given is as small as can be.
  const bool is_free = num_rows == -1 && num_cols == -1;
  const std::int64_t square = std::max(least_rows, least_columns);
  const std::int64_t rows = num_rows != -1 ? num_rows : is_free ? square : least_rows;
  const std::int64_t columns = num_cols != -1 ? num_cols : is_free ? square : least_columns;
  PLIMSOLL_CHECK(rows >= least_rows && columns >= least_columns &&
                     (rows == least_rows || columns == least_columns),
                 InvalidArgumentError,
                 "diag: a diagonal of {} elements at {} is none of a matrix of {} rows and {} "
                 "columns",
                 length, k, rows, columns);
  const Dims flat = with_last(diagonal.shape(), 1, {rows * columns});
  const std::int64_t begin = length == 0 ? 0 : k >= 0 ? k : -k * columns;
  const Tensor placed = call(OpId::StridedSliceGrad, {diagonal},
                             {AttrValue(std::span<const std::int64_t>(flat)),
                              on_last(rank, 0, begin), on_last(rank, 1, columns + 1)});
  return reshape(placed, with_last(diagonal.shape(), 1, {rows, columns}));
}

Tensor set_diag(const Tensor& input, const Tensor& diagonal, std::int64_t k) {
  check_rank(input, 2, "set_diag");
  check_rank(diagonal, 1, "set_diag");
  const Shape& s = input.shape();
  const std::int64_t rows = s[s.rank() - 2], columns = s[s.rank() - 1];
  const Diagonal d = find_diagonal(rows, columns, k, "set_diag");
  const Dims wanted = with_last(s, 2, {d.size});
  PLIMSOLL_CHECK(diagonal.shape() == Shape(wanted), InvalidArgumentError,
                 "set_diag: diagonal {} of a tensor of shape {} has shape {}, got {}", k,
                 s.to_string(), Shape(wanted).to_string(), diagonal.shape().to_string());
  const Tensor here = diag(ones({d.size}, bool_), k, rows, columns);
  return where(here, diag(diagonal, k, rows, columns), input);
}

Tensor trace(const Tensor& x) {
  return reduce_sum(diag_part(x), {-1});
}

Tensor cholesky(const Tensor& input) {
  return call(OpId::Cholesky, {input});
}

Tensor cholesky_solve(const Tensor& chol, const Tensor& rhs) {
  return triangular_solve(chol, triangular_solve(chol, rhs), true, true);
}

Tensor triangular_solve(const Tensor& matrix, const Tensor& rhs, bool lower, bool adjoint) {
  check_rank(matrix, 2, "triangular_solve");
  check_rank(rhs, 2, "triangular_solve");
  const auto batch = [](const Tensor& t) { return Shape(with_last(t.shape(), 2, {})); };
  const Shape both = broadcast_shapes(batch(matrix), batch(rhs), "MatrixTriangularSolve");
  const auto spread = [&](const Tensor& t) {
    if (batch(t) == both) return t;
    Dims dims(both.dims().begin(), both.dims().end());
    dims.insert(dims.end(), t.shape().dims().end() - 2, t.shape().dims().end());
    return broadcast_to(t, Shape(dims));
  };
  return call(OpId::MatrixTriangularSolve, {spread(matrix), spread(rhs)}, {lower, adjoint});
}

Tensor solve(const Tensor& matrix, const Tensor& rhs, bool adjoint) {
  return call(OpId::MatrixSolve, {matrix, rhs}, {adjoint});
}

Tensor inv(const Tensor& input, bool adjoint) {
  return call(OpId::MatrixInverse, {input}, {adjoint});
}

Tensor det(const Tensor& input) {
  return call(OpId::MatrixDeterminant, {input});
}

Tensor logdet(const Tensor& matrix) {
  return reduce_sum(math::log(diag_part(cholesky(matrix))), {-1}) * 2.0;
}

SLogDet slogdet(const Tensor& input) {
  const auto made = call_all(OpId::LogMatrixDeterminant, {&input, 1});
  return {made[0], made[1]};
}

Qr qr(const Tensor& input, bool full_matrices) {
  const auto made = call_all(OpId::Qr, {&input, 1}, {full_matrices});
  return {made[0], made[1]};
}

Svd svd(const Tensor& tensor, bool full_matrices, bool compute_uv) {
  const auto made = call_all(OpId::Svd, {&tensor, 1}, {compute_uv, full_matrices});
  if (!compute_uv) return {made[0], {}, {}};
  return {made[0], made[1], made[2]};
}

Eigh eigh(const Tensor& tensor) {
  const auto made = call_all(OpId::SelfAdjointEig, {&tensor, 1}, {true});
  return {made[0], made[1]};
}

Tensor eigvalsh(const Tensor& tensor) {
  return call_all(OpId::SelfAdjointEig, {&tensor, 1}, {false})[0];
}

}  // namespace linalg
}  // namespace plimsoll
