#include "backend/cpu/linalg.h"

#include <cmath>
#include <limits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/lapack.h"
#include "base/check.h"

extern "C" void openblas_set_num_threads(int);

namespace plimsoll::cpu {

int lapack_int(std::int64_t size) {
  PLIMSOLL_CHECK(size <= std::numeric_limits<int>::max(), UnimplementedError,
                 "LAPACK counts to 2^31 - 1, got {}", size);
  return static_cast<int>(size);
}

// Float answers are rounded; the next number above is enough.
int lapack_size(double answer) {
  return lapack_int(static_cast<std::int64_t>(answer * (1 + 0x1p-22)) + 1);
}

BatchState::BatchState(const MatrixBatch& batch, std::uint64_t bytes, ScratchBook& book, int lwork_,
                       int liwork_)
    : part_bytes(bytes), lwork(lwork_), liwork(liwork_) {
  [[maybe_unused]] static const bool is_single = (openblas_set_num_threads(1), true);
  const int m = lapack_int(batch.rows), n = lapack_int(batch.columns);
  const double work = static_cast<double>(m) * n * std::max(1, std::min(m, n));
  const auto grain = static_cast<std::int64_t>(std::max(1.0, 32768 / std::max(work, 1.0)));
  parts = std::clamp<std::int64_t>(batch.count / grain, 1, omp_get_max_threads());
  if (bytes) book.book(bytes * static_cast<std::uint64_t>(parts));
}

namespace {

// A band of all matrices, element by element.
Status run_band_part(const RunArgs& args) noexcept {
  using A = attr::MatrixBandPart;
  const MatrixBatch batch(args.call.in[0].shape);
  const std::int64_t lower = args.attrs()[A::num_lower].as_int();
  const std::int64_t upper = args.attrs()[A::num_upper].as_int();
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = args.in[0].as<const T>();
    T* out = args.out[0].as<T>();
    const std::int64_t columns = batch.columns;
    const std::int64_t grain = 32768 / std::max<std::int64_t>(columns, 1) + 1;
    parallel_for(batch.count * batch.rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i % batch.rows;
        const std::int64_t first =
            lower < 0 ? 0 : std::clamp<std::int64_t>(row - lower, 0, columns);
        const std::int64_t last =
            upper < 0 ? columns : std::clamp<std::int64_t>(row + upper + 1, first, columns);
        const T* from = in + i * columns;
        T* to = out + i * columns;
        std::fill(to, to + first, T(0));
        if (to != from) std::copy(from + first, from + last, to + first);
        std::fill(to + last, to + columns, T(0));
      }
    });
  });
  return {};
}

KernelStatePtr prepare_in_place(const KernelCall& call, ScratchBook& book) {
  return std::make_shared<BatchState>(MatrixBatch(call.in[0].shape), 0, book);
}

// The lower triangle in rows is the upper one in columns.
template <class T>
bool cholesky(const T* in, int n, T* out) noexcept {
  if (out != in) std::copy_n(in, std::int64_t{n} * n, out);
  const bool is_fine = n == 0 || lapack::potrf('U', n, out, n) == 0;
  for (std::int64_t i = 0; i < n; ++i) std::fill(out + i * n + i + 1, out + (i + 1) * n, T(0));
  return is_fine;
}

Status run_cholesky(const RunArgs& args) noexcept {
  const MatrixBatch batch(args.call.in[0].shape);
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char*) {
      return cholesky(args.in[0].as<const T>() + i * batch.size(), static_cast<int>(batch.rows),
                      args.out[0].as<T>() + i * batch.size());
    });
  });
  if (is_fine) return {};
  return {ErrorCode::kInvalidArgument,
          "Cholesky decomposition was not successful. The input might not be valid."};
}

constexpr const char* kNotInvertible = "Input matrix is not invertible.";

