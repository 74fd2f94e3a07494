#include "runtime/backends.h"

#include <omp.h>

#include "backend/cpu/cpu.h"
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

}  // namespace

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
  return found;
}

void set_threads_here(int num_threads) noexcept {
  omp_set_num_threads(num_threads);
}

}  // namespace plimsoll
