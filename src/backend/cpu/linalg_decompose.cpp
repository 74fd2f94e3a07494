#include <cmath>
#include <limits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/lapack.h"
#include "backend/cpu/linalg.h"

namespace plimsoll::cpu {
namespace {

template <class T>
bool is_finite(const T* values, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

template <class T>
void make_eye(T* matrix, std::int64_t n) noexcept {
  std::fill_n(matrix, n * n, T(0));
  for (std::int64_t i = 0; i < n; ++i) matrix[i * n + i] = 1;
}

struct QrSizes {
  std::int64_t m, n, k, q;  // k: the smaller one; q: columns of q
  explicit QrSizes(const KernelCall& call) noexcept
      : m(MatrixBatch(call.in[0].shape).rows),
        n(MatrixBatch(call.in[0].shape).columns),
        k(std::min(m, n)),
        q(MatrixBatch(call.out[0].shape).columns) {}
};

// In columns.
template <class T>
struct QrPieces {
  T *matrix, *q, *tau, *work;

  QrPieces(Carver& c, const QrSizes& s, int lwork) noexcept
      : matrix(c.take<T>(s.m * s.n)),
        q(c.take<T>(s.m * s.q)),
        tau(c.take<T>(s.k)),
        work(c.take<T>(lwork)) {}
};

KernelStatePtr prepare_qr(const KernelCall& call, ScratchBook& book) {
  const QrSizes s(call);
  Carver carver(nullptr);
  int lwork = 1;
  visit_wide(call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int m = lapack_int(s.m), n = lapack_int(s.n);
    T answers[2] = {1, 1};
    if (s.k > 0) {
      T unused = 0;
      lapack::geqrf(m, n, &unused, &unused, &answers[0], -1);
      lapack::orgqr(m, static_cast<int>(s.q), static_cast<int>(s.k), &unused, &unused, &answers[1],
                    -1);
    }
    lwork = lapack_size(std::max(answers[0], answers[1]));
    QrPieces<T>(carver, s, lwork);
  });
  return std::make_shared<BatchState>(MatrixBatch(call.in[0].shape), carver.used(), book, lwork);
}

template <class T>
void qr(const T* in, const QrSizes& s, const QrPieces<T>& p, int lwork, T* q, T* r) noexcept {
  if (s.k == 0) {
    if (s.q == s.m) make_eye(q, s.m);
    return;
  }
  const int m = static_cast<int>(s.m), k = static_cast<int>(s.k);
  transpose_matrix(in, s.m, s.n, p.matrix);
  lapack::geqrf(m, static_cast<int>(s.n), p.matrix, p.tau, p.work, lwork);
  for (std::int64_t i = 0; i < s.q; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) r[i * s.n + j] = j >= i ? p.matrix[j * s.m + i] : T(0);
  }
  std::copy_n(p.matrix, s.m * s.k, p.q);
  lapack::orgqr(m, static_cast<int>(s.q), k, p.q, p.tau, p.work, lwork);
  transpose_matrix(p.q, s.q, s.m, q);
}

Status run_qr(const RunArgs& args) noexcept {
  const QrSizes s(args.call);
  const MatrixBatch batch(args.call.in[0].shape);
  const int lwork = static_cast<const BatchState*>(args.state)->lwork;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      Carver carver(scratch);
      const QrPieces<T> p(carver, s, lwork);
      qr(args.in[0].as<const T>() + i * batch.size(), s, p, lwork,
         args.out[0].as<T>() + i * s.m * s.q, args.out[1].as<T>() + i * s.q * s.n);
      return true;
    });
  });
  return {};
}

// LAPACK sees the transpose a^T = v s u^T: its first factor is our v in columns, and its second,
// transposed, in columns, is our u in rows.
struct SvdSizes {
  std::int64_t m, n, k, u = 0, v = 0;  // u, v: columns of these; 0 without them
  char job = 'N';
  explicit SvdSizes(const KernelCall& call) noexcept
      : m(MatrixBatch(call.in[0].shape).rows),
        n(MatrixBatch(call.in[0].shape).columns),
        k(std::min(m, n)) {
    if (!call.attrs[attr::Svd::compute_uv].as_bool()) return;
    const bool full = call.attrs[attr::Svd::full_matrices].as_bool();
    job = full ? 'A' : 'S';
    u = full ? m : k;
    v = full ? n : k;
  }
};

template <class T>
struct SvdPieces {
  T *matrix, *v, *work;
  int* iwork;

  SvdPieces(Carver& c, const SvdSizes& s, int lwork) noexcept
      : matrix(c.take<T>(s.m * s.n)),
        v(c.take<T>(s.n * s.v)),
        work(c.take<T>(lwork)),
        iwork(c.take<int>(8 * s.k)) {}
};

KernelStatePtr prepare_svd(const KernelCall& call, ScratchBook& book) {
  const SvdSizes s(call);
  Carver carver(nullptr);
  int lwork = 1;
  visit_wide(call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int m = lapack_int(s.m), n = lapack_int(s.n);
    T answer = 1, unused = 0;
    int no_integers = 0;
    if (s.k > 0) {
      lapack::gesdd(s.job, n, m, &unused, &unused, &unused, &unused,
                    std::max(1, static_cast<int>(s.u)), &answer, -1, &no_integers);
    }
    lwork = lapack_size(answer);
    SvdPieces<T>(carver, s, lwork);
  });
  return std::make_shared<BatchState>(MatrixBatch(call.in[0].shape), carver.used(), book, lwork);
}

