#include "runtime/executable.h"

#include <unordered_set>

#include "base/check.h"
#include "runtime/arena_check.h"
#include "runtime/budget_scope.h"
#include "runtime/call_site.h"
#include "runtime/context.h"
#include "runtime/control_step.h"
#include "runtime/copies.h"
#include "runtime/dispatch.h"
#include "runtime/host_step.h"
#include "runtime/variable_state.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Node;
using graph::NodeKind;
using graph::Place;

// Results up to this size are used again by the next run if nobody has them any more, so that a
// training step's loss costs no allocation.
constexpr std::uint64_t kKeptOutputBytes = 64U << 10;

// Whether a result of the last run can be written again.
bool is_free(const Tensor& t) noexcept {
  return t.is_valid() && is_sole_handle(t);
}

// Calls f with a graph and all bodies in it.
template <class F>
void for_each_graph(CompiledGraph& graph, F f) {
  f(graph);
  for (Step& step : graph.steps) {
    if (!step.control) continue;
    for (CompiledGraph& body : step.control->bodies) for_each_graph(body, f);
  }
}

}  // namespace

std::uint64_t Step::scratch_bytes() const noexcept {
  if (kind == Kind::kControl) return control->scratch_bytes;
  if (is_on_host) return 0;
  return kind == Kind::kKernel ? kernel.scratch_bytes() : 0;
}

Executable::Executable(CompiledGraph compiled)
    : compiled_(std::move(compiled)), owner_(memory::Tag::kActivations, compiled_.plan.function) {
  const graph::Graph& g = compiled_.graph;
  for (const Node& node : g.nodes) {
    if (node.kind == NodeKind::kAssign) written_.push_back(node.slot);
  }
  has_assigns_ = !written_.empty();
  counters_.assign(g.streams.size(), 0);
  std::unordered_set<const KernelState*> states;
  std::uint64_t nbytes = 0;
  for_each_graph(compiled_, [&](CompiledGraph& graph) {
    place_constants(graph);
    for (const Step& step : graph.steps) {
      const KernelState* state = step.kernel.state();
      if (state && states.insert(state).second) nbytes += state->nbytes();
    }
  });
  kernels_ = Context::get().cpu().budget().reserve(
      nbytes, memory::Owner(memory::Tag::kCache, compiled_.plan.function));
}

void Executable::place_constants(CompiledGraph& graph) {
  for (const Tensor& t : graph.graph.constants) {
    graph.constants.push_back(
        owner_of(t) == compiled_.device ? t : copy_to(*compiled_.device, t, owner_));
  }
}

std::unique_ptr<Executable::RunState> Executable::take_state() {
  {
    std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto state = std::move(idle_.back());
      idle_.pop_back();
      return state;
    }
  }
  auto state = std::make_unique<RunState>();
  state->frame = make_frame(compiled_);
  state->near_inputs.resize(compiled_.graph.inputs.size());
  const std::size_t num_blocks = at(compiled_.storage.num_output_blocks);
  state->blocks.resize(num_blocks);
  state->claims.reserve(num_blocks);
  state->fresh.resize(num_blocks);
  std::scoped_lock lock(mutex_);
  idle_.reserve(idle_.size() + 4);  // so that giving it back needs no memory
  return state;
}

// Memory for results, all or none.
void Executable::prepare_outputs(RunState& state) {
  state.claims.clear();
  for (const graph::Storage& s : compiled_.storage.storages) {
    if (s.place != Place::kOutput || is_free(state.blocks[at(s.slot)])) continue;
    state.claims.push_back({s.nbytes, TagScope::retagged(owner_)});
  }
  if (state.claims.empty()) return;
  memory::Refusal why;
  const std::span fresh(state.fresh.data(), state.claims.size());
  Device& device = *compiled_.device;
  if (!device.heap().try_allocate_all(state.claims, fresh, &why, scope_budget(device))) {
    throw ResourceExhaustedError(fmt::format("OOM when allocating the results of '{}' on {}\n{}",
                                             compiled_.plan.function, device.full_name(),
                                             memory::describe(why)));
  }
  std::size_t next = 0;
  for (const graph::Storage& s : compiled_.storage.storages) {
    if (s.place != Place::kOutput || is_free(state.blocks[at(s.slot)])) continue;
    auto* buffer = new Buffer;
    buffer->block = std::move(fresh[next++]);
    buffer->device = &device;
    const TensorSpec& spec = compiled_.graph.spec(s.value);
    state.blocks[at(s.slot)] = make_tensor(spec.dtype, spec.shape, BufferRef(buffer));
  }
}

