// From a trace to something that can run: passes, order, kernels, offsets, and the plan of it all.
#pragma once

#include <string>

#include "runtime/executable.h"
#include "runtime/trace.h"

namespace plimsoll {

// Reserves nothing. throws: UnimplementedError if an op has no kernel on the device;
// InvalidArgumentError for an unknown name in PLIMSOLL_PASSES.
CompiledGraph compile(Trace&& trace, Device& device, const std::string& name);

}  // namespace plimsoll
