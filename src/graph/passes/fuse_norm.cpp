// A batch norm, the tensor that is added to its result and the activation behind become one op,
// which goes over its tensors once. A gradient that comes back through such an activation goes
// straight into the gradient of the batch norm, which finds again what was active.
#include <optional>

#include "graph/passes.h"
#include "ops/activation_kind.h"

namespace plimsoll::graph {
namespace {

class NormFuser {
 public:
  NormFuser(Graph& graph, const PassContext& context) : g_(graph), context_(context) {}

  void run() {
    links_ = Links(g_);
    keep_.assign(g_.nodes.size(), 1);
    for (std::size_t n = 0; n < g_.nodes.size(); ++n) fuse_forward(static_cast<int>(n));
    erase_nodes(g_, keep_);
    links_ = Links(g_);
    for (Node& node : g_.nodes) fuse_backward(node);
    remove_dead_code(g_, context_);
  }

 private:
  std::optional<Activation> activation_at(int n) const noexcept {
    if (n < 0 || g_.nodes[at(n)].kind != NodeKind::kOp) return std::nullopt;
    return activation_of(g_.nodes[at(n)].op);
  }

  void fuse_forward(int n) {
    const Node& norm = g_.nodes[at(n)];
    const bool is_training = is_op(g_, n, OpId::BatchNorm);
    if (!is_training && !is_op(g_, n, OpId::BatchNormInference)) return;
    const OpId fused = is_training ? OpId::BatchNormAct : OpId::BatchNormActInference;
    const TensorSpec spec = g_.spec(norm.out[0]);
    if (!has_kernel(context_, fused, spec.dtype)) return;

    const int last = links_.sole_reader(norm.out[0]);
    ValueId added = kNoValue;
    if (is_op(g_, last, OpId::Add)) {
      const Node& sum = g_.nodes[at(last)];
      added = sum.in[0] == norm.out[0] ? sum.in[1] : sum.in[0];
      if (added == norm.out[0] || !(g_.spec(added) == spec)) return;
    }
    // The op stands where the norm does, or the addition if what is added comes later. Statistics
    // may be read in between.
    const int place = added != kNoValue && links_.maker(added) > n ? last : n;
    if (is_training && place != n) return;
    const int behind = added == kNoValue ? last : links_.sole_reader(g_.nodes[at(last)].out[0]);
    const auto activation = activation_at(behind);
    if (!activation && added == kNoValue) return;
    Node made = norm;
    made.op = fused;
    made.attrs = {norm.attrs[attr::BatchNorm::epsilon],
                  static_cast<std::int64_t>(activation.value_or(Activation::kNone))};
    if (added != kNoValue) made.in.push_back(added);
    made.out[0] = g_.nodes[at(activation ? behind : last)].out[0];
    for (const int gone : {n, last, activation ? behind : last}) drop(gone);
    g_.nodes[at(place)] = std::move(made);
    keep_[at(place)] = 1;
    links_ = Links(g_);
  }
  void drop(int n) {
    g_.nodes[at(n)].in.clear();
    g_.nodes[at(n)].out.clear();
    keep_[at(n)] = 0;
  }

  void fuse_backward(Node& grad) const {
    if (grad.kind != NodeKind::kOp || grad.op != OpId::BatchNormGrad) return;
    if (!has_kernel(context_, OpId::BatchNormActGrad, g_.spec(grad.in[1]).dtype)) return;
    const int gate = links_.maker(grad.in[0]);
    if (gate < 0 || links_.sole_reader(grad.in[0]) < 0) return;
    const Node& gated = g_.nodes[at(gate)];
    if (gated.kind != NodeKind::kOp || gated.in.size() != 2) return;
    const int from = links_.maker(gated.in[1]);
    if (!is_op(g_, from, OpId::BatchNormAct) && !is_op(g_, from, OpId::BatchNormActInference))
      return;
    const Node& norm = g_.nodes[at(from)];
    const bool is_training = norm.op == OpId::BatchNormAct;
    if (norm.in.size() != (is_training ? 3 : 5)) return;  // it adds something
    const auto activation =
        static_cast<Activation>(norm.attrs[attr::BatchNormAct::activation].as_int());
    if (gradient_of(activation) != gated.op) return;
    const ValueId mean = is_training ? norm.out[1] : norm.in[3];
    const ValueId variance = is_training ? norm.out[2] : norm.in[4];
    if (norm.in[0] != grad.in[1] || norm.in[1] != grad.in[2] || mean != grad.in[3] ||
        variance != grad.in[4] || !(norm.attrs[0] == grad.attrs[0]))
      return;
    grad.op = OpId::BatchNormActGrad;
    grad.attrs = norm.attrs;
    grad.in[0] = gated.in[0];
    grad.in.push_back(norm.in[2]);
  }

  Graph& g_;
  const PassContext& context_;
  Links links_;
  std::vector<char> keep_;  // by node
};

}  // namespace

void fuse_norm(Graph& graph, const PassContext& context) {
  NormFuser(graph, context).run();
}

}  // namespace plimsoll::graph