// Variables that will be written get memory that nobody else sees.
void Executable::prepare_variables() {
  for (const auto& variable : compiled_.variables) variable->check_value();
  for (const int slot : written_) compiled_.variables[at(slot)]->make_alone();
}

void Executable::bind(RunState& state, memory::Address arena) {
  for (std::size_t i = 0; i < state.near_inputs.size(); ++i)
    state.frame.inputs[i] = address_of(state.near_inputs[i]);
  for (std::size_t i = 0; i < state.blocks.size(); ++i)
    state.frame.blocks[i] = address_of(state.blocks[i]);
  bind_frame(state.frame, compiled_, arena);
}

void Executable::run_steps(const CompiledGraph& graph, Frame& frame, memory::Address arena) {
  const graph::Graph& g = graph.graph;
  const auto check = ArenaCheck::make(graph, arena);
  for (const Step& step : graph.steps) {
    const Node& node = g.nodes[at(step.node)];
    const DeviceSpan* operands = frame.spans.data() + step.first_operand;
    if (check) check->before(step, operands);
    if (step.kind == Step::Kind::kKernel) {
      DeviceSpan slots[ScratchBook::kMaxSlots];
      const KernelCall call{node.op, node.attrs, step.in_specs, step.out_specs, node.program.get()};
      const std::span in(operands, node.in.size());
      const std::span out(operands + node.in.size(), node.out.size());
      const Status status =
          step.is_on_host ? run_host_step(*graph.device, call, step, in, out, frame.host)
                          : step.kernel.run({call, in, out,
                                             step.kernel.grant(arena + step.scratch_offset, slots),
                                             step.kernel.state()});
      if (!status.ok()) status.throw_if_error(describe_place(op_name(node.op), frame));
    } else if (step.kind == Step::Kind::kControl) {
      run_control(graph, step, frame, arena + step.scratch_offset);
    } else if (step.kind == Step::Kind::kAssignCopy) {
      const Tensor& to = graph.variables[at(step.slot)]->value;
      compiled_.device->move(address_of(to), operands[0].buffer, operands[0].nbytes);
    } else {
      const graph::RandomStream& stream = g.streams[at(step.slot)];
      std::int64_t words[3] = {stream.key, 0, stream.high};
      {
        std::scoped_lock lock(mutex_);
        words[1] = static_cast<std::int64_t>(counters_[at(step.slot)]);
        counters_[at(step.slot)] += stream.num_counters;
      }
      compiled_.device->write(operands[0].buffer, words, sizeof words);
    }
    if (check) check->after(step);
  }
}

void Executable::hand_out(RunState& state, std::span<Tensor> outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const graph::ValueId v = compiled_.graph.outputs[i];
    if (v == graph::kNoValue) {
      outputs[i] = Tensor();
      continue;
    }
    const graph::Storage& s = compiled_.storage.storage_of(v);
    const Tensor& block = s.place == Place::kOutput     ? state.blocks[at(s.slot)]
                          : s.place == Place::kConstant ? compiled_.constants[at(s.slot)]
                                                        : state.near_inputs[at(s.slot)];
    const TensorSpec& spec = compiled_.graph.spec(v);
    if (block.dtype() == spec.dtype && block.shape() == spec.shape) {
      outputs[i] = block;
    } else {
      outputs[i] = make_tensor(spec.dtype, spec.shape, block.impl()->buffer, block.impl()->offset);
    }
  }
  for (Tensor& block : state.blocks) {
    if (static_cast<std::uint64_t>(block.nbytes()) > kKeptOutputBytes) block = Tensor();
  }
}

void Executable::trim() noexcept {
  std::vector<std::unique_ptr<RunState>> dropped;  // outside of the lock
  std::scoped_lock lock(mutex_);
  dropped.swap(idle_);
}

void Executable::run(std::span<const Tensor> inputs, std::span<Tensor> outputs, ArenaPool& arenas) {
  std::unique_lock<std::mutex> turn;
  if (has_assigns_) turn = std::unique_lock(turn_);
  // Handles that the caller is about to lose count as lost: their memory serves this run.
  for (Tensor& t : outputs) t = Tensor();
  auto state = take_state();
  Device& device = *compiled_.device;
  static const memory::Owner near_owner(memory::Tag::kActivations, "inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    state->near_inputs[i] =
        owner_of(inputs[i]) == &device ? inputs[i] : copy_to(device, inputs[i], near_owner);
  }
  prepare_outputs(*state);
  prepare_variables();
  // From here on nothing fails for memory.
  const auto arena = arenas.acquire(device, compiled_.plan.arena_bytes, TagScope::retagged(owner_));
  struct GiveBack {
    ArenaPool& pool;
    const Device& device;
    const std::shared_ptr<memory::Arena>& arena;
    ~GiveBack() {
      if (arena) pool.give_back(device, arena);
    }
  };
  const GiveBack give_back{arenas, device, arena};
  std::shared_ptr<memory::Arena> host;
  Device& cpu = Context::get().cpu();
  if (compiled_.plan.host_bytes) host = arenas.acquire(cpu, compiled_.plan.host_bytes, owner_);
  const GiveBack give_back_host{arenas, cpu, host};
  state->frame.host = host ? host->address() : 0;
  bind(*state, arena->address());
  run_steps(compiled_, state->frame, arena->address());
  for (const int slot : written_) {
    // A new version: tapes that saw the old value do not take this one for it.
    compiled_.variables[at(slot)]->value.impl()->id = next_tensor_id();
  }
  hand_out(*state, outputs);
  for (Tensor& t : state->near_inputs) t = Tensor();
  std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(state));
}

