// Functions over matrices that are made of other ops, and what the calls of LAPACK refuse.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/differences.h"
#include "ops/error_text.h"
#include "plimsoll/function.h"

namespace plimsoll::testing_ops {
namespace {

using Values = std::vector<float>;
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor counted(const Shape& shape) {
  return reshape(range(1.0, static_cast<double>(shape.num_elements()) + 1), shape.dims());
}

TEST(DiagonalTest, GoThereAndBack) {
  EXPECT_EQ(linalg::diag(constant({1.0F, 2.0F})).to_vector<float>(), (Values{1, 0, 0, 2}));
  EXPECT_EQ(linalg::diag(constant({1.0F, 2.0F}), 1).to_vector<float>(),
            (Values{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(linalg::diag(constant({1.0F, 2.0F}), -1).to_vector<float>(),
            (Values{0, 0, 0, 1, 0, 0, 0, 2, 0}));
  const Tensor wide = linalg::diag(constant({1.0F, 2.0F}), 0, 2, 4);
  EXPECT_EQ(wide.shape(), (Shape{2, 4}));
  EXPECT_EQ(wide.to_vector<float>(), (Values{1, 0, 0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(linalg::diag(counted({2, 2})).to_vector<float>(), (Values{1, 0, 0, 2, 3, 0, 0, 4}));
  const Tensor x = counted({3, 4});
  EXPECT_EQ(linalg::diag_part(x).to_vector<float>(), (Values{1, 6, 11}));
  EXPECT_EQ(linalg::diag_part(x, 2).to_vector<float>(), (Values{3, 8}));
  EXPECT_EQ(linalg::diag_part(x, -1).to_vector<float>(), (Values{5, 10}));
  EXPECT_EQ(linalg::diag_part(counted({2, 2, 2})).to_vector<float>(), (Values{1, 4, 5, 8}));
  EXPECT_EQ(linalg::diag_part(zeros({2, 0, 3})).shape(), (Shape{2, 0}));
  EXPECT_EQ(linalg::set_diag(x, zeros({2}), 2).to_vector<float>(),
            (Values{1, 2, 0, 4, 5, 6, 7, 0, 9, 10, 11, 12}));
  EXPECT_EQ(linalg::trace(counted({2, 3, 3})).to_vector<float>(), (Values{15, 42}));
  EXPECT_EQ(linalg::matrix_transpose(counted({1, 2, 2})).to_vector<float>(), (Values{1, 3, 2, 4}));
}

TEST(DiagonalTest, Gradients) {
  for (const int k : {-2, 0, 1}) {
    expect_gradients([&](const auto& in) { return linalg::diag_part(in[0], k); },
                     {numbers({2, 3, 4})});
    expect_gradients([&](const auto& in) { return linalg::diag(in[0], k); }, {numbers({2, 3})});
  }
  expect_gradients([](const auto& in) { return linalg::set_diag(in[0], in[1]); },
                   {numbers({2, 3, 4}), numbers({2, 3})});
  expect_gradients([](const auto& in) { return linalg::trace(in[0]); }, {numbers({2, 3, 3})});
}

TEST(DiagonalTest, Errors) {
  EXPECT_INVALID(linalg::diag_part(ones({2, 3}), 3),
                 "diag_part: diagonal 3 is out of bound: it must be between -2 and 3");
  EXPECT_INVALID(linalg::diag_part(ones({3})), "diag_part needs a tensor of rank 2 or more");
  EXPECT_INVALID(linalg::diag(ones({3}), 0, 2, 5),
                 "diag: a diagonal of 3 elements at 0 is none of");
  EXPECT_INVALID(linalg::set_diag(ones({2, 3}), ones({3})),
                 "set_diag: diagonal 0 of a tensor of shape [2,3] has shape [2], got [3]");
  EXPECT_INVALID(linalg::band_part(ones({2, 2}), 3, 0),
                 "num_lower must be negative or less or equal to number of rows (2) got: 3");
  EXPECT_INVALID(linalg::band_part(ones({2}), 0, 0), "Input tensor 0 must have rank >= 2, got 1");
}

TEST(NormTest, MatchesDefinitions) {
  const Tensor x = constant({3.0F, -4.0F, 0.0F, 12.0F}, {2, 2});
  EXPECT_FLOAT_EQ(norm(x).item<float>(), 13);
  EXPECT_FLOAT_EQ(norm(x, 1).item<float>(), 19);
  EXPECT_FLOAT_EQ(norm(x, kInf).item<float>(), 12);
  EXPECT_FLOAT_EQ(norm(x, 3).item<float>(), std::cbrt(27.0F + 64 + 1728));
  EXPECT_EQ(norm(x, "euclidean", {1}).to_vector<float>(), (Values{5, 12}));
  EXPECT_EQ(norm(x, 1, {0}).to_vector<float>(), (Values{3, 16}));
  EXPECT_EQ(norm(x, 2, {-1}, true).shape(), (Shape{2, 1}));
  EXPECT_FLOAT_EQ(norm(x, "fro", {-2, -1}).item<float>(), 13);
  EXPECT_FLOAT_EQ(norm(x, 1, {0, 1}).item<float>(), 16);     // the largest column
  EXPECT_FLOAT_EQ(norm(x, kInf, {0, 1}).item<float>(), 12);  // the largest row
  EXPECT_EQ(norm(x, kInf, {0, 1}, true).shape(), (Shape{1, 1}));
  const Tensor two = linalg::diag(constant({2.0F, -7.0F}));
  EXPECT_FLOAT_EQ(norm(two, 2, {0, 1}).item<float>(), 7);
  EXPECT_EQ(norm(ones({2, 3, 4}), 2, {0, 2}, true).shape(), (Shape{1, 3, 1}));
}

TEST(NormTest, Gradients) {
  const std::vector<HostTensor> in{numbers({2, 3, 4})};
  expect_gradients([](const auto& x) { return norm(x[0]); }, in);
  expect_gradients([](const auto& x) { return norm(x[0], 1, {1}); }, in);
  expect_gradients([](const auto& x) { return norm(x[0], kInf, {1, 2}); }, in);
  expect_gradients([](const auto& x) { return norm(x[0], 3, {0}); }, in);
  expect_gradients([](const auto& x) { return norm(x[0], 2, {2, 0}); }, in);
  expect_gradients([](const auto& x) { return math::l2_normalize(x[0], {1}); }, in);
}

TEST(NormTest, Errors) {
  const Tensor x = ones({2, 2});
  EXPECT_INVALID(norm(x, "manhattan"), "'ord' must be a supported vector norm");
  EXPECT_INVALID(norm(x, -1), "'ord' must be a supported vector norm: a positive number, got -1");
  EXPECT_INVALID(norm(x, 3, {0, 1}), "'ord' must be a supported matrix norm");
  EXPECT_INVALID(norm(x, "fro", {0}), "'ord' must be a supported vector norm");
  EXPECT_INVALID(norm(x, 2, {0, 0}), "'axis' must be None, an integer, or a tuple of 2 unique");
  EXPECT_INVALID(norm(x, 2, {0, 1, 2}), "'axis' must be None, an integer, or a tuple of 2 unique");
}

TEST(LinalgTest, SolvesByFactors) {
  const HostTensor a = numbers({2, 3, 3}), b = numbers({2, 3, 2}, 2);
  const auto positive = [](const Tensor& x) {
    return matmul(x, x, {.transpose_b = true}) + eye(3, {}, {}, float64);
  };
  const Tensor matrix = positive(to_device(a)), rhs = to_device(b);
  const Tensor x = linalg::cholesky_solve(linalg::cholesky(matrix), rhs);
  expect_values(matmul(matrix, x), b);
  expect_values(linalg::solve(matrix, rhs), to_host(x), 1e-10);
  expect_values(linalg::logdet(matrix), to_host(linalg::slogdet(matrix).log_abs_determinant));
  // One triangular matrix for all right sides.
  const Tensor l = linalg::cholesky(eye(3, {}, {}, float64) * 4.0);
  expect_values(linalg::triangular_solve(l, rhs) * 2.0, b);
  expect_gradients([&](const auto& in) { return linalg::logdet(positive(in[0])); }, {a});
  expect_gradients(
      [&](const auto& in) {
        return linalg::cholesky_solve(linalg::cholesky(positive(in[0])), in[1]);
      },
      {a, b});
}

TEST(LinalgTest, RefusesWhatHasNoAnswer) {
  EXPECT_INVALID(linalg::cholesky(-eye(2)),
                 "Cholesky decomposition was not successful. The input might not be valid.");
  EXPECT_INVALID(linalg::solve(zeros({2, 2}), ones({2, 1})), "Input matrix is not invertible.");
  EXPECT_INVALID(linalg::triangular_solve(zeros({2, 2}), ones({2, 1})),
                 "Input matrix is not invertible.");
  EXPECT_INVALID(linalg::inv(stack({eye(2), zeros({2, 2})})), "Input is not invertible.");
  EXPECT_INVALID(linalg::eigh(fill({2, 2}, std::nan(""))),
                 "Self-adjoint eigen decomposition was not successful.");
  EXPECT_EQ(linalg::det(zeros({2, 2})).item<float>(), 0);
  const auto log = linalg::slogdet(zeros({2, 2}));
  EXPECT_EQ(log.sign.item<float>(), 0);
  EXPECT_EQ(log.log_abs_determinant.item<float>(), -kInf);
  EXPECT_TRUE(std::isnan(linalg::svd(fill({2, 2}, std::nan(""))).s.to_vector<float>()[0]));
}

TEST(LinalgTest, RefusesInFunctionsToo) {
  auto f = function(
      [](std::span<const Tensor> in) { return std::vector<Tensor>{linalg::cholesky(in[0])}; });
  const Tensor good = eye(2), bad = -eye(2);
  f(std::span(&good, 1));
  EXPECT_INVALID(f(std::span(&bad, 1)), "Cholesky decomposition was not successful.");
  EXPECT_EQ(f(std::span(&good, 1))[0].to_vector<float>(), (Values{1, 0, 0, 1}));
}

TEST(LinalgTest, RefusesShapesAndTypes) {
  EXPECT_INVALID(linalg::cholesky(ones({2, 3})),
                 "Input matrix must be square: [2,3] [Op:Cholesky]");
  EXPECT_INVALID(linalg::det(ones({3})), "Input tensor 0 must have rank >= 2, got 1: [3]");
  EXPECT_INVALID(linalg::solve(eye(3), ones({2, 1})),
                 "Input matrix and rhs are incompatible: In[0]: [3,3], In[1]: [2,1]");
  EXPECT_INVALID(linalg::solve(eye(3), ones({3, 1}, float64)),
                 "cannot compute MatrixSolve as input #1(zero-based) was expected to be a float");
  EXPECT_INVALID(linalg::svd(ones({2, 2}, int32)),
                 "Value for attr 'T' of int32 is not in the list of allowed values: double, float");
  EXPECT_INVALID(linalg::inv(Tensor()), "");
}

// The gradient of full matrices is missing only where somebody asks for it.
TEST(LinalgTest, GradientsThatAreMissingSaySo) {
  const Tensor x = to_device(numbers({4, 2}));
  GradientTape tape;
  tape.watch(x);
  const Tensor q = linalg::qr(x, true).q, u = linalg::svd(x, true).u;
  EXPECT_EQ(q.shape(), (Shape{4, 4}));
  EXPECT_EQ(u.shape(), (Shape{4, 4}));
  EXPECT_THROW(tape.gradient(reduce_sum(q), x), UnimplementedError);
}

// Factors of a large determinant leave no number on the way.
TEST(LinalgTest, DeterminantsDoNotOverflowOnTheWay) {
  Values values(80, 1e-30F);
  std::fill(values.begin() + 40, values.end(), 1e30F);
  const Tensor x = linalg::diag(constant(std::span<const float>(values), {80}));
  EXPECT_NEAR(linalg::det(x).item<float>(), 1, 1e-4);
}

}  // namespace
}  // namespace plimsoll::testing_ops
