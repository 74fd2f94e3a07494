// Where the values of a graph are during one run of it; the bodies of its branches and loops have
// frames inside. Made once and used again, so that a run allocates nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/api/kernel.h"

namespace plimsoll {

struct CompiledGraph;

struct Frame {
  std::vector<memory::Address> inputs;  // by argument: given to the run
  std::vector<memory::Address> blocks;  // by block of results: given to the run
  std::vector<memory::Address> bases;   // by storage
  std::vector<DeviceSpan> spans;        // by operand
  std::vector<memory::Address> states;  // of a loop's body: where each is now
  std::vector<Frame> bodies;            // of control steps, from Step::first_body on
  memory::Address host = 0;             // for steps that run on the host
  // For errors.
  const Frame* outer = nullptr;
  std::string_view name;        // of the branch or loop that this is a body of
  std::int64_t iteration = -1;  // of a loop
};

Frame make_frame(const CompiledGraph& graph);
// Finds the place of every operand. pre: inputs and blocks are set.
void bind_frame(Frame& frame, const CompiledGraph& graph, memory::Address arena);
// "Gather, iteration 3 of While": where a step failed.
std::string describe_place(std::string_view op, const Frame& frame);

}  // namespace plimsoll
