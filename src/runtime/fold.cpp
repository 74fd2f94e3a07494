#include "runtime/fold.h"

#include "plimsoll/device.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

using graph::Node;
using graph::NodeKind;
using graph::ValueId;

constexpr std::uint64_t kMaxBytes = 64U << 10;  // larger results are cheaper to make than to keep

}  // namespace

void fold_constants(graph::Graph& g, const Device& home) {
  const DeviceScope scope = plimsoll::device(home.full_name());
  std::vector<Tensor> known(g.values.size());
  std::vector<Node> nodes;
  for (Node& node : g.nodes) {
    if (node.kind == NodeKind::kConstant)
      known[static_cast<std::size_t>(node.out[0])] =
          g.constants[static_cast<std::size_t>(node.slot)];
    bool is_known =
        node.kind == NodeKind::kOp && !op_def(node.op).is_random && !graph::is_effect(node);
    std::vector<Tensor> in;
    for (const ValueId v : node.in) {
      in.push_back(known[static_cast<std::size_t>(v)]);
      is_known = is_known && in.back().is_valid();
    }
    for (const ValueId v : node.out) is_known = is_known && g.nbytes(v) <= kMaxBytes;
    if (!is_known) {
      nodes.push_back(std::move(node));
      continue;
    }
    const std::vector<Tensor> made = call_all(node.op, in, node.attrs);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const ValueId v = node.out[i];
      known[static_cast<std::size_t>(v)] = made[i];
      Node constant;
      constant.kind = NodeKind::kConstant;
      constant.slot = static_cast<int>(g.constants.size());
      constant.out = {v};
      constant.scope = node.scope;
      g.constants.push_back(made[i]);
      nodes.push_back(std::move(constant));
    }
  }
  g.nodes = std::move(nodes);
}

}  // namespace plimsoll
