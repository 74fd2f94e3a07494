// Calling an op: infer, choose the kernel, reserve outputs and scratch in one step, run, record.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "ops/op_def.h"
#include "plimsoll/memory/owner.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// Executes `op` now, on the device that its inputs and the device scope say, and tells the tapes of
// this thread. throws: InvalidArgumentError, ResourceExhaustedError, UnimplementedError.
std::vector<Tensor> call_all(OpId op, std::span<const Tensor> in, const Attrs& attrs = {});
// The same for ops of one output, without a vector.
Tensor call(OpId op, std::span<const Tensor> in, const Attrs& attrs = {});
inline Tensor call(OpId op, std::initializer_list<Tensor> in, const Attrs& attrs = {}) {
  return call(op, std::span<const Tensor>(in.begin(), in.size()), attrs);
}

class Device;
// A new tensor on `device` with undefined contents. throws: ResourceExhaustedError.
Tensor allocate_tensor(Device& device, DType dtype, const Shape& shape, memory::Owner owner);

}  // namespace plimsoll
