// A product of matrices or a convolution, the bias that is added to it and the activation behind
// become one op, which writes its result once.
#include <optional>

#include "graph/passes.h"
#include "ops/activation_kind.h"
#include "ops/conv_shape.h"

namespace plimsoll::graph {
namespace {

bool is_op(const Graph& g, int n, OpId op) noexcept {
  return n >= 0 && g.nodes[at(n)].kind == NodeKind::kOp && g.nodes[at(n)].op == op;
}

// The op with a bias; none if the node has no such form.
std::optional<OpId> with_bias(const Graph& g, const Node& node) noexcept {
  if (node.kind != NodeKind::kOp || g.spec(node.out[0]).shape.num_elements() == 0) return {};
  if (node.op == OpId::MatMul) return OpId::MatMulBias;
  const bool has_channels_last =
      node.op == OpId::Conv2D && node.attrs[attr::Conv2D::data_format].as_int() ==
                                     static_cast<std::int64_t>(DataFormat::kNhwc);
  if (has_channels_last && g.spec(node.in[0]).shape.num_elements() > 0) return OpId::Conv2DBias;
  return {};
}

Attrs attrs_with(const Attrs& attrs, Activation activation) {
  const auto last = static_cast<std::int64_t>(activation);
  if (attrs.size() == 2) return {attrs[0], attrs[1], last};
  return {attrs[0], attrs[1], attrs[2], attrs[3], attrs[4], last};
}

}  // namespace

void fuse_bias(Graph& graph, const PassContext& context) {
  Links links(graph);
  std::vector<char> keep(graph.nodes.size(), 1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    const auto fused = with_bias(graph, node);
    if (!fused) continue;
    const TensorSpec& spec = graph.spec(node.out[0]);
    const int sum = links.sole_reader(node.out[0]);
    if (!has_kernel(context, *fused, spec.dtype) || !is_op(graph, sum, OpId::Add)) continue;
    const auto& in = graph.nodes[at(sum)].in;
    const ValueId bias = in[0] == node.out[0] ? in[1] : in[0];
    const Shape columns({spec.shape.dim(spec.shape.rank() - 1)});
    // The op stands where the product does: its bias has to be there.
    if (bias == node.out[0] || !(graph.spec(bias) == TensorSpec{spec.dtype, columns}) ||
        links.maker(bias) > static_cast<int>(n))
      continue;
    const int behind = links.sole_reader(graph.nodes[at(sum)].out[0]);
    std::optional<Activation> activation;
    if (behind >= 0 && graph.nodes[at(behind)].kind == NodeKind::kOp)
      activation = activation_of(graph.nodes[at(behind)].op);
    node.op = *fused;
    node.attrs = attrs_with(node.attrs, activation.value_or(Activation::kNone));
    node.in.push_back(bias);
    node.out[0] = graph.nodes[at(activation ? behind : sum)].out[0];
    for (const int gone : {sum, activation ? behind : sum}) {
      graph.nodes[at(gone)].in.clear();
      graph.nodes[at(gone)].out.clear();
      keep[at(gone)] = 0;
    }
    links = Links(graph);
  }
  erase_nodes(graph, keep);
}

}  // namespace plimsoll::graph
