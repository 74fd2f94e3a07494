// The CPU backend: kernels by family, each in the file of its name.
#pragma once

#include "backend/api/kernel.h"

namespace plimsoll::cpu {

Backend make_backend();

std::span<const KernelDef> create_kernels();
std::span<const KernelDef> elementwise_kernels();
std::span<const KernelDef> fused_kernels();
std::span<const KernelDef> reduce_kernels();
std::span<const KernelDef> reduce_scan_kernels();
std::span<const KernelDef> shape_kernels();
std::span<const KernelDef> matmul_kernels();
std::span<const KernelDef> linalg_kernels();
std::span<const KernelDef> linalg_decompose_kernels();
std::span<const KernelDef> conv_kernels();
std::span<const KernelDef> pool_kernels();
std::span<const KernelDef> norm_kernels();
std::span<const KernelDef> rnn_kernels();
std::span<const KernelDef> softmax_kernels();
std::span<const KernelDef> attention_kernels();
std::span<const KernelDef> gather_kernels();
std::span<const KernelDef> segment_kernels();
std::span<const KernelDef> search_kernels();
std::span<const KernelDef> resize_kernels();
std::span<const KernelDef> random_kernels();
std::span<const KernelDef> random_distribution_kernels();
std::span<const KernelDef> debugging_kernels();

}  // namespace plimsoll::cpu
