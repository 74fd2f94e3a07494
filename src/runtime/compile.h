// From a trace to something that can run: passes, order, kernels, offsets, and the plan of it all.
#pragma once

#include <string>

#include "runtime/executable.h"
#include "runtime/trace.h"

namespace plimsoll {

// Where a trace runs: with its variables, or where new tensors are placed.
// throws: UnimplementedError if variables are on several devices.
Device& device_for(const Trace& trace, const std::string& name);
// Reserves nothing. throws: UnimplementedError if an op has no kernel on the device;
// InvalidArgumentError for an unknown name in PLIMSOLL_PASSES.
CompiledGraph compile(Trace&& trace, Device& device, const std::string& name);
// The same for the body of a branch or a loop, after passes. `in_place`: whether results may
// overwrite inputs.
CompiledGraph compile_ready(const graph::Graph& graph, Device& device, const std::string& name,
                            bool in_place, std::span<const graph::Overwritable> states);

}  // namespace plimsoll
