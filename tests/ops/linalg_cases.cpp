#include <cmath>

#include "ops/matrices.h"

namespace plimsoll::testing_ops {
namespace {

Matrix cholesky(const Matrix& a) {
  Matrix l{a.rows, a.rows};
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = a.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= l.at(i, k) * l.at(j, k);
      l.at(i, j) = i == j ? std::sqrt(sum) : sum / l.at(j, j);
    }
  }
  return l;
}

// Solves a x = b by elimination, in place; returns the determinant of a.
double eliminate(Matrix a, Matrix& b) {
  double det = 1;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k; i < a.rows; ++i) {
      if (std::abs(a.at(i, k)) > std::abs(a.at(best, k))) best = i;
    }
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a.at(k, j), a.at(best, j));
    for (std::int64_t j = 0; j < b.columns; ++j) std::swap(b.at(k, j), b.at(best, j));
    det *= best == k ? a.at(k, k) : -a.at(k, k);
    if (a.at(k, k) == 0) return 0;
    for (std::int64_t i = 0; i < a.rows; ++i) {
      if (i == k) continue;
      const double factor = a.at(i, k) / a.at(k, k);
      for (std::int64_t j = 0; j < a.columns; ++j) a.at(i, j) -= factor * a.at(k, j);
      for (std::int64_t j = 0; j < b.columns; ++j) b.at(i, j) -= factor * b.at(k, j);
    }
  }
  for (std::int64_t i = 0; i < b.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j) b.at(i, j) /= a.at(i, i);
  return det;
}

std::vector<HostTensor> ref_band_part(const RefCall& c) {
  const std::int64_t lower = c.attrs[0].as_int(), upper = c.attrs[1].as_int();
  auto all = matrices_of(c.in[0]);
  for (Matrix& m : all)
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.columns; ++j)
        if ((lower >= 0 && i - j > lower) || (upper >= 0 && j - i > upper)) m.at(i, j) = 0;
  return {tensor_of(c.in[0].shape, all)};
}

std::vector<HostTensor> ref_cholesky(const RefCall& c) {
  auto all = matrices_of(c.in[0]);
  for (Matrix& m : all) m = cholesky(m);
  return {tensor_of(c.in[0].shape, all)};
}

std::vector<HostTensor> solved(const RefCall& c, const std::function<Matrix(const Matrix&)>& as) {
  const auto a = matrices_of(c.in[0]);
  auto b = matrices_of(c.in[1]);
  for (std::size_t i = 0; i < b.size(); ++i) eliminate(as(a[i]), b[i]);
  return {tensor_of(c.in[1].shape, b)};
}
std::vector<HostTensor> ref_solve(const RefCall& c) {
  return solved(c, [&](const Matrix& a) { return c.attrs[0].as_bool() ? transposed(a) : a; });
}
std::vector<HostTensor> ref_triangular_solve(const RefCall& c) {
  return solved(c, [&](Matrix a) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.columns; ++j)
        if (c.attrs[0].as_bool() ? j > i : j < i) a.at(i, j) = 0;
    return c.attrs[1].as_bool() ? transposed(a) : a;
  });
}
std::vector<HostTensor> ref_inverse(const RefCall& c) {
  auto all = matrices_of(c.in[0]);
  for (Matrix& m : all) {
    Matrix made = identity(m.rows);
    eliminate(c.attrs[0].as_bool() ? transposed(m) : m, made);
    m = made;
  }
  return {tensor_of(c.in[0].shape, all)};
}

std::vector<HostTensor> ref_determinant(const RefCall& c) {
  HostTensor out{batch_shape(c.in[0].shape, 2, {}), {}};
  for (const Matrix& m : matrices_of(c.in[0])) {
    Matrix nothing{m.rows, 0};
    out.values.push_back(eliminate(m, nothing));
  }
  return {out};
}
std::vector<HostTensor> ref_log_determinant(const RefCall& c) {
  HostTensor sign = ref_determinant(c)[0], log = sign;
  for (double& v : sign.values) v = v > 0 ? 1 : v < 0 ? -1 : 0;
  for (double& v : log.values) v = std::log(std::abs(v));
  return {sign, log};
}

}  // namespace

