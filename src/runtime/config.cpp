#include "plimsoll/config.h"

#include <algorithm>

#include "base/check.h"
#include "base/settings_table.h"
#include "plimsoll/memory/host.h"
#include "plimsoll/settings.h"
#include "runtime/config_state.h"
#include "runtime/context.h"
#include "runtime/placement.h"

namespace plimsoll {

bool PhysicalState::grows() const {
  if (spec.type == "CPU") return true;
  return growth ? *growth : settings::get_bool("gpu_growth");
}

ConfigState& config_state() {
  static ConfigState& state = *[] {
    auto made = std::make_unique<ConfigState>();
    for (PhysicalSpec& spec : find_physical_devices()) {
      made->visible.push_back(made->physical.size());
      config::PhysicalDevice device{fmt::format("/physical_device:{}:{}", spec.type, spec.index),
                                    spec.type};
      made->physical.push_back({.spec = std::move(spec), .device = std::move(device)});
    }
    settings::freeze("sim_devices");
    return made.release();
  }();
  return state;
}

namespace config {
namespace {

using Lock = std::scoped_lock<std::mutex>;

std::size_t index_of(const ConfigState& state, const PhysicalDevice& device) {
  for (std::size_t i = 0; i < state.physical.size(); ++i) {
    if (state.physical[i].device == device) return i;
  }
  throw InvalidArgumentError(fmt::format("Unrecognized device: {}", device.to_string()));
}

void check_not_started(const char* what) {
  PLIMSOLL_CHECK(!Context::is_initialized(), FailedPreconditionError, "{}", what);
}

void check_limit(const LogicalDeviceConfiguration& logical, const PhysicalState& physical) {
  if (!logical.memory_limit) {
    PLIMSOLL_CHECK(physical.spec.type == "CPU", InvalidArgumentError,
                   "Setting memory limit is required for GPU virtual devices");
    return;
  }
  constexpr std::int64_t kMost = static_cast<std::int64_t>(memory::kNoLimit >> 20);
  PLIMSOLL_CHECK(*logical.memory_limit >= 1 && *logical.memory_limit <= kMost, InvalidArgumentError,
                 "memory_limit must be from 1 to {} MiB, got {} for {}", kMost,
                 *logical.memory_limit, physical.device.to_string());
}

Device& logical_device(std::string_view name) {
  Device* found = Context::get().find_device(parse_device_name(name));
  PLIMSOLL_CHECK(found, InvalidArgumentError, "No matching devices found for '{}'", name);
  return *found;
}

}  // namespace

std::string PhysicalDevice::to_string() const {
  return fmt::format("PhysicalDevice(name='{}', device_type='{}')", name, device_type);
}

std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  std::vector<PhysicalDevice> found;
  for (const PhysicalState& p : state.physical) {
    if (device_type.empty() || p.spec.type == device_type) found.push_back(p.device);
  }
  return found;
}

std::vector<LogicalDevice> list_logical_devices(std::string_view device_type) {
  std::vector<LogicalDevice> found;
  for (const auto& device : Context::get().devices()) {
    if (device_type.empty() || device->type() == device_type)
      found.push_back({"/device:" + device->short_name(), device->type()});
  }
  return found;
}

void set_visible_devices(const std::vector<PhysicalDevice>& devices, std::string_view device_type) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  std::vector<std::size_t> visible;
  for (const std::size_t i : state.visible) {
    if (!device_type.empty() && state.physical[i].spec.type != device_type) visible.push_back(i);
  }
  for (const PhysicalDevice& device : devices) {
    const std::size_t i = index_of(state, device);
    PLIMSOLL_CHECK(device_type.empty() || device.device_type == device_type, InvalidArgumentError,
                   "Unrecognized device: {}", device.to_string());
    if (std::ranges::find(visible, i) == visible.end()) visible.push_back(i);
  }
  if (visible == state.visible) return;
  check_not_started("Visible devices cannot be modified after being initialized");
  state.visible = std::move(visible);
}

