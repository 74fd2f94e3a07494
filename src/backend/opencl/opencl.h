// The OpenCL backend: devices that the system's OpenCL drivers offer, and the kernels they have.
// What is missing here (docs/backends.md) runs on the CPU under soft placement.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backend/opencl/device.h"

namespace plimsoll::opencl {

// GPUs and accelerators, and with `with_cpus` also CPUs (PoCL). None where OpenCL is not installed.
// Devices are made once and never go.
std::vector<std::shared_ptr<ClDevice>> find_devices(bool with_cpus);

// Without a device: the rows alone, to be looked at.
Backend make_backend(ClDevice* device);

std::span<const KernelDef> create_kernels();
std::span<const KernelDef> elementwise_kernels();
std::span<const KernelDef> reduce_kernels();
std::span<const KernelDef> shape_kernels();
std::span<const KernelDef> softmax_kernels();
std::span<const KernelDef> matmul_kernels();

}  // namespace plimsoll::opencl
