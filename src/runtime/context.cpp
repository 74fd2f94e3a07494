#include "runtime/context.h"

#include <algorithm>

#include "base/check.h"
#include "base/settings_table.h"
#include "plimsoll/bytes.h"
#include "plimsoll/settings.h"
#include "runtime/config_state.h"
#include "runtime/copies.h"
#include "runtime/placement.h"

namespace plimsoll {
namespace {

using memory::Budget;
using memory::kNoLimit;

constexpr std::uint64_t kDefaultStaging = 4_MiB;  // one piece of a copy

struct Limit {
  std::uint64_t bytes = kNoLimit;
  std::string origin;
};
Limit smaller(const Limit& a, const Limit& b) {
  return b.bytes < a.bytes ? b : a;
}

Limit process_limit(const ConfigState& config) {
  if (config.budget) return {*config.budget, "memory::set_budget"};
  if (const auto limit = settings::get_bytes("budget"))
    return {*limit, settings::origin("budget").text};
  return {};
}

Limit cpu_limit() {
  if (const auto limit = settings::get_bytes("cpu_limit"))
    return {*limit, settings::origin("cpu_limit").text};
  const memory::HostLimit room = memory::default_host_limit();
  return {room.bytes, room.origin};
}

// What a physical device has at most.
Limit physical_limit(const PhysicalState& physical) {
  const PhysicalSpec& spec = physical.spec;
  if (spec.type == "CPU") return cpu_limit();
  Limit limit{spec.source->capacity(), "memory of " + spec.label()};
  // A GPU that takes shared memory up front leaves the host something to live on.
  if (spec.is_unified && !physical.grows()) {
    limit.bytes -= std::min(1_GiB, limit.bytes / 4);
    limit.origin += " without the host's share";
  }
  return limit;
}

}  // namespace

Context& Context::start() {
  ConfigState& config = config_state();
  const std::scoped_lock lock(config.mutex);
  if (Context* running = running_.load()) return *running;
  auto* made = new Context(config);
  running_.store(made, std::memory_order_release);
  return *made;
}

Context::Context(const ConfigState& config) : intra_op_threads_(config.intra_op_threads) {
  settings::report_environment();
  for (const char* name : {"budget", "cpu_limit", "staging_limit", "gpu_growth"})
    settings::freeze(name);
  make_devices(config);
  const auto gpu = std::ranges::find_if(devices_, [](const auto& d) { return d->type() == "GPU"; });
  default_device_ = gpu == devices_.end() ? devices_.front().get() : gpu->get();
  make_staging();
  for (const auto& device : devices_) {
    if (RemoteDevice* remote = device->kernels().device()) remote->book_programs_on(cpu().budget());
  }
  is_plain_ = devices_.size() == 1 && intra_op_threads_ == 0;
}

void Context::make_devices(const ConfigState& config) {
  std::vector<const PhysicalState*> cpus, gpus;
  bool has_simulated = false;
  for (const std::size_t i : config.visible) {
    const PhysicalState& physical = config.physical[i];
    (physical.spec.type == "CPU" ? cpus : gpus).push_back(&physical);
    has_simulated |= !physical.spec.profile.empty();
  }
  PLIMSOLL_CHECK(!cpus.empty(), NotFoundError, "No CPU devices are available in this process");
  const Limit process = process_limit(config);
  if (has_simulated) {
    const memory::HostLimit room = memory::default_host_limit();
    root_.emplace(memory::BudgetOptions{"machine", room.bytes, room.origin});
    process_.emplace(*root_, memory::BudgetOptions{"process", process.bytes, process.origin});
  } else {
    root_.emplace(memory::BudgetOptions{"process", process.bytes, process.origin});
    process_ = root_;
  }
  // The first unified device shares its pool with the host; further ones have pools to themselves.
  std::optional<Budget> host_pool;
  std::vector<Budget> parents;
  for (const PhysicalState* gpu : gpus) {
    if (!gpu->spec.is_unified) {
      parents.push_back(*root_);
      continue;
    }
    parents.emplace_back(
        *process_,
        memory::BudgetOptions{"pool of " + gpu->spec.label(), gpu->spec.source->capacity(),
                              "memory of " + gpu->spec.label() + ", shared by CPU and GPU"});
    if (!host_pool) host_pool = parents.back();
  }
  for (const PhysicalState* cpu : cpus) make_logical(*cpu, host_pool ? *host_pool : *process_);
  for (std::size_t i = 0; i < gpus.size(); ++i) make_logical(*gpus[i], parents[i]);
}

void Context::make_logical(const PhysicalState& physical, const Budget& parent) {
  const PhysicalSpec& spec = physical.spec;
  std::vector<config::LogicalDeviceConfiguration> logical = physical.logical;
  if (logical.empty()) logical.emplace_back();
  Limit whole = physical_limit(physical);
  Budget above = parent;
  if (logical.size() > 1) {
    above = Budget(
        parent, {fmt::format("physical {}:{}", spec.type, spec.index), whole.bytes, whole.origin});
    whole = {};
  }
  for (const config::LogicalDeviceConfiguration& entry : logical) {
    const auto index = static_cast<int>(
        std::ranges::count_if(devices_, [&](const auto& d) { return d->type() == spec.type; }));
    const std::string name = fmt::format("{}:{}", spec.type, index);
    Limit limit = whole;
    if (entry.memory_limit) {
      limit = smaller(limit, {static_cast<std::uint64_t>(*entry.memory_limit) << 20,
                              "memory_limit of " + name});
    }
    const bool up_front = !physical.grows();
    const Budget budget(above, {name, limit.bytes, limit.origin, up_front});
    devices_.push_back(std::make_unique<Device>(Device::Options{.type = spec.type,
                                                                .index = index,
                                                                .source = spec.source,
                                                                .budget = budget,
                                                                .up_front = up_front,
                                                                .kernels = spec.kernels}));
  }
}

void Context::make_staging() {
  const auto asked = settings::get_bytes("staging_limit");
  const Budget budget(cpu().budget(), {"CPU:0/staging", asked.value_or(kDefaultStaging),
                                       asked ? settings::origin("staging_limit").text
                                             : "the limit of staging, where none is set"});
  staging_ = std::make_unique<Staging>(memory::make_host_source(), budget);
}

Device* Context::find_device(const DeviceName& name) noexcept {
  if (!name.is_local()) return nullptr;
  for (const auto& device : devices_) {
    if (device->type() == name.type && device->index() == name.index.value_or(0))
      return device.get();
  }
  return nullptr;
}

}  // namespace plimsoll
