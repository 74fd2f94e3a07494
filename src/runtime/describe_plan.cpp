#include "runtime/describe_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/rounding.h"
#include "runtime/control_step.h"
#include "runtime/host_step.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::Place;

// As budgets count it.
std::uint64_t booked_bytes(std::uint64_t nbytes) noexcept {
  return memory::round_up(nbytes, memory::kGrain);
}

PlannedBuffer::Place planned_place(Place place) noexcept {
  switch (place) {
    case Place::kArena:
      return PlannedBuffer::Place::kArena;
    case Place::kInput:
      return PlannedBuffer::Place::kInput;
    case Place::kConstant:
      return PlannedBuffer::Place::kConstant;
    case Place::kVariable:
      return PlannedBuffer::Place::kVariable;
    case Place::kOutput:
      return PlannedBuffer::Place::kOutput;
  }
  return PlannedBuffer::Place::kArena;
}

// What makes the values of a node, in a word.
std::string maker_name(const Node& node) {
  if (node.kind == NodeKind::kControl) return std::string(graph::control_name(*node.control));
  return node.kind == NodeKind::kOp ? std::string(op_name(node.op)) : "given";
}

class Describer {
 public:
  explicit Describer(CompiledGraph& c)
      : c_(c), g_(c.graph), plan_(c.plan), change_(c.graph.nodes.size() + 2, 0) {}

  void run() {
    name_steps();
    add_storages();
    for (const graph::VariableInfo& variable : g_.variables)
      plan_.variable_bytes += booked_bytes(tensor_bytes(variable.spec.dtype, variable.spec.shape));
    for (const Step& step : c_.steps) {
      if (step.is_on_host) add_host(step);
      if (step.control) {
        add_control(step);
      } else if (step.scratch_bytes()) {
        add_scratch(step, step.scratch_bytes());
      }
    }
    sum_up();
  }

 private:
  void name_steps() {
    plan_.num_steps = static_cast<int>(g_.nodes.size());
    for (const Node& node : g_.nodes) {
      std::string name = node.kind == NodeKind::kAssign ? "assign" : maker_name(node);
      if (!node.scope.empty()) name += " " + node.scope;
      if (node.is_backward) name += " backward";
      plan_.step_names.push_back(std::move(name));
    }
  }

  void add(PlannedBuffer buffer) {
    if (buffer.place == PlannedBuffer::Place::kArena ||
        buffer.place == PlannedBuffer::Place::kScratch) {
      change_[at(buffer.first)] += static_cast<std::int64_t>(booked_bytes(buffer.nbytes));
      change_[at(buffer.last) + 1] -= static_cast<std::int64_t>(booked_bytes(buffer.nbytes));
    }
    plan_.buffers.push_back(std::move(buffer));
  }

  void add_storages() {
    const std::vector<int> maker = g_.producers();
    for (std::size_t s = 0; s < c_.storage.storages.size(); ++s) {
      const graph::Storage& storage = c_.storage.storages[s];
      const Node& node = g_.nodes[at(maker[at(storage.value)])];
      PlannedBuffer buffer{.op = maker_name(node),
                           .layer = node.scope,
                           .site = node.site,
                           .tag = g_.values[at(storage.value)].tag,
                           .place = planned_place(storage.place),
                           .spec = g_.spec(storage.value),
                           .nbytes = storage.nbytes,
                           .offset = c_.offsets[s],
                           .first = storage.first,
                           .last = std::min(storage.last, plan_.num_steps - 1)};
      const std::uint64_t booked = booked_bytes(storage.nbytes);
      if (storage.place == Place::kInput) plan_.input_bytes += booked;
      if (storage.place == Place::kConstant) plan_.constant_bytes += booked;
      if (storage.place == Place::kOutput) plan_.output_bytes += booked;
      if (storage.place == Place::kVariable) {
        const graph::VariableInfo& variable = g_.variables[at(storage.slot)];
        buffer.layer = variable.name;
        buffer.tag = variable.tag;
      }
      add(std::move(buffer));
    }
  }

  void add_scratch(const Step& step, std::uint64_t nbytes) {
    const Node& node = g_.nodes[at(step.node)];
    add({.op = maker_name(node),
         .layer = node.scope,
         .site = node.site,
         .tag = memory::Tag::kWorkspace,
         .place = PlannedBuffer::Place::kScratch,
         .nbytes = nbytes,
         .offset = step.scratch_offset,
         .first = step.node,
         .last = step.node});
  }

  void add_host(const Step& step) {
    add_host(host_step_bytes(step), maker_name(g_.nodes[at(step.node)]));
  }
  void add_host(std::uint64_t nbytes, const std::string& op) {
    plan_.host_bytes = std::max(plan_.host_bytes, nbytes);
    if (std::ranges::find(plan_.host_ops, op) == plan_.host_ops.end()) plan_.host_ops.push_back(op);
  }

  // Of a branch or a loop: what is its own, and what is alive at the peak of its largest body.
  void add_control(const Step& step) {
    const CompiledControl& control = *step.control;
    if (control.arena_at) add_scratch(step, control.arena_at);
    const auto largest = std::max_element(
        control.bodies.begin(), control.bodies.end(),
        [](const auto& a, const auto& b) { return a.plan.arena_bytes < b.plan.arena_bytes; });
    for (const CompiledGraph& body : control.bodies) {
      plan_.constant_bytes += body.plan.constant_bytes;
      for (const std::string& op : body.plan.host_ops) add_host(body.plan.host_bytes, op);
      for (const PlannedBuffer& b : body.plan.buffers) {
        if (b.place == PlannedBuffer::Place::kConstant) add(b);
        const bool is_in_arena =
            b.place == PlannedBuffer::Place::kArena || b.place == PlannedBuffer::Place::kScratch;
        const int peak = body.plan.peak_step;
        if (&body != &*largest || !is_in_arena || b.first > peak || b.last < peak) continue;
        PlannedBuffer inner = b;
        inner.op += fmt::format(" in {}", maker_name(g_.nodes[at(step.node)]));
        inner.offset += step.scratch_offset + control.arena_at;
        inner.first = inner.last = step.node;
        add(std::move(inner));
      }
    }
  }

  void sum_up() {
    std::int64_t live = 0;
    for (std::size_t n = 0; n < g_.nodes.size(); ++n) {
      live += change_[n];
      plan_.live_bytes.push_back(static_cast<std::uint64_t>(live));
      if (plan_.live_bytes[n] > plan_.live_bytes[at(plan_.peak_step)])
        plan_.peak_step = static_cast<int>(n);
    }
    plan_.peak_bytes = plan_.arena_bytes + plan_.output_bytes + plan_.input_bytes +
                       plan_.variable_bytes + plan_.constant_bytes;
  }

  CompiledGraph& c_;
  const Graph& g_;
  MemoryPlan& plan_;
  std::vector<std::int64_t> change_;  // of the bytes alive, by step
};

}  // namespace

void describe_plan(CompiledGraph& c) {
  Describer(c).run();
}

}  // namespace plimsoll
