// Common subexpressions: a node that does what an earlier one did gives its outputs' names to that
// one's. Random states are nodes of their own, so random ops are never alike unless they are meant
// to be.
#include <unordered_map>

#include "base/hash.h"
#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

std::uint64_t hash_node(const Node& node) noexcept {
  std::uint64_t h = hash_mix(static_cast<std::uint64_t>(node.op), node.attrs.hash());
  for (const ValueId v : node.in) h = hash_mix(h, static_cast<std::uint64_t>(v));
  return h;
}

}  // namespace

void merge_common(Graph& graph, const PassContext&) {
  std::vector<ValueId> name(graph.values.size());
  for (std::size_t v = 0; v < name.size(); ++v) name[v] = static_cast<ValueId>(v);
  std::unordered_multimap<std::uint64_t, std::size_t> seen;
  std::vector<char> keep(graph.nodes.size(), 1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    for (ValueId& v : node.in) v = name[static_cast<std::size_t>(v)];
    if (node.kind != NodeKind::kOp || node.is_recomputed || is_effect(node)) continue;
    const std::uint64_t hash = hash_node(node);
    const auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end && keep[n]; ++it) {
      const Node& before = graph.nodes[it->second];
      if (before.op != node.op || before.in != node.in || !(before.attrs == node.attrs) ||
          before.program != node.program)
        continue;
      for (std::size_t i = 0; i < node.out.size(); ++i)
        name[static_cast<std::size_t>(node.out[i])] = before.out[i];
      keep[n] = 0;
    }
    if (keep[n]) seen.emplace(hash, n);
  }
  for (ValueId& v : graph.outputs) {
    if (v != kNoValue) v = name[static_cast<std::size_t>(v)];
  }
  erase_nodes(graph, keep);
}

}  // namespace plimsoll::graph
