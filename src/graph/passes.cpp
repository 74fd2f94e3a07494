#include "graph/passes.h"

#include <algorithm>

#include "graph/storage.h"

namespace plimsoll::graph {
namespace {

constexpr Pass kPasses[] = {
    {"cse", "compute what occurs twice once", merge_common},
    {"dce", "leave out what nobody needs", remove_dead_code},
    {"recompute", "compute normalisations and cheap activations again rather than keep them",
     recompute_cheap},
    {"fuse_norm", "normalise, add and activate in one go, and back", fuse_norm},
    {"fuse_bias", "add the bias and activate while a product or convolution is written", fuse_bias},
    {"fuse_elementwise", "run chains of elementwise ops over cache-sized blocks", fuse_elementwise},
    {"early_update", "update a variable as soon as its gradient is there", update_early},
    {"order", "run nodes in the order in which the least is alive at the worst moment", find_order},
};

}  // namespace

std::span<const Pass> all_passes() noexcept {
  return kPasses;
}

bool has_kernel(const PassContext& context, OpId op, DType dtype) noexcept {
  const auto rows = context.kernels->rows(op);
  return std::ranges::any_of(rows, [&](const KernelDef* row) { return row->dtypes.has(dtype); });
}

void erase_nodes(Graph& graph, const std::vector<char>& keep) {
  std::vector<Node> kept;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (keep[n]) kept.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(kept);
}

void reorder(Graph& graph, std::span<const int> order) {
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const int n : order) nodes.push_back(std::move(graph.nodes[static_cast<std::size_t>(n)]));
  graph.nodes = std::move(nodes);
}

std::uint64_t live_peak(const Graph& graph) {
  Graph settled = graph;
  settle_assigns(settled);
  const auto live = live_bytes(settled, map_storage(settled, true));
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

}  // namespace plimsoll::graph
