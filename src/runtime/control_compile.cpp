#include "memory/rounding.h"
#include "runtime/compile.h"
#include "runtime/control_step.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Control;
using graph::Place;

// Lays out the scratch of a loop.
class LoopLayout {
 public:
  LoopLayout(const graph::Graph& g, const graph::Node& node, CompiledControl& made)
      : g_(g), node_(node), c_(*node.control), body_(made.bodies[0]), made_(made) {}

  void run() {
    for (const Control::Body& body : c_.bodies) {
      for (const Control::Arg& arg : body.args) {
        if (arg.kind == Control::Arg::Kind::kIndex && made_.index_at < 0)
          made_.index_at = take(sizeof(std::int64_t));
      }
    }
    if (c_.has_condition()) made_.predicate_at = static_cast<std::uint64_t>(take(1));
    for (std::size_t e = 0; e < c_.elements.size(); ++e) {
      const std::uint64_t nbytes = row_bytes(node_.in[at(c_.elements[e].stack)]);
      made_.element_at.push_back(is_aligned(nbytes) ? CompiledControl::kNone : take(nbytes));
    }
    choose_outputs();
    for (std::size_t k = 0; k < c_.states.size(); ++k) made_.state_at.push_back(state_buffers(k));
    for (std::size_t j = 0; j < c_.rows.size(); ++j) {
      const auto output = static_cast<int>(c_.states.size() + j);
      const int block = block_of(at(output));
      const bool is_own = block >= 0 && made_.block_output[at(block)] == output;
      made_.row_at.push_back(is_own && !is_row_aligned(j)
                                 ? take(row_bytes(node_.out[at(c_.rows[j])]))
                                 : CompiledControl::kNone);
    }
    made_.arena_at = size_;
  }

 private:
  std::int64_t take(std::uint64_t nbytes) {
    const std::uint64_t offset = size_;
    size_ += memory::round_up(nbytes, memory::kGrain);
    return static_cast<std::int64_t>(offset);
  }
  static bool is_aligned(std::uint64_t nbytes) { return nbytes % memory::kGrain == 0; }
  std::uint64_t row_bytes(graph::ValueId stack) const {
    const std::int64_t num = g_.spec(stack).shape.dim(0);
    return num ? g_.nbytes(stack) / static_cast<std::uint64_t>(num) : 0;
  }
  bool is_row_aligned(std::size_t j) const {
    return is_aligned(row_bytes(node_.out[at(c_.rows[j])]));
  }

  // The block that an output of the body is in; -1: it is an input or a constant.
  int block_of(std::size_t output) const {
    const graph::Storage& s = body_.storage.storage_of(body_.graph.outputs[output]);
    return s.place == Place::kOutput ? s.slot : -1;
  }

  // A block is written where its row goes, if that is aligned; else where its state goes.
  void choose_outputs() {
    made_.block_output.assign(at(body_.storage.num_output_blocks), -1);
    const auto choose = [&](std::size_t output) {
      const int block = block_of(output);
      if (block >= 0 && made_.block_output[at(block)] < 0)
        made_.block_output[at(block)] = static_cast<int>(output);
    };
    const std::size_t num_states = c_.states.size();
    for (std::size_t j = 0; j < c_.rows.size(); ++j) {
      if (is_row_aligned(j)) choose(num_states + j);
    }
    for (std::size_t o = 0; o < num_states + c_.rows.size(); ++o) choose(o);
  }

  // A state that is written into a row stays there, one that is written in place has one buffer.
  // Others change between two. The final output is one of them.
  std::array<std::int64_t, 2> state_buffers(std::size_t k) {
    const int block = block_of(k);
    if (block >= 0) {
      const int row = made_.block_output[at(block)] - static_cast<int>(c_.states.size());
      if (row >= 0 && is_row_aligned(at(row)))
        return {CompiledControl::kNone, CompiledControl::kNone};
    }
    const std::uint64_t nbytes = g_.nbytes(node_.in[at(c_.states[k].init)]);
    const std::int64_t first = c_.states[k].final >= 0 ? CompiledControl::kFinal : take(nbytes);
    return {first, is_in_place(k) ? CompiledControl::kSame : take(nbytes)};
  }
  bool is_in_place(std::size_t k) const {
    const std::vector<Control::Arg>& args = c_.bodies[0].args;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (args[i].kind != Control::Arg::Kind::kState || at(args[i].at) != k) continue;
      const graph::Storage& s = body_.storage.storage_of(body_.graph.inputs[i]);
      return s.place == Place::kOutput;
    }
    return false;
  }

  const graph::Graph& g_;
  const graph::Node& node_;
  const Control& c_;
  const CompiledGraph& body_;
  CompiledControl& made_;
  std::uint64_t size_ = 0;
};

// The inputs of a loop's body that are states, with the outputs that are their next values.
std::vector<graph::Overwritable> states_of(const Control::Body& body) {
  std::vector<graph::Overwritable> states;
  for (std::size_t i = 0; i < body.args.size(); ++i) {
    if (body.args[i].kind == Control::Arg::Kind::kState)
      states.push_back({static_cast<int>(i), body.args[i].at});
  }
  return states;
}

// Of several outputs in one block, the first is written and the others are copied.
void choose_cond_outputs(CompiledControl& made) {
  for (const CompiledGraph& body : made.bodies) {
    std::vector<int> first(at(body.storage.num_output_blocks), -1);
    for (std::size_t o = 0; o < body.graph.outputs.size(); ++o) {
      const graph::Storage& s = body.storage.storage_of(body.graph.outputs[o]);
      if (s.place == Place::kOutput && first[at(s.slot)] < 0)
        first[at(s.slot)] = static_cast<int>(o);
    }
    made.block_output.insert(made.block_output.end(), first.begin(), first.end());
  }
}

}  // namespace

std::shared_ptr<CompiledControl> compile_control(const graph::Graph& graph, const graph::Node& node,
                                                 Device& device, const std::string& name,
                                                 bool in_place) {
  const std::vector<graph::Overwritable> no_states;
  auto made = std::make_shared<CompiledControl>();
  std::uint64_t arena = 0;
  for (const Control::Body& body : node.control->bodies) {
    const bool has_states = &body == &node.control->bodies[0];
    made->bodies.push_back(compile_ready(body.graph, device, name, in_place,
                                         has_states ? states_of(body) : no_states));
    arena = std::max(arena, made->bodies.back().plan.arena_bytes);
  }
  if (node.control->kind == Control::Kind::kLoop) {
    LoopLayout(graph, node, *made).run();
  } else {
    choose_cond_outputs(*made);
  }
  made->scratch_bytes = made->arena_at + arena;
  return made;
}

}  // namespace plimsoll
