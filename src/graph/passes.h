// Passes over a graph, one file each in graph/passes/. Each keeps the meaning of the graph and can
// be switched off (PLIMSOLL_PASSES).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backend/api/kernel.h"
#include "graph/graph.h"

namespace plimsoll::graph {

// What passes know of the world.
struct PassContext {
  const KernelTable* kernels = nullptr;  // of the device that the graph will run on
};

struct Pass {
  std::string_view name;
  std::string_view what;  // in a few words
  void (*run)(Graph&, const PassContext&);
};

// In the order in which they run.
std::span<const Pass> all_passes() noexcept;

void remove_dead_code(Graph&, const PassContext&);
void merge_common(Graph&, const PassContext&);
void recompute_cheap(Graph&, const PassContext&);
void fuse_elementwise(Graph&, const PassContext&);
void update_early(Graph&, const PassContext&);

// Leaves out nodes that nobody needs; `keep` by node.
void erase_nodes(Graph& graph, const std::vector<char>& keep);
// Puts the nodes into another order, given as indices. pre: a permutation, sound.
void reorder(Graph& graph, std::span<const int> order);
// The largest sum of bytes alive in the arena, without scratch, as the graph stands now.
std::uint64_t live_peak(const Graph& graph);

}  // namespace plimsoll::graph
