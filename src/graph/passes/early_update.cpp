// A traced training step computes all gradients, then updates all variables: every gradient is
// alive at once. Here each update moves up to where its gradient is complete and the old value has
// been read for the last time, so that the gradient goes at once. Small values that follow from
// variables alone, learning rates and the like, are computed at the beginning.
#include <algorithm>

#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

constexpr std::uint64_t kSmallBytes = 256;

class Mover {
 public:
  explicit Mover(const Graph& graph)
      : g_(graph),
        maker_(graph.producers()),
        group_(graph.nodes.size(), -1),
        readers_(graph.readers()),
        is_output_(graph.is_output()) {}

  std::vector<int> order() {
    const int num_nodes = static_cast<int>(g_.nodes.size());
    find_first();
    std::vector<int> last_assign(g_.variables.size(), -1);
    for (int n = num_nodes; n-- > 0;) {
      if (g_.nodes[at(n)].kind == NodeKind::kAssign) {
        int& last = last_assign[at(g_.nodes[at(n)].slot)];
        if (last < 0) last = n;
        group_[at(n)] = last;  // those of one variable keep their order
      } else if (!is_first_[at(n)] && is_part_of_update(n)) {
        join(n);
      }
    }
    std::vector<std::vector<int>> members(at(num_nodes)), after(at(num_nodes));
    for (int n = 0; n < num_nodes; ++n) {
      if (group_[at(n)] >= 0) members[at(find(group_[at(n)]))].push_back(n);
    }
    for (int n = 0; n < num_nodes; ++n) {
      if (!members[at(n)].empty()) after[at(earliest(members[at(n)]))].push_back(n);
    }
    std::vector<int> order;
    for (int n = 0; n < num_nodes; ++n) {
      if (is_first_[at(n)]) order.push_back(n);
    }
    for (int n = 0; n < num_nodes; ++n) {
      if (group_[at(n)] < 0 && !is_first_[at(n)]) order.push_back(n);
      for (const int group : after[at(n)])
        order.insert(order.end(), members[at(group)].begin(), members[at(group)].end());
    }
    return order;
  }

 private:
  int find(int group) const noexcept {
    while (group_[at(group)] != group) group = group_[at(group)];
    return group;
  }

  // What can be computed before anything else, and is no burden to keep.
  void find_first() {
    is_first_.assign(g_.nodes.size(), 0);
    old_value_.assign(g_.variables.size(), kNoValue);
    for (std::size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      if (node.kind != NodeKind::kOp) {
        is_first_[n] = node.kind != NodeKind::kControl && node.kind != NodeKind::kAssign;
        if (node.kind == NodeKind::kVariable) old_value_[at(node.slot)] = node.out[0];
        continue;
      }
      if (can_fail(g_, node) || has_side_effects(node)) continue;
      is_first_[n] =
          std::ranges::all_of(node.out, [&](ValueId v) { return g_.nbytes(v) <= kSmallBytes; }) &&
          std::ranges::all_of(node.in, [&](ValueId v) {
            const int maker = maker_[at(v)];
            return is_first_[at(maker)] && g_.nodes[at(maker)].kind != NodeKind::kInput;
          });
    }
  }

  // Work that serves nothing but assigns: elementwise, of a variable's size; or any, of no more
  // than that, for one group alone.
  bool is_part_of_update(int n) const noexcept {
    const Node& node = g_.nodes[at(n)];
    if (node.kind != NodeKind::kOp || can_fail(g_, node) || has_side_effects(node)) return false;
    bool has_reader = false, is_of_one = true, is_of_size = true;
    int group = -1;
    for (const ValueId v : node.out) {
      if (is_output_[at(v)]) return false;
      for (const int reader : readers_[at(v)]) {
        if (group_[at(reader)] < 0) return false;
        has_reader = true;
        const int found = find(group_[at(reader)]);
        is_of_one &= group < 0 || found == group;
        group = found;
        const std::uint64_t assigned = g_.nbytes(g_.nodes[at(found)].in[0]);
        if (g_.nbytes(v) > assigned) return false;
        is_of_size &= g_.nbytes(v) == assigned;
      }
    }
    if (!has_reader) return false;
    return is_of_one || (is_of_size && op_def(node.op).may_alias != Alias::kNone);
  }
  // Makes one group of a node and all that reads it.
  void join(int n) {
    for (const ValueId v : g_.nodes[at(n)].out) {
      for (const int reader : readers_[at(v)]) {
        const int group = find(group_[at(reader)]);
        if (group_[at(n)] < 0) {
          group_[at(n)] = group;
        } else if (find(group_[at(n)]) != group) {
          group_[at(group)] = find(group_[at(n)]);
        }
      }
    }
  }

  // The node behind which a group can go.
  int earliest(const std::vector<int>& members) const {
    const int own = find(group_[at(members[0])]);
    int place = 0;
    const auto wait_for = [&](int n) {
      if (is_first_[at(n)] || (group_[at(n)] >= 0 && find(group_[at(n)]) == own)) return;
      // What another update makes is there only when that one is done: then stay.
      place = std::max(place, group_[at(n)] >= 0 ? members.back() : n);
    };
    for (const int m : members) {
      const Node& node = g_.nodes[at(m)];
      for (const ValueId v : node.in) wait_for(maker_[at(v)]);
      if (node.kind != NodeKind::kAssign || old_value_[at(node.slot)] == kNoValue) continue;
      // Others that read the variable's old value go first.
      for (const int reader : readers_[at(old_value_[at(node.slot)])]) wait_for(reader);
    }
    return place;
  }

  const Graph& g_;
  std::vector<int> maker_;
  std::vector<int> group_;      // by node: a member of its group, the group's own name at the end
  std::vector<char> is_first_;  // by node
  std::vector<ValueId> old_value_;  // by variable; kNoValue: it is not read
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
