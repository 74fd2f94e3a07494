// Products of matrices inside of other kernels: by oneDNN where it has a kernel that does not
// allocate (AVX-512), else by gemm.h, shared among the threads.
#pragma once

#include <cstdint>
#include <optional>

#include "backend/cpu/onednn.h"

namespace plimsoll::cpu {

// C = A B for `batch` matrices; strides in elements, rows of C are dense.
struct ProductShape {
  std::int64_t batch, m, n, k;
  std::int64_t a_step, a_row, a_col;
  std::int64_t b_step, b_row, b_col;
};

class Product {
 public:
  // adds: C += A B. Its threads are those that OpenMP would take where it is made.
  // throws: UnimplementedError for bfloat16 where oneDNN does not have it.
  Product(const ProductShape& shape, bool adds,
          dnnl::memory::data_type type = dnnl::memory::data_type::f32);

  std::uint64_t scratch_bytes() const noexcept { return scratch_bytes_; }
  // pre: scratch has that many bytes, and belongs to this run.
  Status run(const void* a, const void* b, void* c, void* scratch) const noexcept;

 private:
  void run_own(const float* a, const float* b, float* c, char* scratch) const noexcept;

  const ProductShape s_;
  const bool adds_;
  std::optional<OneDnnCall> call_;                 // none: by gemm.h
  std::int64_t row_parts_ = 1, column_parts_ = 1;  // of each matrix
  std::int64_t threads_ = 1;
  std::uint64_t part_bytes_ = 0, scratch_bytes_ = 0;
};

// Whether oneDNN multiplies matrices here without allocating; else its convolutions are slower than
// products by gemm.h where both could serve.
bool has_onednn_products() noexcept;

}  // namespace plimsoll::cpu
