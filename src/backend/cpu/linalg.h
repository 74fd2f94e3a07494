// Kernels on batches of matrices: how a batch is split over threads, each part with scratch of its
// own.
#pragma once

#include <atomic>

#include "backend/api/kernel.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {

// The matrices of a tensor. pre: rank 2 or more.
struct MatrixBatch {
  std::int64_t count, rows, columns;

  explicit MatrixBatch(const Shape& s) noexcept
      : count(1), rows(s.dim(s.rank() - 2)), columns(s.dim(s.rank() - 1)) {
    for (int i = 0; i < s.rank() - 2; ++i) count *= s.dim(i);
  }
  std::int64_t size() const noexcept { return rows * columns; }  // of one
};

// Takes pieces of a part's scratch, or counts their bytes if there is none yet.
class Carver {
 public:
  explicit Carver(char* at) noexcept : at_(reinterpret_cast<std::uintptr_t>(at)) {}
  template <class T>
  T* take(std::int64_t num) noexcept {
    T* piece = reinterpret_cast<T*>(at_ + used_);
    used_ += (static_cast<std::uint64_t>(num) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }
  std::uint64_t used() const noexcept { return used_; }

 private:
  std::uintptr_t at_;
  std::uint64_t used_ = 0;
};

// `part_bytes` of scratch for each part; `lwork` and `liwork` are what LAPACK asked for.
struct BatchState final : KernelState {
  // throws: UnimplementedError for matrices that LAPACK's integers do not count.
  BatchState(const MatrixBatch& batch, std::uint64_t bytes, ScratchBook& book, int lwork = 0,
             int liwork = 0);

  std::int64_t parts;
  std::uint64_t part_bytes;
  int lwork, liwork;
};

// An answer to a workspace query. throws: UnimplementedError if it is beyond an int.
int lapack_size(double answer);
// throws: UnimplementedError if LAPACK's integers do not count to `size`.
int lapack_int(std::int64_t size);

// Calls f(i, scratch of the part) -> bool for each matrix; false if any call was.
template <class F>
bool for_each_matrix(const RunArgs& args, std::int64_t count, F&& f) noexcept {
  const auto& state = *static_cast<const BatchState*>(args.state);
  std::atomic<bool> is_fine = true;
  parallel_for(state.parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      char* scratch = state.part_bytes ? args.scratch[0].as<char>() +
                                             static_cast<std::uint64_t>(part) * state.part_bytes
                                       : nullptr;
      const std::int64_t last = count * (part + 1) / state.parts;
      for (std::int64_t i = count * part / state.parts; i < last; ++i) {
        if (!f(i, scratch)) is_fine.store(false, std::memory_order_relaxed);
      }
    }
  });
  return is_fine;
}

// `to` is `from` transposed: rows x columns becomes columns x rows.
template <class T>
void transpose_matrix(const T* from, std::int64_t rows, std::int64_t columns, T* to) noexcept {
  constexpr std::int64_t kTile = 32;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
        to[c * rows + r] = from[r * columns + c];
    }
  }
}

template <class F>
void visit_wide(DType dtype, F&& f) {
  dtype == DType::kFloat32 ? f(TypeTag<float>()) : f(TypeTag<double>());
}

}  // namespace plimsoll::cpu
