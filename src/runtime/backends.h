// The devices and backends of this build; backends.cpp is the only place that knows them by name.
#pragma once

#include <string>
#include <vector>

#include "backend/api/kernel.h"
#include "plimsoll/config.h"
#include "plimsoll/memory/source.h"

namespace plimsoll {

// A device of this machine, or a simulated one, as it is before anybody configures it.
struct PhysicalSpec {
  std::string type;         // "CPU", "GPU"
  int index = 0;            // among its type
  std::string profile;      // of a simulated device; "" for the others
  std::string device_name;  // as the vendor calls it; "" for the CPU
  bool is_unified = false;  // draws on the host's memory
  int compute_major = 0, compute_minor = 0;
  memory::SourcePtr source;
  const KernelTable* kernels = nullptr;

  const std::string& label() const noexcept { return profile.empty() ? device_name : profile; }
};

// The CPU, then the GPUs: those of the setting sim_devices, then those of OpenCL (setting opencl).
// throws: InvalidArgumentError for a profile that does not exist.
std::vector<PhysicalSpec> find_physical_devices();

// What sim_devices may name.
std::vector<config::SimulatedProfile> simulated_profiles();

// What this build has, whether there are such devices or not; for looking at the rows.
std::vector<Backend> all_backends();

// Has kernels that this thread calls use so many threads.
void set_threads_here(int num_threads) noexcept;

}  // namespace plimsoll