Status run_triangular_solve(const RunArgs& args) noexcept {
  using A = attr::MatrixTriangularSolve;
  const MatrixBatch batch(args.call.in[0].shape), rhs(args.call.in[1].shape);
  const char uplo = args.attrs()[A::lower].as_bool() ? 'U' : 'L';  // as columns see it
  const char trans = args.attrs()[A::adjoint].as_bool() ? 'T' : 'N';
  const int n = static_cast<int>(batch.rows), num_rhs = static_cast<int>(rhs.columns);
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char*) {
      const T* matrix = args.in[0].as<const T>() + i * batch.size();
      const T* from = args.in[1].as<const T>() + i * rhs.size();
      T* to = args.out[0].as<T>() + i * rhs.size();
      for (std::int64_t k = 0; k < n; ++k) {
        if (matrix[k * n + k] == 0) return false;
      }
      if (to != from) std::copy_n(from, rhs.size(), to);
      if (rhs.size() > 0) lapack::trsm_right(uplo, trans, num_rhs, n, matrix, n, to, num_rhs);
      return true;
    });
  });
  return is_fine ? Status() : Status(ErrorCode::kInvalidArgument, kNotInvertible);
}

KernelStatePtr prepare_triangular_solve(const KernelCall& call, ScratchBook& book) {
  lapack_int(MatrixBatch(call.in[1].shape).columns);
  return prepare_in_place(call, book);
}

// Factors of a matrix and its right sides in columns.
template <class T>
struct SolvePieces {
  T* matrix;
  int* pivots;
  T* rhs;

  SolvePieces(Carver& c, std::int64_t n, std::int64_t num_rhs) noexcept
      : matrix(c.take<T>(n * n)), pivots(c.take<int>(n)), rhs(c.take<T>(n * num_rhs)) {}
};

KernelStatePtr prepare_solve(const KernelCall& call, ScratchBook& book) {
  const MatrixBatch batch(call.in[0].shape);
  const std::int64_t num_rhs = MatrixBatch(call.in[1].shape).columns;
  lapack_int(num_rhs);
  Carver carver(nullptr);
  visit_wide(call.in[0].dtype, [&](auto tag) {
    SolvePieces<typename decltype(tag)::type>(carver, batch.rows, num_rhs);
  });
  return std::make_shared<BatchState>(batch, carver.used(), book);
}

Status run_solve(const RunArgs& args) noexcept {
  const MatrixBatch batch(args.call.in[0].shape), rhs(args.call.in[1].shape);
  // What is factored is the transpose of the matrix.
  const char trans = args.attrs()[attr::MatrixSolve::adjoint].as_bool() ? 'N' : 'T';
  const int n = static_cast<int>(batch.rows), num_rhs = static_cast<int>(rhs.columns);
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      if (n == 0) return true;
      Carver carver(scratch);
      const SolvePieces<T> p(carver, n, num_rhs);
      std::copy_n(args.in[0].as<const T>() + i * batch.size(), batch.size(), p.matrix);
      if (lapack::getrf(n, p.matrix, p.pivots) != 0) return false;
      if (num_rhs == 0) return true;
      transpose_matrix(args.in[1].as<const T>() + i * rhs.size(), n, num_rhs, p.rhs);
      lapack::getrs(trans, n, num_rhs, p.matrix, p.pivots, p.rhs);
      transpose_matrix(p.rhs, num_rhs, n, args.out[0].as<T>() + i * rhs.size());
      return true;
    });
  });
  return is_fine ? Status() : Status(ErrorCode::kInvalidArgument, kNotInvertible);
}

template <class T>
struct InversePieces {
  int* pivots;
  T* work;

  InversePieces(Carver& c, std::int64_t n, int lwork) noexcept
      : pivots(c.take<int>(n)), work(c.take<T>(lwork)) {}
};

KernelStatePtr prepare_inverse(const KernelCall& call, ScratchBook& book) {
  const MatrixBatch batch(call.in[0].shape);
  Carver carver(nullptr);
  int lwork = 1;
  visit_wide(call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T answer = 1;
    const int n = lapack_int(batch.rows);
    if (n > 0) lapack::getri(n, nullptr, nullptr, &answer, -1);
    lwork = lapack_size(answer);
    InversePieces<T>(carver, n, lwork);
  });
  return std::make_shared<BatchState>(batch, carver.used(), book, lwork);
}

