// Plans that are wrong on purpose, to prove that a run notices.
#pragma once

#include <vector>

#include "runtime/executable.h"

namespace plimsoll {

// The last step that reads each storage of the arena after the one that makes it; -1: none.
inline std::vector<int> last_reads(const CompiledGraph& c) {
  std::vector<int> last(c.storage.storages.size(), -1);
  for (const Step& step : c.steps) {
    for (const graph::ValueId v : c.graph.nodes[graph::at(step.node)].in) {
      const int s = c.storage.of_value[graph::at(v)];
      const graph::Storage& storage = c.storage.storages[graph::at(s)];
      if (storage.place == graph::Place::kArena && storage.first < step.node)
        last[graph::at(s)] = step.node;
    }
  }
  return last;
}

// Ends a storage's life just before step `node`.
inline CompiledGraph with_short_life(CompiledGraph c, std::size_t storage, int node) {
  c.storage.storages[storage].last = node - 1;
  return c;
}

// Puts a storage where another is.
inline CompiledGraph with_overlap(CompiledGraph c, std::size_t storage, std::size_t other) {
  c.offsets[storage] = c.offsets[other];
  return c;
}

// Takes the last bytes of a storage for free.
inline CompiledGraph with_small_buffer(CompiledGraph c, std::size_t storage, std::uint64_t nbytes) {
  c.storage.storages[storage].nbytes -= nbytes;
  return c;
}

}  // namespace plimsoll