std::vector<OpCase> linalg_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](OpId op, std::string name, std::vector<Input> in, Attrs attrs,
                       std::vector<HostTensor> (*ref)(const RefCall&), double tolerance = 8) {
    cases.push_back({.name = std::move(name),
                     .op = op,
                     .in = std::move(in),
                     .attrs = attrs,
                     .ref = ref,
                     .dtypes = kWideTypes,
                     .tolerance = tolerance});
  };
  const auto band = [&](const char* name, const Shape& shape, int lower, int upper) {
    add(OpId::MatrixBandPart, name, {{shape, -20, 20}}, {lower, upper}, ref_band_part);
    cases.back().dtypes = kNumberTypes;
  };
  band("lower_triangle", {4, 4}, -1, 0);
  band("upper_triangle", {2, 3, 5}, 0, -1);
  band("band", {3, 6, 5}, 2, 1);
  band("diagonal", {5, 3}, 0, 0);
  band("everything", {3, 4}, -1, -1);
  band("tall", {2, 70, 3}, 1, 0);
  band("no_matrices", {0, 3, 3}, 0, 0);

  // Matrices whose diagonal outweighs the rest are far from singular.
  const auto matrix = [](const Shape& shape, double diagonal) {
    return Input{.shape = shape, .lo = -1, .hi = 1, .diagonal = diagonal};
  };
  const auto symmetric = [](const Shape& shape, double diagonal) {
    return Input{.shape = shape, .lo = -1, .hi = 1, .diagonal = diagonal, .is_symmetric = true};
  };
  add(OpId::Cholesky, "small", {symmetric({3, 3}, 4)}, {}, ref_cholesky);
  add(OpId::Cholesky, "batch", {symmetric({2, 3, 5, 5}, 6)}, {}, ref_cholesky);
  add(OpId::Cholesky, "blocks", {symmetric({130, 130}, 140)}, {}, ref_cholesky, 32);
  add(OpId::Cholesky, "many", {symmetric({70, 9, 9}, 10)}, {}, ref_cholesky);
  add(OpId::Cholesky, "one_by_one", {symmetric({2, 1, 1}, 3)}, {}, ref_cholesky);
  add(OpId::Cholesky, "no_rows", {symmetric({2, 0, 0}, 1)}, {}, ref_cholesky);
  add(OpId::Cholesky, "no_matrices", {symmetric({0, 3, 3}, 4)}, {}, ref_cholesky);

  for (const bool adjoint : {false, true}) {
    const std::string suffix = adjoint ? "_adjoint" : "";
    for (const bool lower : {true, false}) {
      const auto solve = [&](const char* name, const Shape& a, const Shape& b, double diagonal) {
        add(OpId::MatrixTriangularSolve, name + std::string(lower ? "_lower" : "_upper") + suffix,
            {matrix(a, diagonal), {b, -1, 1}}, {lower, adjoint}, ref_triangular_solve, 16);
      };
      solve("small", {3, 3}, {3, 2}, 3);
      solve("batch", {2, 3, 4, 4}, {2, 3, 4, 5}, 4);
      solve("blocks", {90, 90}, {90, 33}, 60);
      solve("no_right_side", {3, 3}, {3, 0}, 3);
    }
    const auto solve = [&](const char* name, const Shape& a, const Shape& b, double diagonal) {
      add(OpId::MatrixSolve, name + suffix, {matrix(a, diagonal), {b, -1, 1}}, {adjoint}, ref_solve,
          16);
    };
    solve("small", {3, 3}, {3, 2}, 3);
    solve("batch", {2, 3, 4, 4}, {2, 3, 4, 5}, 4);
    solve("blocks", {90, 90}, {90, 33}, 60);
    solve("many", {60, 8, 8}, {60, 8, 1}, 8);
    solve("no_right_side", {3, 3}, {3, 0}, 3);
    solve("no_rows", {2, 0, 0}, {2, 0, 3}, 0);
    const auto inverse = [&](const char* name, const Shape& a, double diagonal) {
      add(OpId::MatrixInverse, name + suffix, {matrix(a, diagonal)}, {adjoint}, ref_inverse, 16);
    };
    inverse("small", {3, 3}, 3);
    inverse("batch", {2, 3, 4, 4}, 4);
    inverse("blocks", {90, 90}, 60);
    inverse("no_rows", {2, 0, 0}, 0);
  }
  const auto both_determinants = [&](const char* name, const Shape& a, double diagonal) {
    add(OpId::MatrixDeterminant, name, {matrix(a, diagonal)}, {}, ref_determinant, 16);
    add(OpId::LogMatrixDeterminant, name, {matrix(a, diagonal)}, {}, ref_log_determinant, 16);
  };
  both_determinants("small", {3, 3}, 1.5);
  both_determinants("batch", {2, 3, 4, 4}, -2);
  both_determinants("many", {60, 8, 8}, 3);
  both_determinants("large", {40, 40}, 8);
  both_determinants("no_rows", {2, 0, 0}, 0);
  return cases;
}

}  // namespace plimsoll::testing_ops
