#include "graph/storage.h"

#include <algorithm>

#include "memory/rounding.h"

namespace plimsoll::graph {
namespace {

bool is_view(const Node& node) noexcept {
  return node.kind == NodeKind::kOp && op_def(node.op).is_view;
}

// The value whose memory a value is, seen through views.
std::vector<ValueId> view_roots(const Graph& g) {
  std::vector<ValueId> root(g.values.size());
  for (std::size_t v = 0; v < root.size(); ++v) root[v] = static_cast<ValueId>(v);
  for (const Node& node : g.nodes) {
    if (is_view(node)) root[at(node.out[0])] = root[at(node.in[0])];
  }
  return root;
}

// Whether `node` may write output `j` over input `k`.
bool may_overwrite(const Graph& g, const Node& node, std::size_t j, std::size_t k) noexcept {
  if (node.kind != NodeKind::kOp || (j != 0 && node.op != OpId::Fused)) return false;
  switch (op_def(node.op).may_alias) {
    case Alias::kNone:
      return false;
    case Alias::kIn0:
      if (k != 0) return false;
      break;
    case Alias::kIn1:
      if (k != 1) return false;
      break;
    case Alias::kAnyIn:
      break;
  }
  return g.spec(node.in[k]) == g.spec(node.out[j]);
}

class Mapper {
 public:
  Mapper(const Graph& graph, bool in_place, std::span<const Overwritable> states)
      : g_(graph), in_place_(in_place), states_(states) {}

  StorageMap run() {
    make_storages();
    find_lifetimes();
    write_variables();
    if (in_place_) {
      for (const Overwritable& state : states_) overwrite_state(state);
      overwrite_inputs();
    }
    return finish();
  }

 private:
  int root(int s) noexcept {
    while (merged_[at(s)] >= 0) s = merged_[at(s)];
    return s;
  }
  int storage_of(ValueId v) noexcept { return root(map_.of_value[at(v)]); }
  Storage& storage(int s) noexcept { return map_.storages[at(s)]; }

  int add(Place place, int slot, ValueId v, int step) {
    map_.storages.push_back({place, slot, g_.nbytes(v), step, step, v});
    merged_.push_back(-1);
    is_taken_.push_back(-1);
    map_.of_value[at(v)] = static_cast<int>(map_.storages.size()) - 1;
    return map_.of_value[at(v)];
  }

  void make_storages() {
    map_.of_value.assign(g_.values.size(), -1);
    variable_storage_.assign(g_.variables.size(), -1);
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const Node& node = g_.nodes[at(n)];
      if (is_view(node)) {
        map_.of_value[at(node.out[0])] = map_.of_value[at(node.in[0])];
        continue;
      }
      Place place = Place::kArena;
      if (node.kind == NodeKind::kInput) place = Place::kInput;
      if (node.kind == NodeKind::kConstant) place = Place::kConstant;
      if (node.kind == NodeKind::kVariable) place = Place::kVariable;
      for (const ValueId v : node.out) {
        const int s = add(place, place == Place::kArena ? -1 : node.slot, v, n);
        if (node.kind == NodeKind::kVariable) variable_storage_[at(node.slot)] = s;
      }
    }
    for (const ValueId v : g_.outputs) {
      if (v == kNoValue) continue;
      Storage& s = storage(map_.of_value[at(v)]);
      if (s.place != Place::kArena) continue;
      s.place = Place::kOutput;
      s.slot = map_.num_output_blocks++;
    }
  }

  void find_lifetimes() {
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (is_view(g_.nodes[at(n)])) continue;
      for (const ValueId v : g_.nodes[at(n)].in) {
        Storage& s = storage(map_.of_value[at(v)]);
        s.last = std::max(s.last, n);
      }
    }
    for (Storage& s : map_.storages) {
      if (s.place == Place::kOutput) s.last = static_cast<int>(g_.nodes.size());
    }
  }

