#include "runtime/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <unordered_map>

#include "base/check.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "graph/passes.h"
#include "plimsoll/planner.h"
#include "plimsoll/settings.h"
#include "runtime/arena_check.h"
#include "runtime/control_step.h"
#include "runtime/describe_plan.h"
#include "runtime/fold.h"
#include "runtime/placement.h"
#include "runtime/variable_state.h"

namespace plimsoll {
namespace {

using graph::at;
using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::Place;

constexpr std::int64_t kAlignment = 64;
constexpr double kPlannerSeconds = 0.5;  // for the search, when heuristics miss the bound

std::string near_hint(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest(word, known);
  return near.empty() ? fmt::format("; there are: {}", fmt::join(known, ", "))
                      : fmt::format("; did you mean '{}'?", near);
}

// Which passes run, as PLIMSOLL_PASSES says.
class PassChoice {
 public:
  PassChoice() : names_(settings::get_list("passes")) {
    for (const std::string& given : names_) {
      const std::string name = given.substr(given.starts_with('-') ? 1 : 0);
      std::vector<std::string_view> known{"all", "none", "fold", "in_place"};
      for (const graph::Pass& pass : graph::all_passes()) known.push_back(pass.name);
      PLIMSOLL_CHECK(std::ranges::find(known, name) != known.end(), InvalidArgumentError,
                     "{}: there is no pass '{}'{}", settings::origin("passes").text, name,
                     near_hint(name, known));
    }
  }
  bool has(std::string_view name) const {
    if (names_.empty()) return true;
    const auto is_named = [&](std::string_view n) {
      return std::ranges::find(names_, n) != names_.end();
    };
    if (is_named(fmt::format("-{}", name)) || is_named("none")) return false;
    if (is_named(name) || is_named("all")) return true;
    return names_.front().starts_with('-');
  }

 private:
  std::vector<std::string> names_;
};

// Writes a graph after each pass, if asked to.
class Dump {
 public:
  explicit Dump(const std::string& function) : folder_(settings::get_string("dump")) {
    if (folder_.empty()) return;
    static std::atomic<int> num_dumps{0};
    prefix_ = fmt::format("{}/{}.{}", folder_, function, num_dumps++);
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
  }
  void write(const Graph& g, std::string_view pass) {
    if (folder_.empty()) return;
    const std::string name = fmt::format("{}.{:02}_{}", prefix_, num_written_++, pass);
    put(name + ".txt", g.to_text());
    put(name + ".dot", g.to_dot());
  }
  void write(const MemoryPlan& plan) {
    if (!folder_.empty()) put(prefix_ + ".plan.json", plan.to_json());
  }

 private:
  static void put(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    PLIMSOLL_CHECK(file.good(), NotFoundError, "PLIMSOLL_DUMP: cannot write '{}'", path);
  }
  std::string folder_, prefix_;
  int num_written_ = 0;
};

// Kernels, each prepared once for calls that are alike.
class Preparer {
 public:
  explicit Preparer(const KernelTable& table) : table_(table) {}

  PreparedKernel prepare(const KernelCall& call) {
    std::uint64_t hash = hash_mix(static_cast<std::uint64_t>(call.op), call.attrs.hash());
    for (const TensorSpec& spec : call.in) {
      hash = hash_mix(hash, static_cast<std::uint64_t>(spec.dtype));
      for (const std::int64_t dim : spec.shape.dims())
        hash = hash_mix(hash, static_cast<std::uint64_t>(dim));
    }
    const auto [begin, end] = known_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      const Known& k = it->second;
      if (k.op == call.op && *k.attrs == call.attrs && std::ranges::equal(k.in, call.in) &&
          k.program == call.program)
        return k.kernel;
    }
    const PreparedKernel kernel = prepare_kernel(table_, call);
    known_.emplace(
        hash, Known{call.op, &call.attrs, {call.in.begin(), call.in.end()}, call.program, kernel});
    return kernel;
  }

