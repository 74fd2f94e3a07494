// Passes over a graph, one file each in graph/passes/. Each keeps the meaning of the graph and can
// be switched off (PLIMSOLL_PASSES).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "backend/api/kernel.h"
#include "graph/graph.h"

namespace plimsoll::graph {

// What passes know of the world.
struct PassContext {
  const KernelTable* kernels = nullptr;  // of the device that the graph will run on
};

struct Pass {
  std::string_view name;
  std::string_view what;  // in a few words
  void (*run)(Graph&, const PassContext&);
};

// In the order in which they run.
std::span<const Pass> all_passes() noexcept;

void remove_dead_code(Graph&, const PassContext&);
void merge_common(Graph&, const PassContext&);
void recompute_cheap(Graph&, const PassContext&);
void fuse_norm(Graph&, const PassContext&);
void fuse_bias(Graph&, const PassContext&);
void fuse_elementwise(Graph&, const PassContext&);
void update_early(Graph&, const PassContext&);
void find_order(Graph&, const PassContext&);

// Whether node `n` is a call of this op; not for -1.
inline bool is_op(const Graph& graph, int n, OpId op) noexcept {
  return n >= 0 && graph.nodes[at(n)].kind == NodeKind::kOp && graph.nodes[at(n)].op == op;
}
// Whether the device has a kernel of an op for this type.
bool has_kernel(const PassContext& context, OpId op, DType dtype) noexcept;

// Who makes a value and who reads it, as the graph stands now.
class Links {
 public:
  Links() = default;
  explicit Links(const Graph& graph)
      : makers_(graph.producers()), readers_(graph.readers()), is_output_(graph.is_output()) {}

  int maker(ValueId v) const noexcept { return makers_[at(v)]; }
  // The node that is alone in reading a value; -1 for none, several, or a result of the graph.
  int sole_reader(ValueId v) const noexcept {
    return is_output_[at(v)] || readers_[at(v)].size() != 1 ? -1 : readers_[at(v)][0];
  }

 private:
  std::vector<int> makers_;
  std::vector<std::vector<int>> readers_;
  std::vector<char> is_output_;
};

// Leaves out nodes that nobody needs; `keep` by node.
void erase_nodes(Graph& graph, const std::vector<char>& keep);
// Puts the nodes into another order, given as indices. pre: a permutation, sound.
void reorder(Graph& graph, std::span<const int> order);
// The largest sum of bytes alive in the arena, without scratch, as the graph stands now.
std::uint64_t live_peak(const Graph& graph);

}  // namespace plimsoll::graph