  // Has the node that makes a variable's next value write it where the variable is.
  void write_variables() {
    map_.is_in_place.assign(g_.nodes.size(), 0);
    int last_failing = -1;
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (can_fail(g_, g_.nodes[at(n)])) last_failing = n;
    }
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const Node& node = g_.nodes[at(n)];
      if (node.kind != NodeKind::kAssign) continue;
      const int made = storage_of(node.in[0]);
      const int old = variable_storage_[at(node.slot)];
      if (storage(made).place != Place::kArena || storage(made).first <= last_failing) continue;
      const int maker = storage(made).first;
      if (old >= 0 && !is_free_at(old, maker, made)) continue;
      if (old >= 0) {
        merged_[at(made)] = old;
      } else {
        storage(made).place = Place::kVariable;
        storage(made).slot = node.slot;
        variable_storage_[at(node.slot)] = made;
      }
      map_.is_in_place[at(n)] = 1;
    }
  }

  // Whether nobody reads storage `s` after step n, and at n only an op that may write `out` over
  // it.
  bool is_free_at(int s, int n, int out) noexcept {
    if (storage(s).last != n) return storage(s).last < n;
    const Node& node = g_.nodes[at(n)];
    std::size_t j = 0;
    while (j < node.out.size() && map_.of_value[at(node.out[j])] != out) ++j;
    for (std::size_t k = 0; k < node.in.size(); ++k) {
      if (storage_of(node.in[k]) == s && !may_overwrite(g_, node, j, k)) return false;
    }
    return true;
  }

  void overwrite_state(const Overwritable& state) {
    const int in = storage_of(g_.inputs[at(state.input)]);
    const int out = storage_of(g_.outputs[at(state.output)]);
    if (storage(out).place != Place::kOutput || storage(in).place != Place::kInput) return;
    int num_uses = 0;  // as results: each needs memory of its own
    for (const ValueId v : g_.outputs) num_uses += storage_of(v) == in || storage_of(v) == out;
    if (num_uses != 1 || !is_free_at(in, storage(out).first, out)) return;
    merged_[at(out)] = in;
    storage(in).place = Place::kOutput;
    storage(in).slot = storage(out).slot;
    storage(in).last = storage(out).last;
  }

  void overwrite_inputs() {
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const Node& node = g_.nodes[at(n)];
      if (node.kind != NodeKind::kOp || is_view(node)) continue;
      for (std::size_t j = 0; j < node.out.size(); ++j) overwrite_input(n, j);
    }
  }
  void overwrite_input(int n, std::size_t j) {
    const Node& node = g_.nodes[at(n)];
    const int out = map_.of_value[at(node.out[j])];
    const Place place = storage(out).place;
    if (merged_[at(out)] >= 0 || (place != Place::kArena && place != Place::kOutput)) return;
    for (std::size_t k = 0; k < node.in.size(); ++k) {
      const int in = storage_of(node.in[k]);
      Storage& from = storage(in);
      if (from.place != Place::kArena || from.nbytes != storage(out).nbytes) continue;
      if (!may_overwrite(g_, node, j, k) || !is_free_at(in, n, out) || is_taken_[at(in)] == n)
        continue;
      is_taken_[at(in)] = n;
      merged_[at(out)] = in;
      from.last = std::max(from.last, storage(out).last);
      from.place = place;
      from.slot = storage(out).slot;
      return;
    }
  }

  // Leaves out the storages that went into others.
  StorageMap finish() {
    StorageMap made;
    made.is_in_place = map_.is_in_place;
    made.num_output_blocks = map_.num_output_blocks;
    made.of_value.assign(g_.values.size(), -1);
    std::vector<int> place(map_.storages.size(), -1);
    for (std::size_t s = 0; s < map_.storages.size(); ++s) {
      if (merged_[s] >= 0) continue;
      place[s] = static_cast<int>(made.storages.size());
      made.storages.push_back(map_.storages[s]);
    }
    for (std::size_t v = 0; v < g_.values.size(); ++v) {
      if (map_.of_value[v] >= 0) made.of_value[v] = place[at(root(map_.of_value[v]))];
    }
    return made;
  }

  const Graph& g_;
  const bool in_place_;
  const std::span<const Overwritable> states_;
  StorageMap map_;
  std::vector<int> merged_;    // into which storage; -1: none
  std::vector<int> is_taken_;  // by storage: the last node that wrote a result over it
  std::vector<int> variable_storage_;
};