void set_visible_devices(const PhysicalDevice& device, std::string_view device_type) {
  set_visible_devices(std::vector{device}, device_type);
}

std::vector<PhysicalDevice> get_visible_devices(std::string_view device_type) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  std::vector<PhysicalDevice> found;
  for (const std::size_t i : state.visible) {
    const PhysicalState& p = state.physical[i];
    if (device_type.empty() || p.spec.type == device_type) found.push_back(p.device);
  }
  return found;
}

void set_logical_device_configuration(
    const PhysicalDevice& device, const std::vector<LogicalDeviceConfiguration>& logical_devices) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  PhysicalState& physical = state.physical[index_of(state, device)];
  for (const LogicalDeviceConfiguration& logical : logical_devices) check_limit(logical, physical);
  if (physical.logical == logical_devices) return;
  check_not_started("Virtual devices cannot be modified after being initialized");
  physical.logical = logical_devices;
}

std::vector<LogicalDeviceConfiguration> get_logical_device_configuration(
    const PhysicalDevice& device) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  return state.physical[index_of(state, device)].logical;
}

void set_memory_growth(const PhysicalDevice& device, bool enable) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  PhysicalState& physical = state.physical[index_of(state, device)];
  PLIMSOLL_CHECK(
      enable || physical.spec.type != "CPU", InvalidArgumentError,
      "Memory growth of {} cannot be turned off: the CPU's memory is the system's, and is "
      "taken as it is needed",
      device.to_string());
  if (physical.grows() == enable) {
    // Asked for now, so that a later change of the setting does not undo it.
    if (!Context::is_initialized()) physical.growth = enable;
    return;
  }
  check_not_started("Physical devices cannot be modified after being initialized");
  physical.growth = enable;
}

bool get_memory_growth(const PhysicalDevice& device) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  return state.physical[index_of(state, device)].grows();
}

MemoryInfo get_memory_info(std::string_view device) {
  const memory::BudgetStats stats = logical_device(device).budget().stats();
  return {.current = stats.in_use, .peak = stats.peak};
}

void reset_memory_stats(std::string_view device) {
  memory::Budget(logical_device(device).budget()).reset_peak();
}

DeviceDetails get_device_details(const PhysicalDevice& device) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  const PhysicalSpec& spec = state.physical[index_of(state, device)].spec;
  if (spec.type == "CPU") return {};
  return {.device_name = spec.device_name,
          .compute_capability = std::pair(spec.compute_major, spec.compute_minor),
          .memory_bytes = spec.source->capacity()};
}

std::vector<SimulatedProfile> list_simulated_profiles() {
  return simulated_profiles();
}

void set_soft_device_placement(bool enabled) {
  set_soft_placement(enabled);
}
bool get_soft_device_placement() {
  return is_soft_placement();
}

namespace threading {
namespace {

void set_threads(int ConfigState::*member, int num_threads, const char* which) {
  PLIMSOLL_CHECK(num_threads >= 0, InvalidArgumentError,
                 "{} op parallelism must be 0 or more threads, got {}", which, num_threads);
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  if (state.*member == num_threads) return;
  PLIMSOLL_CHECK(!Context::is_initialized(), FailedPreconditionError,
                 "{} op parallelism cannot be modified after initialization.", which);
  state.*member = num_threads;
}

int get_threads(int ConfigState::*member) {
  ConfigState& state = config_state();
  const Lock lock(state.mutex);
  return state.*member;
}

}  // namespace

void set_intra_op_parallelism_threads(int num_threads) {
  set_threads(&ConfigState::intra_op_threads, num_threads, "Intra");
}
int get_intra_op_parallelism_threads() {
  return get_threads(&ConfigState::intra_op_threads);
}
void set_inter_op_parallelism_threads(int num_threads) {
  set_threads(&ConfigState::inter_op_threads, num_threads, "Inter");
}
int get_inter_op_parallelism_threads() {
  return get_threads(&ConfigState::inter_op_threads);
}

}  // namespace threading
}  // namespace config
}  // namespace plimsoll
