#include <algorithm>
#include <cmath>

#include "ops/matrices.h"

namespace plimsoll::testing_ops {
namespace {

// Singular values, the largest first: columns are turned in pairs until all are orthogonal.
std::vector<double> singular_values(Matrix a) {
  if (a.columns > a.rows) a = transposed(a);
  for (int sweep = 0; sweep < 40; ++sweep) {
    for (std::int64_t p = 0; p < a.columns; ++p) {
      for (std::int64_t q = p + 1; q < a.columns; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (std::int64_t i = 0; i < a.rows; ++i) {
          pp += a.at(i, p) * a.at(i, p);
          qq += a.at(i, q) * a.at(i, q);
          pq += a.at(i, p) * a.at(i, q);
        }
        const double angle = 0.5 * std::atan2(2 * pq, pp - qq);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::int64_t i = 0; i < a.rows; ++i) {
          const double x = a.at(i, p), y = a.at(i, q);
          a.at(i, p) = c * x + s * y;
          a.at(i, q) = c * y - s * x;
        }
      }
    }
  }
  std::vector<double> s;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += a.at(i, j) * a.at(i, j);
    s.push_back(std::sqrt(sum));
  }
  std::sort(s.rbegin(), s.rend());
  return s;
}

// Of a symmetric matrix, the smallest first: singular values of one that is moved to be positive.
std::vector<double> eigenvalues(Matrix a) {
  const double shift = 4 * static_cast<double>(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) a.at(i, i) += shift;
  std::vector<double> e = singular_values(a);
  for (double& v : e) v -= shift;
  std::reverse(e.begin(), e.end());
  return e;
}

HostTensor vectors(const HostTensor& in, std::vector<double> (*values)(Matrix)) {
  const std::int64_t k =
      std::min(in.shape.dim(in.shape.rank() - 2), in.shape.dim(in.shape.rank() - 1));
  HostTensor out{batch_shape(in.shape, 2, {k}), {}};
  for (const Matrix& m : matrices_of(in)) {
    const auto of_one = values(m);
    out.values.insert(out.values.end(), of_one.begin(), of_one.end());
  }
  return out;
}

// Signs, and the vectors of equal values, are free: what is compared is that the factors are
// orthogonal and that their product is the matrix.
HostTensor squared(const HostTensor& q) {  // q^T q
  auto all = matrices_of(q);
  for (Matrix& m : all) m = product(transposed(m), m);
  const std::int64_t n = q.shape.dim(q.shape.rank() - 1);
  return tensor_of(batch_shape(q.shape, 2, {n, n}), all);
}
HostTensor eyes(const Shape& batch_of, std::int64_t n) {
  std::int64_t count = 1;
  for (int i = 0; i < batch_of.rank() - 2; ++i) count *= batch_of.dim(i);
  return tensor_of(batch_shape(batch_of, 2, {n, n}),
                   std::vector<Matrix>(static_cast<std::size_t>(count), identity(n)));
}
// u diag(s) v^T, with as many columns of u and v as there are in s.
HostTensor joined(const HostTensor& u, const HostTensor& s, const HostTensor& v) {
  const auto us = matrices_of(u), ss = matrices_of(s, 1), vs = matrices_of(v);
  std::vector<Matrix> all;
  for (std::size_t k = 0; k < us.size(); ++k) {
    Matrix m{us[k].rows, vs[k].rows};
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.columns; ++j)
        for (std::int64_t p = 0; p < ss[k].columns; ++p)
          m.at(i, j) += us[k].at(i, p) * ss[k].at(0, p) * vs[k].at(j, p);
    all.push_back(std::move(m));
  }
  const std::int64_t rows = u.shape.dim(u.shape.rank() - 2);
  return tensor_of(batch_shape(u.shape, 2, {rows, v.shape.dim(v.shape.rank() - 2)}), all);
}

std::vector<HostTensor> seen_of_qr(const std::vector<HostTensor>& out) {
  const auto qs = matrices_of(out[0]), rs = matrices_of(out[1]);
  std::vector<Matrix> products, below;  // what stands below the diagonal of r
  for (std::size_t k = 0; k < qs.size(); ++k) {
    products.push_back(product(qs[k], rs[k]));
    below.push_back(rs[k]);
    for (std::int64_t i = 0; i < rs[k].rows; ++i)
      for (std::int64_t j = i; j < rs[k].columns; ++j) below.back().at(i, j) = 0;
  }
  const Shape& q = out[0].shape;
  const std::int64_t m = q.dim(q.rank() - 2), n = out[1].shape.dim(q.rank() - 1);
  return {tensor_of(batch_shape(q, 2, {m, n}), products), squared(out[0]),
          tensor_of(out[1].shape, below)};
}
std::vector<HostTensor> ref_qr(const RefCall& c) {
  const Shape& s = c.in[0].shape;
  const std::int64_t m = s.dim(s.rank() - 2), n = s.dim(s.rank() - 1);
  const std::int64_t k = c.attrs[0].as_bool() ? m : std::min(m, n);
  HostTensor zeros{batch_shape(s, 2, {k, n}), {}};
  zeros.values.resize(static_cast<std::size_t>(zeros.shape.num_elements()));
  return {c.in[0], eyes(s, k), zeros};
}

