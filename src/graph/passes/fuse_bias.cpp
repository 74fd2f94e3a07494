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
  const bool is_product = node.kind == NodeKind::kOp && node.op == OpId::MatMul;
  const bool is_conv = node.kind == NodeKind::kOp && node.op == OpId::Conv2D &&
                       node.attrs[attr::Conv2D::data_format].as_int() ==
                           static_cast<std::int64_t>(DataFormat::kNhwc);
  if (!is_product && !is_conv) return {};
  if (g.spec(node.out[0]).shape.num_elements() == 0) return {};
  if (is_product) return OpId::MatMulBias;
  if (g.spec(node.in[0]).shape.num_elements() == 0) return {};
  return OpId::Conv2DBias;
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
    // The product may be seen under another shape first: [batch, rows, columns].
    int view = links.sole_reader(node.out[0]);
    if (!is_op(graph, view, OpId::Reshape)) view = -1;
    const ValueId product = view < 0 ? node.out[0] : graph.nodes[at(view)].out[0];
    const Shape& shape = graph.spec(product).shape;
    const int sum = links.sole_reader(product);
    if (!has_kernel(context, *fused, spec.dtype) || !is_op(graph, sum, OpId::Add)) continue;
    const auto& in = graph.nodes[at(sum)].in;
    const ValueId bias = in[0] == product ? in[1] : in[0];
    const Shape columns({spec.shape.dim(spec.shape.rank() - 1)});
    // The op stands where the product does: its bias has to be there.
    if (bias == product || !(graph.spec(bias) == TensorSpec{spec.dtype, columns}) ||
        shape.rank() == 0 || shape.dim(shape.rank() - 1) != columns.dim(0) ||
        links.maker(bias) > static_cast<int>(n))
      continue;
    const int behind = links.sole_reader(graph.nodes[at(sum)].out[0]);
    std::optional<Activation> activation;
    if (behind >= 0 && graph.nodes[at(behind)].kind == NodeKind::kOp)
      activation = activation_of(graph.nodes[at(behind)].op);
    const int last = activation ? behind : sum;
    node.op = *fused;
    node.attrs = attrs_with(node.attrs, activation.value_or(Activation::kNone));
    node.in.push_back(bias);
    (view < 0 ? node : graph.nodes[at(view)]).out[0] = graph.nodes[at(last)].out[0];
    for (const int gone : {sum, last}) {
      graph.nodes[at(gone)].in.clear();
      graph.nodes[at(gone)].out.clear();
      keep[at(gone)] = 0;
    }
    links = Links(graph);
  }
  erase_nodes(graph, keep);
}

}  // namespace plimsoll::graph
