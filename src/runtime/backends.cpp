#include "runtime/backends.h"

#include <omp.h>

#include <map>

#include "backend/cpu/cpu.h"
#include "backend/opencl/opencl.h"
#include "backend/sim/sim.h"
#include "plimsoll/settings.h"

namespace plimsoll {
namespace {

const KernelTable& cpu_kernels() {
  static const KernelTable& table = *new KernelTable(cpu::make_backend());
  return table;
}

const KernelTable& sim_kernels() {
  static const KernelTable& table = *new KernelTable(sim::make_backend());
  return table;
}

const KernelTable& opencl_kernels(opencl::ClDevice& device) {
  static auto& tables = *new std::map<opencl::ClDevice*, KernelTable>;
  return tables.try_emplace(&device, opencl::make_backend(&device)).first->second;
}

}  // namespace

std::vector<Backend> all_backends() {
  return {cpu::make_backend(), sim::make_backend(), opencl::make_backend(nullptr)};
}

std::vector<config::SimulatedProfile> simulated_profiles() {
  std::vector<config::SimulatedProfile> all;
  for (const sim::Profile& profile : sim::profiles()) {
    all.push_back({.name = std::string(profile.name),
                   .device_name = std::string(profile.device_name),
                   .memory_bytes = profile.capacity,
                   .is_unified = profile.memory == sim::MemoryKind::kUnified});
  }
  return all;
}

std::vector<PhysicalSpec> find_physical_devices() {
  std::vector<PhysicalSpec> found;
  found.push_back({.type = "CPU", .source = memory::make_host_source(), .kernels = &cpu_kernels()});
  int num_gpus = 0;
  for (const std::string& name : settings::get_list("sim_devices")) {
    const sim::Profile& profile = sim::find_profile(name);
    found.push_back({.type = "GPU",
                     .index = num_gpus++,
                     .profile = std::string(profile.name),
                     .device_name = std::string(profile.device_name),
                     .is_unified = profile.memory == sim::MemoryKind::kUnified,
                     .compute_major = profile.compute_major,
                     .compute_minor = profile.compute_minor,
                     .source = sim::make_source(profile),
                     .kernels = &sim_kernels()});
  }
  const std::string opencl = settings::get_string("opencl");
  if (opencl == "off" || opencl == "0") return found;
  for (const auto& device : opencl::find_devices(opencl == "on" || opencl == "1")) {
    found.push_back({.type = "GPU",
                     .index = num_gpus++,
                     .device_name = device->name(),
                     .is_unified = device->is_unified(),
                     .source = opencl::make_source(device),
                     .kernels = &opencl_kernels(*device)});
  }
  return found;
}

void set_threads_here(int num_threads) noexcept {
  omp_set_num_threads(num_threads);
}

}  // namespace plimsoll