std::vector<HostTensor> seen_of_svd(const std::vector<HostTensor>& out) {
  if (out.size() == 1) return out;
  return {out[0], joined(out[1], out[0], out[2]), squared(out[1]), squared(out[2])};
}
std::vector<HostTensor> ref_svd(const RefCall& c) {
  const HostTensor s = vectors(c.in[0], singular_values);
  if (!c.attrs[0].as_bool()) return {s};
  const Shape& shape = c.in[0].shape;
  const std::int64_t m = shape.dim(shape.rank() - 2), n = shape.dim(shape.rank() - 1);
  const bool full = c.attrs[1].as_bool();
  return {s, c.in[0], eyes(shape, full ? m : std::min(m, n)),
          eyes(shape, full ? n : std::min(m, n))};
}

std::vector<HostTensor> seen_of_eigh(const std::vector<HostTensor>& out) {
  if (out.size() == 1) return out;
  return {out[0], joined(out[1], out[0], out[1]), squared(out[1])};
}
std::vector<HostTensor> ref_eigh(const RefCall& c) {
  const HostTensor e = vectors(c.in[0], eigenvalues);
  if (!c.attrs[0].as_bool()) return {e};
  const Shape& shape = c.in[0].shape;
  return {e, c.in[0], eyes(shape, shape.dim(shape.rank() - 1))};
}

}  // namespace

std::vector<OpCase> linalg_decompose_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](OpId op, std::string name, const Shape& shape, Attrs attrs, bool has_grad,
                       double tolerance) {
    const bool is_eigh = op == OpId::SelfAdjointEig;
    cases.push_back({.name = std::move(name),
                     .op = op,
                     .in = {{.shape = shape, .lo = -1, .hi = 1, .is_symmetric = is_eigh}},
                     .attrs = attrs,
                     .ref = op == OpId::Qr ? ref_qr
                            : is_eigh      ? ref_eigh
                                           : ref_svd,
                     .dtypes = kWideTypes,
                     .has_grad = has_grad,
                     .tolerance = tolerance,
                     .compared = op == OpId::Qr ? seen_of_qr
                                 : is_eigh      ? seen_of_eigh
                                                : seen_of_svd});
  };
  for (const bool full : {false, true}) {
    const std::string suffix = full ? "_full" : "";
    const auto both = [&](const char* name, const Shape& shape, double tolerance = 8) {
      const std::int64_t m = shape.dim(shape.rank() - 2), n = shape.dim(shape.rank() - 1);
      add(OpId::Qr, name + suffix, shape, {full}, !full || m <= n, tolerance);
      add(OpId::Svd, name + suffix, shape, {true, full}, !full || std::abs(m - n) <= 1, tolerance);
    };
    both("square", {3, 3});
    both("tall", {5, 3});
    both("wide", {3, 5});
    both("taller_by_one", {2, 4, 3});
    both("wider_by_one", {2, 3, 4});
    both("batch", {2, 3, 4, 2});
    both("many", {40, 6, 5});
    both("one_column", {4, 1});
    both("no_columns", {2, 3, 0});
    both("no_rows", {2, 0, 3});
    both("no_matrices", {0, 3, 2});
  }
  add(OpId::Qr, "blocks", {150, 70}, {false}, false, 32);
  add(OpId::Svd, "blocks", {90, 60}, {true, false}, false, 64);
  for (const Shape& shape : {Shape{3, 3}, Shape{2, 5, 3}, Shape{3, 5}, Shape{2, 0, 3}})
    add(OpId::Svd, "values_" + std::to_string(cases.size()), shape, {false, false}, true, 8);
  for (const bool with_vectors : {true, false}) {
    const auto eigh = [&](const std::string& name, const Shape& shape, bool has_grad = true,
                          double tolerance = 8) {
      add(OpId::SelfAdjointEig, name + (with_vectors ? "" : "_values"), shape, {with_vectors},
          has_grad, tolerance);
    };
    eigh("small", {3, 3});
    eigh("batch", {2, 3, 4, 4});
    eigh("many", {40, 6, 6});
    eigh("blocks", {90, 90}, false, 64);
    eigh("one_by_one", {2, 1, 1});
    eigh("no_rows", {2, 0, 0});
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
