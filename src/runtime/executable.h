// A graph that is ready to run: prepared kernels in order, over one arena.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "graph/graph.h"
#include "graph/storage.h"
#include "plimsoll/memory/arena.h"
#include "plimsoll/memory_plan.h"
#include "runtime/device.h"
#include "runtime/frame.h"
#include "runtime/kernel_cache.h"

namespace plimsoll {

struct CompiledControl;
struct VariableState;

// A node with its kernel.
struct Step {
  enum class Kind : std::uint8_t { kKernel, kAssignCopy, kRandomState, kControl };

  Kind kind = Kind::kKernel;
  int node = -1;
  std::vector<TensorSpec> in_specs, out_specs;
  PreparedKernel kernel{nullptr};
  std::shared_ptr<CompiledControl> control;  // of kControl: runtime/control_step.h
  std::size_t first_body = 0;                // of kControl: in Frame::bodies
  // Operands are stretches of CompiledGraph::operand_storage: inputs, then outputs.
  std::size_t first_operand = 0;
  bool is_on_host = false;           // the kernel is the CPU's (runtime/host_step.h)
  std::uint64_t scratch_offset = 0;  // in the arena
  int slot = -1;                     // of the variable or the stream

  std::uint64_t scratch_bytes() const noexcept;
};

// What is known before anything is reserved. Made by compile().
struct CompiledGraph {
  graph::Graph graph;
  graph::StorageMap storage;
  std::vector<std::uint64_t> offsets;  // in the arena, by storage
  std::vector<Step> steps;
  std::vector<int> operand_storage;  // by operand of the steps
  std::vector<std::uint64_t> operand_nbytes;
  std::vector<Tensor> constants;  // on the device; there once it is an Executable
  std::vector<std::shared_ptr<VariableState>> variables;
  Device* device = nullptr;
  MemoryPlan plan;
  bool has_canaries = false;  // behind the buffers of the arena (runtime/arena_check.h)
};

class ArenaPool;

class Executable {
 public:
  explicit Executable(CompiledGraph compiled);

  // Concurrent runs are allowed; those of a function that assigns variables take turns.
  // throws: ResourceExhaustedError before the first kernel; what kernels report.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs, ArenaPool& arenas);

  // Gives back the memory of results that is kept for the next run.
  void trim() noexcept;

  const CompiledGraph& compiled() const noexcept { return compiled_; }
  const MemoryPlan& plan() const noexcept { return compiled_.plan; }

 private:
  // What a run writes to, kept for the next one.
  struct RunState {
    Frame frame;
    std::vector<Tensor> near_inputs;  // inputs, or copies of those that are elsewhere
    std::vector<Tensor> blocks;       // outputs, by block
    std::vector<memory::Claim> claims;
    std::vector<memory::Block> fresh;
  };

  friend class ControlRun;

  void place_constants(CompiledGraph& graph);
  std::unique_ptr<RunState> take_state();
  void prepare_outputs(RunState& state);
  void prepare_variables();
  void bind(RunState& state, memory::Address arena);
  // Of the graph or of a body in it.
  void run_steps(const CompiledGraph& graph, Frame& frame, memory::Address arena);
  void run_control(const CompiledGraph& graph, const Step& step, Frame& frame,
                   memory::Address scratch);
  void hand_out(RunState& state, std::span<Tensor> outputs) const;

  CompiledGraph compiled_;
  const memory::Owner owner_;
  bool has_assigns_ = false;
  memory::Reservation kernels_;          // what prepared kernels hold
  std::vector<std::uint64_t> counters_;  // by stream: how far it has come
  std::vector<int> written_;             // slots of variables that are assigned
  Mutex mutex_;                          // guards idle_ and counters_
  std::vector<std::unique_ptr<RunState>> idle_;
  std::mutex turn_;  // held while variables are written
};

// The arenas that the executables of one function share. A run takes one that nobody uses.
class ArenaPool {
 public:
  // throws: ResourceExhaustedError.
  std::shared_ptr<memory::Arena> acquire(Device& device, std::uint64_t nbytes, memory::Owner owner);
  void give_back(const Device& device, const std::shared_ptr<memory::Arena>& arena) noexcept;
  void trim() noexcept;

  // For proofs: fill an arena with a pattern before each run, and find how high it was written.
  bool is_measuring = false;
  std::uint64_t written_height = 0;  // of the last run

 private:
  struct Entry {
    Device* device;
    const memory::BudgetNode* budget;  // that it is booked on
    std::shared_ptr<memory::Arena> arena;
    bool is_used;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace plimsoll
