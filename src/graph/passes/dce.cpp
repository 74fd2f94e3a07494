#include "graph/control.h"
#include "graph/passes.h"

namespace plimsoll::graph {

void remove_dead_code(Graph& graph, const PassContext&) {
  std::vector<char> is_needed(graph.values.size(), 0), keep(graph.nodes.size(), 0);
  for (const ValueId v : graph.outputs) {
    if (v != kNoValue) is_needed[static_cast<std::size_t>(v)] = 1;
  }
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    bool is_live = has_side_effects(node);
    for (const ValueId v : node.out) is_live |= is_needed[static_cast<std::size_t>(v)] != 0;
    if (!is_live) continue;
    keep[n] = 1;
    if (node.control) prune_control(node, is_needed);
    for (const ValueId v : node.in) is_needed[static_cast<std::size_t>(v)] = 1;
  }
  erase_nodes(graph, keep);
}

}  // namespace plimsoll::graph
