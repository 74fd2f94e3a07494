// Outputs of normalisations, casts and cheap activations are computed again in the backward pass,
// from values that are kept anyway, instead of being kept themselves. A chain (normalise, add the
// shortcut, activate) is computed again as a whole, so that only what is expensive to get, the
// convolutions' and matmuls' outputs, stays.
#include <algorithm>
#include <unordered_map>

#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

constexpr std::uint64_t kSmall = 32U << 10;  // bytes that are not worth it
constexpr int kMaxDepth = 32;                // of a chain
constexpr double kWorthwhile = 0.97;         // of the peak before

// Whether computing it again costs about as much as reading it.
bool is_cheap(OpId op) noexcept {
  switch (op) {
    case OpId::BatchNorm:
    case OpId::BatchNormInference:
    case OpId::LayerNorm:
    case OpId::RmsNorm:
    case OpId::Relu:
    case OpId::Relu6:
    case OpId::LeakyRelu:
    case OpId::HardSigmoid:
    case OpId::HardSilu:
    case OpId::Add:
    case OpId::Sub:
    case OpId::Mul:
    case OpId::Maximum:
    case OpId::Minimum:
    case OpId::Neg:
    case OpId::Square:
    case OpId::Cast:  // of weights to 16 bit above all
      return true;
    default:
      return op_def(op).is_view;
  }
}

class Recomputer {
 public:
  // `before` is read, `after` is made of it.
  Recomputer(const Graph& before, Graph& after)
      : old_(before), g_(after), maker_(before.producers()) {
    is_read_back_.assign(old_.values.size(), 0);
    for (const Node& node : old_.nodes) {
      if (!node.is_backward) continue;
      for (const ValueId v : node.in) is_read_back_[at(v)] = 1;
    }
  }

  void run() {
    g_.nodes.clear();
    for (const Node& node : old_.nodes) {
      Node copy = node;
      if (node.is_backward) {
        for (ValueId& v : copy.in) {
          if (is_worth(v)) v = again(v);
        }
      }
      g_.nodes.push_back(std::move(copy));
    }
  }

 private:
  const Node& maker(ValueId v) const { return old_.nodes[at(maker_[at(v)])]; }

  bool is_candidate(ValueId v) const {
    const Node& node = maker(v);
    return node.kind == NodeKind::kOp && !node.is_backward && is_cheap(node.op) &&
           node.out[0] == v && is_floating(g_.spec(v).dtype);
  }

  // Whether a chain goes on through a value: one that is kept for somebody else is where it begins.
  bool is_inside(ValueId v) {
    return is_candidate(v) && (!is_read_back_[at(v)] || is_worth(v) || op_def(maker(v).op).is_view);
  }

  // The values that a chain begins with.
  void leaves(ValueId v, int depth, std::vector<ValueId>& found) {
    for (const ValueId u : maker(v).in) {
      if (depth < kMaxDepth && is_inside(u)) {
        leaves(u, depth + 1, found);
      } else if (std::ranges::find(found, u) == found.end()) {
        found.push_back(u);
      }
    }
  }

  bool is_worth(ValueId v) {
    const auto known = worth_.find(v);
    if (known != worth_.end()) return known->second;
    bool is = is_candidate(v) && g_.nbytes(v) >= kSmall && !op_def(maker(v).op).is_view;
    if (is) {
      std::vector<ValueId> from;
      leaves(v, 0, from);
      std::uint64_t kept_for_it = 0;
      for (const ValueId u : from) {
        const Node& node = maker(u);
        const bool is_made = node.kind == NodeKind::kOp || node.kind == NodeKind::kControl;
        if (is_made && !is_read_back_[at(u)]) kept_for_it += g_.nbytes(u);
      }
      is = kept_for_it < g_.nbytes(v) / 2;
    }
    worth_.emplace(v, is);
    return is;
  }

  // The value, computed again at this place of the new graph.
  ValueId again(ValueId v) {
    const auto known = again_.find(v);
    if (known != again_.end()) return known->second;
    const Node& from = maker(v);
    Node node;
    node.kind = from.kind;
    node.op = from.op;
    node.attrs = from.attrs;
    node.scope = from.scope;
    node.is_backward = true;
    node.is_recomputed = true;
    for (const ValueId u : from.in) node.in.push_back(is_inside(u) ? again(u) : u);
    if (from.op == OpId::BatchNorm) {  // with the statistics that it found
      node.op = OpId::BatchNormInference;
      node.in.push_back(from.out[1]);
      node.in.push_back(from.out[2]);
    }
    const ValueId made = g_.add_value(g_.spec(v), g_.values[at(v)].tag);
    node.out = {made};
    g_.nodes.push_back(std::move(node));
    again_.emplace(v, made);
    return made;
  }

  const Graph& old_;
  Graph& g_;
  std::vector<int> maker_;
  std::vector<char> is_read_back_;  // by value: a backward node reads it
  std::unordered_map<ValueId, bool> worth_;
  std::unordered_map<ValueId, ValueId> again_;
};

}  // namespace

void recompute_cheap(Graph& graph, const PassContext&) {
  Graph changed = graph;
  Recomputer(graph, changed).run();
  const auto before = static_cast<double>(live_peak(graph));
  if (static_cast<double>(live_peak(changed)) < kWorthwhile * before) graph = std::move(changed);
}

}  // namespace plimsoll::graph