// The inverse of the transpose is the transpose of the inverse: no layout has to change.
Status run_inverse(const RunArgs& args) noexcept {
  const MatrixBatch batch(args.call.in[0].shape);
  const bool adjoint = args.attrs()[attr::MatrixInverse::adjoint].as_bool();
  const int n = static_cast<int>(batch.rows);
  const int lwork = static_cast<const BatchState*>(args.state)->lwork;
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      if (n == 0) return true;
      Carver carver(scratch);
      const InversePieces<T> p(carver, n, lwork);
      const T* from = args.in[0].as<const T>() + i * batch.size();
      T* to = args.out[0].as<T>() + i * batch.size();
      if (adjoint) {
        transpose_matrix(from, n, n, to);
      } else {
        std::copy_n(from, batch.size(), to);
      }
      return lapack::getrf(n, to, p.pivots) == 0 &&
             lapack::getri(n, to, p.pivots, p.work, lwork) == 0;
    });
  });
  return is_fine ? Status() : Status(ErrorCode::kInvalidArgument, "Input is not invertible.");
}

KernelStatePtr prepare_determinant(const KernelCall& call, ScratchBook& book) {
  const MatrixBatch batch(call.in[0].shape);
  Carver carver(nullptr);
  visit_wide(call.in[0].dtype,
             [&](auto tag) { SolvePieces<typename decltype(tag)::type>(carver, batch.rows, 0); });
  return std::make_shared<BatchState>(batch, carver.used(), book);
}

// sign * mantissa * 2^exponent, which no product on the way can leave.
struct Determinant {
  double mantissa = 1;
  std::int64_t exponent = 0;

  void multiply(double by) noexcept {
    int of_factor = 0, of_product = 0;
    mantissa = std::frexp(mantissa * std::frexp(by, &of_factor), &of_product);
    exponent += of_factor + of_product;
  }
  double value() const noexcept {
    return std::ldexp(mantissa, static_cast<int>(std::clamp<std::int64_t>(exponent, -9999, 9999)));
  }
  double log_abs() const noexcept {
    constexpr double kLn2 = 0.693147180559945309417;
    return std::log(std::abs(mantissa)) + static_cast<double>(exponent) * kLn2;
  }
};

template <class T>
Determinant determinant(const T* matrix, int n, char* scratch) noexcept {
  Determinant det;
  if (n == 0) return det;
  Carver carver(scratch);
  const SolvePieces<T> p(carver, n, 0);
  std::copy_n(matrix, std::int64_t{n} * n, p.matrix);
  lapack::getrf(n, p.matrix, p.pivots);
  for (std::int64_t k = 0; k < n; ++k) {
    det.multiply(static_cast<double>(p.matrix[k * n + k]));
    if (p.pivots[k] != k + 1) det.mantissa = -det.mantissa;
  }
  return det;
}

Status run_determinant(const RunArgs& args) noexcept {
  const MatrixBatch batch(args.call.in[0].shape);
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      const Determinant det = determinant(args.in[0].as<const T>() + i * batch.size(),
                                          static_cast<int>(batch.rows), scratch);
      if (args.call.op == OpId::MatrixDeterminant) {
        args.out[0].as<T>()[i] = static_cast<T>(det.value());
      } else {
        const double m = det.mantissa;
        args.out[0].as<T>()[i] = static_cast<T>(m > 0 ? 1.0 : m < 0 ? -1.0 : m);
        args.out[1].as<T>()[i] = static_cast<T>(det.log_abs());
      }
      return true;
    });
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::MatrixBandPart, .dtypes = kAll, .run = run_band_part},
    {.op = OpId::Cholesky, .dtypes = kWideFloats, .prepare = prepare_in_place, .run = run_cholesky},
    {.op = OpId::MatrixTriangularSolve,
     .dtypes = kWideFloats,
     .prepare = prepare_triangular_solve,
     .run = run_triangular_solve},
    {.op = OpId::MatrixSolve, .dtypes = kWideFloats, .prepare = prepare_solve, .run = run_solve},
    {.op = OpId::MatrixInverse,
     .dtypes = kWideFloats,
     .prepare = prepare_inverse,
     .run = run_inverse},
    {.op = OpId::MatrixDeterminant,
     .dtypes = kWideFloats,
     .prepare = prepare_determinant,
     .run = run_determinant},
    {.op = OpId::LogMatrixDeterminant,
     .dtypes = kWideFloats,
     .prepare = prepare_determinant,
     .run = run_determinant},
};

}  // namespace

std::span<const KernelDef> linalg_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