namespace {

constexpr std::uint64_t kMeasuredPiece = 64U << 10;

void fill_pattern(const Device& device, memory::Arena& arena) {
  if (!device.kernels().device()) return arena.fill_pattern();
  std::vector<std::uint8_t> bytes(kMeasuredPiece);
  for (std::uint64_t at = 0; at < arena.nbytes(); at += kMeasuredPiece) {
    const std::uint64_t n = std::min(kMeasuredPiece, arena.nbytes() - at);
    for (std::uint64_t i = 0; i < n; ++i) bytes[i] = memory::Arena::pattern_at(at + i);
    device.write(arena.address() + at, bytes.data(), n);
  }
}

std::uint64_t find_written_height(const Device& device, const memory::Arena& arena) {
  if (!device.kernels().device()) return arena.written_height();
  std::vector<std::uint8_t> bytes(kMeasuredPiece);
  std::uint64_t height = 0;
  for (std::uint64_t at = 0; at < arena.nbytes(); at += kMeasuredPiece) {
    const std::uint64_t n = std::min(kMeasuredPiece, arena.nbytes() - at);
    device.read(bytes.data(), arena.address() + at, n);
    for (std::uint64_t i = 0; i < n; ++i) {
      if (bytes[i] != memory::Arena::pattern_at(at + i)) height = at + i + 1;
    }
  }
  return height;
}

}  // namespace

std::shared_ptr<memory::Arena> ArenaPool::acquire(Device& device, std::uint64_t nbytes,
                                                  memory::Owner owner) {
  const memory::Budget* scope = scope_budget(device);
  const memory::SourcePtr& source = device.heap().source();
  if (device.is_up_front() && source->is_whole()) {  // its buffer has all memory in it
    auto arena = std::make_shared<memory::Arena>(device.heap(), scope, nbytes, owner);
    arena->acquire();
    if (is_measuring) fill_pattern(device, *arena);
    return arena;
  }
  if (scope && !keeps_arenas(*current_budget_scope)) {  // gone with the run
    auto arena = std::make_shared<memory::Arena>(source, *scope, nbytes, owner);
    arena->acquire();
    return arena;
  }
  const memory::Budget& budget = scope ? *scope : device.budget();
  std::shared_ptr<memory::Arena> found;
  std::shared_ptr<memory::Arena> dropped;  // before another one is made
  {
    std::scoped_lock lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end() && !found; ++it) {
      if (it->is_used || it->device != &device) continue;
      if (it->arena->nbytes() >= nbytes && it->budget == budget.node()) {
        it->is_used = true;
        found = it->arena;
      } else {  // too small, or of a scope that is left
        dropped = it->arena;
        entries_.erase(it);
        break;
      }
    }
  }
  dropped.reset();
  if (!found) {
    found = std::make_shared<memory::Arena>(source, budget, nbytes, owner);
    std::scoped_lock lock(mutex_);
    entries_.push_back({&device, budget.node(), found, true});
  }
  try {
    found->acquire();
  } catch (...) {
    std::scoped_lock lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.arena == found; });
    throw;
  }
  if (is_measuring) fill_pattern(device, *found);
  return found;
}

void ArenaPool::give_back(const Device& device,
                          const std::shared_ptr<memory::Arena>& arena) noexcept {
  if (is_measuring) {
    try {
      written_height = find_written_height(device, *arena);
    } catch (const std::exception&) {  // a device that fails: all of it counts
      written_height = arena->nbytes();
    }
  }
  arena->rest();
  std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.arena == arena) entry.is_used = false;
  }
}

void ArenaPool::trim() noexcept {
  std::scoped_lock lock(mutex_);
  // With their sizes: the next run takes one that is as large as it needs.
  std::erase_if(entries_, [](const Entry& entry) { return !entry.is_used; });
}

}  // namespace plimsoll
