// Chains and bushes of elementwise ops of one shape become one Fused node, which reads each input
// and writes each result once; what lies between never gets memory. A node joins the group of an op
// whose result it reads if nobody outside of the group needs that group's results before the node.
#include <algorithm>
#include <numeric>

#include "graph/passes.h"

namespace plimsoll::graph {
namespace {

constexpr std::size_t kMaxMembers = 24;
constexpr std::size_t kMaxInputs = 12;
constexpr std::size_t kMaxOutputs = 6;

// Ops of scalar_ops.def whose result has the type of their operands.
bool is_scalar_op(OpId op) noexcept {
  switch (op) {
#define UNARY(Name, ...) case OpId::Name:
#define BINARY(Name, ...) case OpId::Name:
#define CHECKED(Name, ...) case OpId::Name:
#define TEST(Name, ...)
#define COMPARE(Name, ...)
#include "ops/scalar_ops.def"
#undef UNARY
#undef BINARY
#undef CHECKED
#undef TEST
#undef COMPARE
    return true;
    default:
      return false;
  }
}

class Fuser {
 public:
  explicit Fuser(Graph& graph)
      : g_(graph),
        maker_(graph.producers()),
        readers_(graph.readers()),
        is_output_(graph.is_output()) {
    group_.resize(g_.nodes.size());
    std::iota(group_.begin(), group_.end(), 0);
    members_.resize(g_.nodes.size());
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) members_[at(n)] = {n};
  }

  void run() {
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      if (!is_fusable(n)) continue;
      for (const ValueId v : g_.nodes[at(n)].in) {
        const int from = maker_[at(v)];
        if (is_fusable(from) && shape_of(from) == shape_of(n) &&
            dtype_of_node(from) == dtype_of_node(n))
          try_merge(group_[at(from)], group_[at(n)]);
      }
    }
    rebuild();
  }

 private:
  const Shape& shape_of(int n) const noexcept { return g_.spec(g_.nodes[at(n)].out[0]).shape; }
  DType dtype_of_node(int n) const noexcept { return g_.spec(g_.nodes[at(n)].out[0]).dtype; }

  bool is_fusable(int n) const noexcept {
    const Node& node = g_.nodes[at(n)];
    if (node.kind != NodeKind::kOp || !is_scalar_op(node.op)) return false;
    const TensorSpec& out = g_.spec(node.out[0]);
    if (out.dtype != DType::kFloat32 && out.dtype != DType::kFloat64) return false;
    if (out.shape.num_elements() < 2) return false;
    return std::ranges::all_of(node.in, [&](ValueId v) {
      return g_.spec(v).dtype == out.dtype &&
             fused_reach(g_.spec(v).shape, out.shape) != FusedReach::kNot;
    });
  }

  // The values that a set of nodes takes from others, and gives to others.
  struct Boundary {
    std::vector<ValueId> in, out;
  };
  Boundary boundary(const std::vector<int>& nodes) const {
    Boundary b;
    const auto is_member = [&](int n) { return std::ranges::binary_search(nodes, n); };
    for (const int n : nodes) {
      for (const ValueId v : g_.nodes[at(n)].in) {
        if (!is_member(maker_[at(v)]) && std::ranges::find(b.in, v) == b.in.end())
          b.in.push_back(v);
      }
      for (const ValueId v : g_.nodes[at(n)].out) {
        if (is_output_[at(v)] || !std::ranges::all_of(readers_[at(v)], is_member))
          b.out.push_back(v);
      }
    }
    return b;
  }

  void try_merge(int a, int b) {
    if (a == b) return;
    std::vector<int> merged;
    std::ranges::merge(members_[at(a)], members_[at(b)], std::back_inserter(merged));
    if (merged.size() > kMaxMembers) return;
    const Boundary edge = boundary(merged);
    if (edge.in.size() > kMaxInputs || edge.out.size() > kMaxOutputs) return;
    // The group stands where its last member does. Assigns follow by themselves.
    for (const ValueId v : edge.out) {
      for (const int reader : readers_[at(v)]) {
        if (reader < merged.back() && g_.nodes[at(reader)].kind != NodeKind::kAssign &&
            !std::ranges::binary_search(merged, reader))
          return;
      }
    }
    for (const int n : merged) group_[at(n)] = b;
    members_[at(b)] = std::move(merged);
    members_[at(a)].clear();
  }

  Node fused(const std::vector<int>& nodes) const {
    const Boundary edge = boundary(nodes);
    auto program = std::make_shared<FusedProgram>();
    Node made = g_.nodes[at(nodes.back())];
    made.op = OpId::Fused;
    made.attrs = Attrs();
    made.in = edge.in;
    made.out = edge.out;
    std::vector<int> step_of(g_.nodes.size(), -1);
    const auto operand = [&](ValueId v) {
      const int step = step_of[at(maker_[at(v)])];
      if (step >= 0) return ~step;
      return static_cast<int>(std::ranges::find(edge.in, v) - edge.in.begin());
    };
    for (const int n : nodes) {
      const Node& node = g_.nodes[at(n)];
      FusedProgram::Step step{.op = node.op,
                              .a = node.attrs.size() ? node.attrs[0].as_float() : 0,
                              .x = operand(node.in[0])};
      if (node.in.size() > 1) step.y = operand(node.in[1]);
      step_of[at(n)] = static_cast<int>(program->steps.size());
      program->steps.push_back(step);
    }
    for (const ValueId v : edge.out) program->outputs.push_back(step_of[at(maker_[at(v)])]);
    made.program = std::move(program);
    return made;
  }

  void rebuild() {
    std::vector<Node> nodes;
    std::vector<int> waiting;  // assigns whose value moved behind them
    std::vector<char> is_made(g_.values.size(), 0);
    const auto put = [&](Node node) {
      for (const ValueId v : node.out) is_made[at(v)] = 1;
      nodes.push_back(std::move(node));
    };
    for (int n = 0; n < static_cast<int>(g_.nodes.size()); ++n) {
      const std::vector<int>& group = members_[at(group_[at(n)])];
      if (group.size() < 2) {
        if (g_.nodes[at(n)].kind == NodeKind::kAssign && !is_made[at(g_.nodes[at(n)].in[0])]) {
          waiting.push_back(n);
          continue;
        }
        put(g_.nodes[at(n)]);
      } else if (group.back() == n) {
        put(fused(group));
        std::erase_if(waiting, [&](int assign) {
          if (!is_made[at(g_.nodes[at(assign)].in[0])]) return false;
          put(g_.nodes[at(assign)]);
          return true;
        });
      }
    }
    g_.nodes = std::move(nodes);
  }

  Graph& g_;
  std::vector<int> maker_;
  std::vector<std::vector<int>> readers_;
  std::vector<char> is_output_;
  std::vector<int> group_;                 // by node
  std::vector<std::vector<int>> members_;  // by group, ascending
};

}  // namespace

void fuse_elementwise(Graph& graph, const PassContext&) {
  Fuser(graph).run();
}

}  // namespace plimsoll::graph