template <class T>
struct SvdOut {
  T *s, *u, *v;
};

// What is not finite has no decomposition: all is nan then.
template <class T>
bool svd(const T* in, const SvdSizes& s, const SvdPieces<T>& p, int lwork,
         const SvdOut<T>& out) noexcept {
  if (s.k == 0) {
    if (s.job == 'A') make_eye(out.u, s.m);
    if (s.job == 'A') make_eye(out.v, s.n);
    return true;
  }
  if (!is_finite(in, s.m * s.n)) {
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(out.s, s.k, kNan);
    if (s.job != 'N') std::fill_n(out.u, s.m * s.u, kNan);
    if (s.job != 'N') std::fill_n(out.v, s.n * s.v, kNan);
    return true;
  }
  std::copy_n(in, s.m * s.n, p.matrix);
  const int info =
      lapack::gesdd(s.job, static_cast<int>(s.n), static_cast<int>(s.m), p.matrix, out.s, p.v,
                    out.u, std::max(1, static_cast<int>(s.u)), p.work, lwork, p.iwork);
  if (s.job != 'N') transpose_matrix(p.v, s.v, s.n, out.v);
  return info == 0;
}

Status run_svd(const RunArgs& args) noexcept {
  const SvdSizes s(args.call);
  const MatrixBatch batch(args.call.in[0].shape);
  const int lwork = static_cast<const BatchState*>(args.state)->lwork;
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      Carver carver(scratch);
      const SvdPieces<T> p(carver, s, lwork);
      SvdOut<T> out{args.out[0].as<T>() + i * s.k, nullptr, nullptr};
      if (s.job != 'N') {
        out.u = args.out[1].as<T>() + i * s.m * s.u;
        out.v = args.out[2].as<T>() + i * s.n * s.v;
      }
      return svd(args.in[0].as<const T>() + i * batch.size(), s, p, lwork, out);
    });
  });
  if (is_fine) return {};
  return {ErrorCode::kInvalidArgument,
          "Singular value decomposition was not successful. The input might not be valid."};
}

template <class T>
struct EigPieces {
  T *matrix, *work;
  int* iwork;

  // The vectors come where the matrix was, so that it stands in the output if they are wanted.
  EigPieces(Carver& c, std::int64_t n, bool with_vectors, int lwork, int liwork) noexcept
      : matrix(c.take<T>(with_vectors ? 0 : n * n)),
        work(c.take<T>(lwork)),
        iwork(c.take<int>(liwork)) {}
};

KernelStatePtr prepare_eigh(const KernelCall& call, ScratchBook& book) {
  const MatrixBatch batch(call.in[0].shape);
  const bool with_vectors = call.out.size() > 1;
  Carver carver(nullptr);
  int lwork = 1, liwork = 1;
  visit_wide(call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T answer = 1, unused = 0;
    const int n = lapack_int(batch.rows);
    if (n > 0)
      lapack::syevd(with_vectors ? 'V' : 'N', 'U', n, &unused, &unused, &answer, -1, &liwork, -1);
    lwork = lapack_size(answer);
    EigPieces<T>(carver, n, with_vectors, lwork, liwork);
  });
  return std::make_shared<BatchState>(batch, carver.used(), book, lwork, liwork);
}

Status run_eigh(const RunArgs& args) noexcept {
  const MatrixBatch batch(args.call.in[0].shape);
  const auto& state = *static_cast<const BatchState*>(args.state);
  const bool with_vectors = args.out.size() > 1;
  const int n = static_cast<int>(batch.rows);
  bool is_fine = true;
  visit_wide(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    is_fine = for_each_matrix(args, batch.count, [&](std::int64_t i, char* scratch) {
      const T* from = args.in[0].as<const T>() + i * batch.size();
      if (n == 0) return true;
      if (!is_finite(from, batch.size())) return false;
      Carver carver(scratch);
      const EigPieces<T> p(carver, n, with_vectors, state.lwork, state.liwork);
      T* matrix = with_vectors ? args.out[1].as<T>() + i * batch.size() : p.matrix;
      std::copy_n(from, batch.size(), matrix);
      const int info =
          lapack::syevd(with_vectors ? 'V' : 'N', 'U', n, matrix, args.out[0].as<T>() + i * n,
                        p.work, state.lwork, p.iwork, state.liwork);
      if (with_vectors) {  // columns to rows, in place
        for (std::int64_t r = 0; r < n; ++r) {
          for (std::int64_t c = 0; c < r; ++c) std::swap(matrix[r * n + c], matrix[c * n + r]);
        }
      }
      return info == 0;
    });
  });
  if (is_fine) return {};
  return {ErrorCode::kInvalidArgument,
          "Self-adjoint eigen decomposition was not successful. The input might not be valid."};
}

const KernelDef kRows[] = {
    {.op = OpId::Qr, .dtypes = kWideFloats, .prepare = prepare_qr, .run = run_qr},
    {.op = OpId::Svd, .dtypes = kWideFloats, .prepare = prepare_svd, .run = run_svd},
    {.op = OpId::SelfAdjointEig, .dtypes = kWideFloats, .prepare = prepare_eigh, .run = run_eigh},
};

}  // namespace

std::span<const KernelDef> linalg_decompose_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
