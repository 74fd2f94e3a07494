#include "runtime/frame.h"

#include <fmt/format.h>

#include "runtime/control_step.h"
#include "runtime/variable_state.h"

namespace plimsoll {

using graph::at;
using graph::Place;

Frame make_frame(const CompiledGraph& c) {
  Frame frame;
  frame.inputs.resize(c.graph.inputs.size());
  frame.blocks.resize(at(c.storage.num_output_blocks));
  frame.bases.resize(c.storage.storages.size());
  for (const std::uint64_t nbytes : c.operand_nbytes) frame.spans.push_back({.nbytes = nbytes});
  for (const Step& step : c.steps) {
    if (!step.control) continue;
    const graph::Control& control = *c.graph.nodes[at(step.node)].control;
    for (const CompiledGraph& body : step.control->bodies) {
      Frame& inner = frame.bodies.emplace_back(make_frame(body));
      inner.name = graph::control_name(control);
      inner.states.resize(control.states.size());
    }
  }
  return frame;
}

void bind_frame(Frame& frame, const CompiledGraph& c, memory::Address arena) {
  const auto& storages = c.storage.storages;
  for (std::size_t s = 0; s < storages.size(); ++s) {
    switch (storages[s].place) {
      case Place::kArena:
        frame.bases[s] = arena + c.offsets[s];
        break;
      case Place::kInput:
        frame.bases[s] = frame.inputs[at(storages[s].slot)];
        break;
      case Place::kConstant:
        frame.bases[s] = address_of(c.constants[at(storages[s].slot)]);
        break;
      case Place::kVariable:
        frame.bases[s] = address_of(c.variables[at(storages[s].slot)]->value);
        break;
      case Place::kOutput:
        frame.bases[s] = frame.blocks[at(storages[s].slot)];
        break;
    }
  }
  for (std::size_t i = 0; i < frame.spans.size(); ++i)
    frame.spans[i].buffer = frame.bases[at(c.operand_storage[i])];
}

std::string describe_place(std::string_view op, const Frame& frame) {
  std::string text(op);
  for (const Frame* f = &frame; f && !f->name.empty(); f = f->outer) {
    text += f->iteration < 0 ? fmt::format(" in {}", f->name)
                             : fmt::format(" in iteration {} of {}", f->iteration, f->name);
  }
  return text;
}

}  // namespace plimsoll
