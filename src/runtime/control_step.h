// A branch or a loop, ready to run. Its bodies are compiled like functions; the arena of the larger
// one is part of the scratch of the step, which lives for that one step of the enclosing graph.
#pragma once

#include <array>
#include <memory>

#include "graph/control.h"
#include "runtime/executable.h"

namespace plimsoll {

struct CompiledControl {
  static constexpr std::int64_t kNone = -1;   // needs no memory in the scratch
  static constexpr std::int64_t kFinal = -2;  // the output of the node that is its final value
  static constexpr std::int64_t kSame = -3;   // the first buffer again: written in place

  std::vector<CompiledGraph> bodies;
  std::uint64_t scratch_bytes = 0;  // what follows, and the arena of a body behind it
  std::uint64_t arena_at = 0;

  // Of a loop: offsets in the scratch.
  std::int64_t index_at = kNone;
  std::uint64_t predicate_at = 0;
  std::vector<std::array<std::int64_t, 2>> state_at;  // written in turns
  std::vector<std::int64_t> element_at, row_at;       // copies of rows that are not aligned
  // By block of the body's results: the output that is written there, counted as the body does.
  std::vector<int> block_output;
};

// `in_place`: whether results may overwrite inputs.
std::shared_ptr<CompiledControl> compile_control(const graph::Graph& graph, const graph::Node& node,
                                                 Device& device, const std::string& name,
                                                 bool in_place);

}  // namespace plimsoll