// Puts nodes behind others, by the index of those.
void insert_after(Graph& g, std::vector<std::vector<Node>> after) {
  std::vector<Node> nodes;
  for (std::size_t n = 0; n < after.size(); ++n) {
    nodes.push_back(std::move(g.nodes[n]));
    for (Node& node : after[n]) nodes.push_back(std::move(node));
  }
  g.nodes = std::move(nodes);
}

// Copies where a result or an assigned value is a variable's own memory, which an assign may
// change.
void copy_what_assigns_change(Graph& g) {
  const std::vector<ValueId> root = view_roots(g);
  const std::vector<int> maker = g.producers();
  std::vector<std::vector<Node>> after(g.nodes.size());
  const auto copy_if_variable = [&](ValueId v) {
    if (v == kNoValue || g.nodes[at(maker[at(root[at(v)])])].kind != NodeKind::kVariable) return v;
    Node copy{.kind = NodeKind::kOp, .op = OpId::Copy, .in = {v}};
    const ValueId made = g.add_value(g.spec(v), g.values[at(v)].tag);
    copy.out = {made};
    after[at(maker[at(v)])].push_back(std::move(copy));
    return made;
  };
  for (ValueId& v : g.outputs) v = copy_if_variable(v);
  for (Node& node : g.nodes) {
    if (node.kind == NodeKind::kAssign) node.in[0] = copy_if_variable(node.in[0]);
  }
  insert_after(g, std::move(after));
}

// Takes all assigns out, and returns the last one of each variable.
std::vector<Node> take_last_assigns(Graph& g) {
  std::vector<int> last(g.variables.size(), -1);
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[n].kind == NodeKind::kAssign) last[at(g.nodes[n].slot)] = static_cast<int>(n);
  }
  std::vector<Node> others, assigns;
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    Node& node = g.nodes[n];
    if (node.kind != NodeKind::kAssign) {
      others.push_back(std::move(node));
    } else if (last[at(node.slot)] == static_cast<int>(n)) {
      assigns.push_back(std::move(node));
    }
  }
  g.nodes = std::move(others);
  return assigns;
}

// Each behind the maker of its value, the readers of the old value and what can fail.
void place_assigns(Graph& g, std::vector<Node> assigns) {
  const std::vector<ValueId> root = view_roots(g);
  const std::vector<int> maker = g.producers();
  std::vector<int> variable_of(g.values.size(), -1), last_read(g.variables.size(), -1);
  int last_failing = -1;
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) {
    const Node& node = g.nodes[at(n)];
    if (can_fail(g, node)) last_failing = n;
    if (node.kind == NodeKind::kVariable) variable_of[at(node.out[0])] = node.slot;
    for (const ValueId v : node.in) {
      const int slot = variable_of[at(root[at(v)])];
      if (slot >= 0) last_read[at(slot)] = n;
    }
  }
  std::vector<std::vector<Node>> after(g.nodes.size());
  for (Node& assign : assigns) {
    const int n = std::max({maker[at(assign.in[0])], last_read[at(assign.slot)], last_failing});
    after[at(n)].push_back(std::move(assign));
  }
  insert_after(g, std::move(after));
}

}  // namespace

void settle_assigns(Graph& g) {
  copy_what_assigns_change(g);
  std::vector<Node> assigns = take_last_assigns(g);
  place_assigns(g, std::move(assigns));
}

StorageMap map_storage(const Graph& graph, bool in_place, std::span<const Overwritable> states) {
  return Mapper(graph, in_place, states).run();
}

std::vector<std::uint64_t> live_bytes(const Graph& graph, const StorageMap& map) {
  std::vector<std::int64_t> change(graph.nodes.size() + 2, 0);
  for (const Storage& s : map.storages) {
    if (s.place != Place::kArena) continue;
    const auto nbytes = static_cast<std::int64_t>(memory::round_up(s.nbytes, memory::kGrain));
    change[at(s.first)] += nbytes;
    change[at(s.last) + 1] -= nbytes;
  }
  std::vector<std::uint64_t> live(graph.nodes.size());
  std::int64_t sum = 0;
  for (std::size_t n = 0; n < live.size(); ++n) {
    sum += change[n];
    live[n] = static_cast<std::uint64_t>(sum);
  }
  return live;
}

}  // namespace plimsoll::graph
