// A traced training step computes all gradients, then updates all variables: every gradient is
// alive at once. Here each update moves up to where its gradient is complete and the old value has
// been read for the last time, so that the gradient goes at once.
#include <algorithm>

#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

std::size_t at(std::int64_t i) noexcept {
  return static_cast<std::size_t>(i);
}

class Mover {
 public:
  explicit Mover(Graph& graph)
      : g_(graph),
        maker_(graph.producers()),
        closure_(graph.nodes.size(), -1),
        readers_(graph.values.size()) {
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      for (const ValueId v : g_.nodes[at(n)].in) readers_[at(v)].push_back(n);
    }
    is_output_.assign(g_.values.size(), 0);
    for (const ValueId v : g_.outputs) {
      if (v != kNoValue) is_output_[at(v)] = 1;
    }
  }

  std::vector<int> order() {
    std::vector<std::vector<int>> after(g_.nodes.size());  // closures that follow a node
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (g_.nodes[at(n)].kind == NodeKind::kAssign) grow(n);
    }
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (closure_[at(n)] == n) after[at(earliest(n))].push_back(n);
    }
    std::vector<int> order;
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (closure_[at(n)] < 0) order.push_back(n);
      for (const int assign : after[at(n)]) {
        for (int m = 0; m <= assign; ++m) {
          if (closure_[at(m)] == assign) order.push_back(m);
        }
      }
    }
    return order;
  }

 private:
  // Takes into the closure of an assign what serves nothing else.
  void grow(int assign) {
    closure_[at(assign)] = assign;
    std::vector<int> todo{assign};
    while (!todo.empty()) {
      const int n = todo.back();
      todo.pop_back();
      for (const ValueId v : g_.nodes[at(n)].in) {
        const int m = maker_[at(v)];
        const Node& maker = g_.nodes[at(m)];
        if (closure_[at(m)] >= 0 || maker.kind != NodeKind::kOp || !serves_only(maker, assign))
          continue;
        closure_[at(m)] = assign;
        todo.push_back(m);
      }
    }
  }
  bool serves_only(const Node& node, int assign) const noexcept {
    for (const ValueId v : node.out) {
      if (is_output_[at(v)]) return false;
      for (const int reader : readers_[at(v)]) {
        if (closure_[at(reader)] != assign) return false;
      }
    }
    return true;
  }
  // The node behind which the closure can go: outside of any closure, or an assign whose own
  // closure stands behind its place.
  int earliest(int assign) const {
    int place = 0;
    const auto wait_for = [&](int n) {
      if (closure_[at(n)] == assign) return;
      // What another update makes is there only when that one is done; leave this where it was.
      place = std::max(place, closure_[at(n)] >= 0 ? assign : n);
    };
    for (int m = 0; m <= assign; ++m) {
      if (closure_[at(m)] != assign) continue;
      for (const ValueId v : g_.nodes[at(m)].in) {
        wait_for(maker_[at(v)]);
        // Others that read a variable's old value go first.
        if (g_.nodes[at(maker_[at(v)])].kind != NodeKind::kVariable) continue;
        for (const int reader : readers_[at(v)]) wait_for(reader);
      }
    }
    return place;
  }

  const Graph& g_;
  std::vector<int> maker_;
  std::vector<int> closure_;  // by node: the assign that it serves alone; -1: none
  std::vector<std::vector<int>> readers_;
  std::vector<char> is_output_;
};

}  // namespace

void update_early(Graph& graph, const PassContext&) {
  Graph moved = graph;
  reorder(moved, Mover(graph).order());
  if (!moved.validate().empty()) return;  // updates that depend on each other in a ring of places
  if (live_peak(moved) < live_peak(graph)) graph = std::move(moved);
}

}  // namespace plimsoll::graph