 private:
  struct Known {
    OpId op;
    const Attrs* attrs;  // of a node, which stays where it is meanwhile
    std::vector<TensorSpec> in;
    const FusedProgram* program;
    PreparedKernel kernel;
  };
  const KernelTable& table_;
  std::unordered_multimap<std::uint64_t, Known> known_;
};

// What comes from outside goes first: it costs nothing, and then it bounds no order.
void leaves_first(Graph& g) {
  std::stable_partition(g.nodes.begin(), g.nodes.end(), [](const Node& node) {
    return node.kind == NodeKind::kInput || node.kind == NodeKind::kConstant ||
           node.kind == NodeKind::kVariable;
  });
}

// Over the graph, then over the bodies of its branches and loops, which are not dumped alone.
void run_passes(Graph& g, Device& device, const PassChoice& choice, Dump* dump, MemoryPlan& plan) {
  const graph::PassContext context{&device.kernels()};
  if (dump) dump->write(g, "traced");
  leaves_first(g);
  std::uint64_t peak = graph::live_peak(g);
  const auto run = [&](std::string_view name, auto&& pass) {
    if (!choice.has(name)) return;
    const auto start = std::chrono::steady_clock::now();
    pass();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const std::string problem = g.validate();
    PLIMSOLL_CHECK(problem.empty(), InternalError, "after pass '{}': {}", name, problem);
    const std::uint64_t after = graph::live_peak(g);
    plan.passes.push_back(
        {std::string(name), static_cast<int>(g.nodes.size()), peak, after, seconds.count()});
    peak = after;
    if (dump) dump->write(g, name);
  };
  for (const graph::Pass& pass : graph::all_passes()) {
    run(pass.name, [&] { pass.run(g, context); });
    if (pass.name != "cse") continue;
    run("fold", [&] {
      fold_constants(g, device);
      leaves_first(g);
    });
  }
  for (Node& node : g.nodes) {
    if (!node.control) continue;
    auto control = std::make_shared<graph::Control>(*node.control);
    for (graph::Control::Body& body : control->bodies) {
      MemoryPlan of_body;
      run_passes(body.graph, device, choice, nullptr, of_body);
    }
    node.control = std::move(control);
  }
}

// false: the device has no kernel for the call, and the CPU may run it.
bool try_prepare(Preparer& preparer, const KernelCall& call, const Device& device,
                 PreparedKernel* kernel) {
  if (!device.kernels().device() || !is_soft_placement()) {
    *kernel = preparer.prepare(call);
    return true;
  }
  try {
    *kernel = preparer.prepare(call);
    return true;
  } catch (const UnimplementedError&) {
    return false;
  }
}

void make_steps(CompiledGraph& c, bool in_place) {
  const Graph& g = c.graph;
  Preparer preparer(c.device->kernels());
  Preparer on_host(Context::get().cpu().kernels());
  std::size_t num_bodies = 0;
  for (int n = 0; n < static_cast<int>(g.nodes.size()); ++n) {
    const Node& node = g.nodes[at(n)];
    Step step{.node = n, .slot = node.slot};
    if (node.kind == NodeKind::kRandomState) {
      step.kind = Step::Kind::kRandomState;
    } else if (node.kind == NodeKind::kAssign) {
      if (c.storage.is_in_place[at(n)]) continue;
      step.kind = Step::Kind::kAssignCopy;
    } else if (node.kind == NodeKind::kControl) {
      step.kind = Step::Kind::kControl;
      step.control = compile_control(g, node, *c.device, c.plan.function, in_place);
      step.first_body = num_bodies;
      num_bodies += step.control->bodies.size();
    } else if (node.kind != NodeKind::kOp || op_def(node.op).is_view) {
      continue;
    }
    for (const graph::ValueId v : node.in) step.in_specs.push_back(g.spec(v));
    for (const graph::ValueId v : node.out) step.out_specs.push_back(g.spec(v));
    if (step.kind == Step::Kind::kKernel) {
      const KernelCall call{node.op, node.attrs, step.in_specs, step.out_specs, node.program.get()};
      if (!try_prepare(preparer, call, *c.device, &step.kernel)) {
        step.kernel = on_host.prepare(call);
        step.is_on_host = true;
      }
    }
    step.first_operand = c.operand_storage.size();
    for (const auto* values : {&node.in, &node.out}) {
      for (const graph::ValueId v : *values) {
        c.operand_storage.push_back(c.storage.of_value[at(v)]);
        c.operand_nbytes.push_back(g.nbytes(v));
      }
    }
    c.steps.push_back(std::move(step));
  }
}

// Packs the storages and scratches of the arena.
void pack(CompiledGraph& c) {
  planner::Problem problem;
  // Only where the watch can read what it watches.
  c.has_canaries = is_checking_arenas() && !c.device->kernels().device();
  const std::uint64_t canary = c.has_canaries ? ArenaCheck::kCanaryBytes : 0;
  std::vector<std::size_t> storages, scratches;  // by buffer: storages first
  const auto add = [&](int first, int last, std::uint64_t nbytes) {
    problem.buffers.push_back({.lower = first,
                               .upper = last + 1,
                               .size = static_cast<std::int64_t>(nbytes + canary),
                               .alignment = kAlignment});
  };
  for (std::size_t s = 0; s < c.storage.storages.size(); ++s) {
    const graph::Storage& storage = c.storage.storages[s];
    if (storage.place != Place::kArena) continue;
    storages.push_back(s);
    add(storage.first, storage.last, storage.nbytes);
  }
  for (std::size_t i = 0; i < c.steps.size(); ++i) {
    const std::uint64_t nbytes = c.steps[i].scratch_bytes();
    if (!nbytes) continue;
    scratches.push_back(i);
    add(c.steps[i].node, c.steps[i].node, nbytes);
  }
  const planner::Result result = planner::solve(problem, {.seconds = kPlannerSeconds});
  const std::string wrong = planner::validate(problem, result.solution);
  PLIMSOLL_CHECK(wrong.empty(), InternalError, "the plan of '{}' is wrong: {}", c.plan.function,
                 wrong);
  c.offsets.assign(c.storage.storages.size(), 0);
  for (std::size_t i = 0; i < storages.size(); ++i)
    c.offsets[storages[i]] = static_cast<std::uint64_t>(result.solution.offsets[i]);
  for (std::size_t i = 0; i < scratches.size(); ++i) {
    c.steps[scratches[i]].scratch_offset =
        static_cast<std::uint64_t>(result.solution.offsets[storages.size() + i]);
  }
  c.plan.arena_bytes = static_cast<std::uint64_t>(result.solution.height);
  c.plan.lower_bound_bytes = static_cast<std::uint64_t>(result.lower_bound);
}

// From a graph that passes are done with: storage, kernels, offsets, and what it costs.
void finish(CompiledGraph& c, bool in_place, std::span<const graph::Overwritable> states = {}) {
  c.storage = graph::map_storage(c.graph, in_place, states);
  make_steps(c, in_place);
  pack(c);
  describe_plan(c);
}

CompiledGraph start(Device& device, const std::string& name) {
  CompiledGraph c;
  c.device = &device;
  c.plan.function = name;
  c.plan.device = device.full_name();
  return c;
}

}  // namespace

CompiledGraph compile_ready(const Graph& graph, Device& device, const std::string& name,
                            bool in_place, std::span<const graph::Overwritable> states) {
  CompiledGraph c = start(device, name);
  c.graph = graph;
  finish(c, in_place, states);
  return c;
}

CompiledGraph compile(Trace&& trace, Device& device, const std::string& name) {
  CompiledGraph c = start(device, name);
  c.graph = std::move(trace.graph);
  c.variables = std::move(trace.variables);
  const PassChoice choice;
  Dump dump(name);
  run_passes(c.graph, device, choice, &dump, c.plan);
  graph::settle_assigns(c.graph);
  dump.write(c.graph, "ready");
  finish(c, choice.has("in_place"));
  dump.write(c.plan);
  return c;
}

}  // namespace plimsoll
