// Steps of a function whose kernel its device does not have: they run on the CPU, over copies of
// their operands in one block of host memory that is planned and reserved like all the rest.
#pragma once

#include "runtime/executable.h"

namespace plimsoll {

// Bytes of host memory that a step on the host needs: its operands, then its scratch.
std::uint64_t host_step_bytes(const Step& step);

// Copies the inputs to `host`, runs the kernel there and copies the outputs back.
// pre: host memory of host_step_bytes(step).
Status run_host_step(const Device& device, const KernelCall& call, const Step& step,
                     std::span<const DeviceSpan> in, std::span<const DeviceSpan> out,
                     memory::Address host);

}  // namespace plimsoll
