// LAPACK as the kernels call it: Fortran's symbols, for float and double under one name. Matrices
// are column-major there, so that one of ours is seen transposed.
//
// OpenBLAS stays on the caller's thread; batches are split by parallel_for. Besides the scratch
// that kernels book, it keeps a buffer of its own for each thread that has called it:
// docs/memory_contract.md says how large.
#pragma once

#include <cstddef>

// Hidden lengths of strings follow the arguments, as gfortran passes them.
#define PLIMSOLL_LAPACK(T, p)                                                                      \
  extern "C" {                                                                                     \
  void p##potrf_(const char*, const int*, T*, const int*, int*, std::size_t);                      \
  void p##trsm_(const char*, const char*, const char*, const char*, const int*, const int*,        \
                const T*, const T*, const int*, T*, const int*, std::size_t, std::size_t,          \
                std::size_t, std::size_t);                                                         \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                              \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*,        \
                 const int*, int*, std::size_t);                                                   \
  void p##getri_(const int*, T*, const int*, const int*, T*, const int*, int*);                    \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*,     \
                 int*);                                                                            \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,      \
                 const int*, T*, const int*, int*, int*, std::size_t);                             \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,   \
                 const int*, int*, std::size_t, std::size_t);                                      \
  }                                                                                                \
  namespace plimsoll::cpu::lapack {                                                                \
  inline int potrf(char uplo, int n, T* a, int lda) noexcept {                                     \
    int info = 0;                                                                                  \
    p##potrf_(&uplo, &n, a, &lda, &info, 1);                                                       \
    return info;                                                                                   \
  }                                                                                                \
  /* b := b a^-1 or b a^-T, for triangular a. */                                                   \
  inline void trsm_right(char uplo, char trans, int m, int n, const T* a, int lda, T* b,           \
                         int ldb) noexcept {                                                       \
    const char side = 'R', diag = 'N';                                                             \
    const T one = 1;                                                                               \
    p##trsm_(&side, &uplo, &trans, &diag, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);             \
  }                                                                                                \
  inline int getrf(int n, T* a, int* pivots) noexcept {                                            \
    int info = 0;                                                                                  \
    p##getrf_(&n, &n, a, &n, pivots, &info);                                                       \
    return info;                                                                                   \
  }                                                                                                \
  inline int getrs(char trans, int n, int num_rhs, const T* a, const int* pivots, T* b) noexcept { \
    int info = 0;                                                                                  \
    p##getrs_(&trans, &n, &num_rhs, a, &n, pivots, b, &n, &info, 1);                               \
    return info;                                                                                   \
  }                                                                                                \
  inline int getri(int n, T* a, const int* pivots, T* work, int lwork) noexcept {                  \
    int info = 0;                                                                                  \
    p##getri_(&n, a, &n, pivots, work, &lwork, &info);                                             \
    return info;                                                                                   \
  }                                                                                                \
  inline int geqrf(int m, int n, T* a, T* tau, T* work, int lwork) noexcept {                      \
    int info = 0;                                                                                  \
    p##geqrf_(&m, &n, a, &m, tau, work, &lwork, &info);                                            \
    return info;                                                                                   \
  }                                                                                                \
  inline int orgqr(int m, int n, int k, T* a, const T* tau, T* work, int lwork) noexcept {         \
    int info = 0;                                                                                  \
    p##orgqr_(&m, &n, &k, a, &m, tau, work, &lwork, &info);                                        \
    return info;                                                                                   \
  }                                                                                                \
  inline int gesdd(char jobz, int m, int n, T* a, T* s, T* u, T* vt, int ldvt, T* work, int lwork, \
                   int* iwork) noexcept {                                                          \
    int info = 0;                                                                                  \
    p##gesdd_(&jobz, &m, &n, a, &m, s, u, &m, vt, &ldvt, work, &lwork, iwork, &info, 1);           \
    return info;                                                                                   \
  }                                                                                                \
  inline int syevd(char jobz, char uplo, int n, T* a, T* w, T* work, int lwork, int* iwork,        \
                   int liwork) noexcept {                                                          \
    int info = 0;                                                                                  \
    p##syevd_(&jobz, &uplo, &n, a, &n, w, work, &lwork, iwork, &liwork, &info, 1, 1);              \
    return info;                                                                                   \
  }                                                                                                \
  }
PLIMSOLL_LAPACK(float, s)
PLIMSOLL_LAPACK(double, d)
#undef PLIMSOLL_LAPACK
