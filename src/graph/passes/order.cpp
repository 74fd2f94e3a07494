// Looks for an order of the nodes in which less is alive at the worst moment: from the first node
// on, the one that can run and frees the most, or costs the least, goes next. The order of the
// trace stays where that is no better.
#include <algorithm>

#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

class Scheduler {
 public:
  explicit Scheduler(const Graph& graph) : g_(graph) {
    find_roots();
    find_edges();
  }

  std::vector<int> order() {
    std::vector<int> order;
    std::vector<int> ready;
    const auto put = [&](int n) {
      order.push_back(n);
      for (const ValueId root : reads_[at(n)]) --num_readers_[at(root)];
      for (const int next : after_[at(n)]) {
        if (--num_missing_[at(next)] == 0) ready.push_back(next);
      }
    };
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (num_missing_[at(n)] == 0) ready.push_back(n);
    }
    while (!ready.empty()) {
      const auto best = std::ranges::min_element(ready, [&](int a, int b) {
        const std::int64_t cost_a = cost(a), cost_b = cost(b);
        return cost_a != cost_b ? cost_a < cost_b : a < b;
      });
      const int n = *best;
      ready.erase(best);
      put(n);
    }
    return order;
  }

 private:
  bool is_view(const Node& node) const noexcept {
    return node.kind == NodeKind::kOp && op_def(node.op).is_view;
  }

  // The values whose memory others are, seen through views; only what ops make is counted.
  void find_roots() {
    root_.resize(g_.values.size());
    counts_.assign(g_.values.size(), 0);
    for (const Node& node : g_.nodes) {
      for (const ValueId v : node.out) {
        root_[at(v)] = is_view(node) ? root_[at(node.in[0])] : v;
        const bool is_made = node.kind == NodeKind::kOp || node.kind == NodeKind::kControl;
        counts_[at(v)] = is_made && !is_view(node);
      }
    }
    for (const ValueId v : g_.outputs) {
      if (v != kNoValue) counts_[at(root_[at(v)])] = 0;  // alive to the end in any order
    }
  }

  void find_edges() {
    const std::vector<int> maker = g_.producers();
    reads_.resize(g_.nodes.size());
    after_.resize(g_.nodes.size());
    num_missing_.assign(g_.nodes.size(), 0);
    num_readers_.assign(g_.values.size(), 0);
    const auto add_edge = [&](int from, int to) {
      after_[at(from)].push_back(to);
      ++num_missing_[at(to)];
    };
    std::vector<int> last_assign(g_.variables.size(), -1);
    int last_effect = -1;
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const Node& node = g_.nodes[at(n)];
      for (const ValueId v : node.in) {
        add_edge(maker[at(v)], n);
        std::vector<ValueId>& reads = reads_[at(n)];
        if (is_view(node) || std::ranges::find(reads, root_[at(v)]) != reads.end()) continue;
        reads.push_back(root_[at(v)]);
        ++num_readers_[at(root_[at(v)])];
      }
      // Side effects keep their order: assigns that of their variable, others that of the trace.
      if (node.kind == NodeKind::kAssign) {
        int& before = last_assign[at(node.slot)];
        if (before >= 0) add_edge(before, n);
        before = n;
      } else if (node.kind != NodeKind::kInput && has_side_effects(node)) {
        if (last_effect >= 0) add_edge(last_effect, n);
        last_effect = n;
      }
    }
  }

  // Bytes that come alive with a node, less those that go.
  std::int64_t cost(int n) const noexcept {
    const Node& node = g_.nodes[at(n)];
    std::int64_t bytes = 0;
    for (const ValueId v : node.out) {
      if (counts_[at(v)]) bytes += static_cast<std::int64_t>(g_.nbytes(v));
    }
    for (const ValueId root : reads_[at(n)]) {
      if (counts_[at(root)] && num_readers_[at(root)] == 1)
        bytes -= static_cast<std::int64_t>(g_.nbytes(root));
    }
    return bytes;
  }

  const Graph& g_;
  std::vector<ValueId> root_;                // by value
  std::vector<char> counts_;                 // by value: memory that an order can save
  std::vector<int> num_readers_;             // by root: nodes to come
  std::vector<std::vector<ValueId>> reads_;  // by node: roots
  std::vector<std::vector<int>> after_;      // by node: those that wait for it
  std::vector<int> num_missing_;             // by node: those that it waits for
};

}  // namespace

void find_order(Graph& graph, const PassContext&) {
  Graph moved = graph;
  reorder(moved, Scheduler(graph).order());
  if (live_peak(moved) < live_peak(graph)) graph = std::move(moved);
}

}  // namespace plimsoll::graph
