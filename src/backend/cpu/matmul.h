// What the kernels for products of matrices share.
#pragma once

#include "backend/api/kernel.h"
#include "ops/activation_kind.h"

namespace plimsoll::cpu {

struct Matrices {
  std::int64_t m, n, k;
  std::int64_t a_row, a_col;  // strides in elements
  std::int64_t b_row, b_col;
};
Matrices matrices_of(const KernelCall& call) noexcept;

// Of MatMulBias.
inline Activation matmul_activation(const Attrs& attrs) noexcept {
  return static_cast<Activation>(attrs[attr::MatMulBias::activation].as_int());
}

// float32 by oneDNN; MatMulBias too.
bool onednn_matmul_accepts(const KernelCall& call) noexcept;
KernelStatePtr onednn_matmul_prepare(const KernelCall& call, ScratchBook& book);
Status onednn_matmul_run(const RunArgs& args) noexcept;

}  // namespace plimsoll::cpu
