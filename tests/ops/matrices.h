// What the cases of matrices share: batches of them in double.
#pragma once

#include <functional>
#include <vector>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {

// One matrix, row by row.
struct Matrix {
  std::int64_t rows, columns;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(rows * columns));

  double& at(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  double at(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

inline Matrix transposed(const Matrix& a) {
  Matrix t{a.columns, a.rows};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

inline Matrix identity(std::int64_t n) {
  Matrix eye{n, n};
  for (std::int64_t i = 0; i < n; ++i) eye.at(i, i) = 1;
  return eye;
}

// The matrices of a tensor; vectors are matrices of one row where `rank` is 1.
inline std::vector<Matrix> matrices_of(const HostTensor& t, int rank = 2) {
  const std::int64_t columns = t.shape.dim(t.shape.rank() - 1);
  const std::int64_t rows = rank == 2 ? t.shape.dim(t.shape.rank() - 2) : 1;
  std::int64_t count = 1;
  for (int i = 0; i < t.shape.rank() - rank; ++i) count *= t.shape.dim(i);
  std::vector<Matrix> made;
  for (std::int64_t k = 0; k < count; ++k) {
    Matrix m{rows, columns};
    std::copy_n(t.values.begin() + k * rows * columns, rows * columns, m.values.begin());
    made.push_back(std::move(m));
  }
  return made;
}

// A tensor of `shape` out of the values of all matrices.
inline HostTensor tensor_of(const Shape& shape, const std::vector<Matrix>& matrices) {
  HostTensor t{shape, {}};
  for (const Matrix& m : matrices)
    t.values.insert(t.values.end(), m.values.begin(), m.values.end());
  return t;
}

// The batch of `s`, whose last dimensions are replaced.
inline Shape batch_shape(const Shape& s, int dropped, std::initializer_list<std::int64_t> last) {
  std::vector<std::int64_t> dims(s.dims().begin(), s.dims().end() - dropped);
  dims.insert(dims.end(), last.begin(), last.end());
  return Shape(dims);
}

inline const std::vector<DType> kWideTypes = {DType::kFloat32, DType::kFloat64};

}  // namespace plimsoll::testing_ops
