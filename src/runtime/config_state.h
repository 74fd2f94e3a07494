// What the configuration calls asked for; the runtime is made from it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/config.h"
#include "runtime/backends.h"

namespace plimsoll {

struct PhysicalState {
  PhysicalSpec spec;
  config::PhysicalDevice device;
  std::vector<config::LogicalDeviceConfiguration> logical;  // empty: one, without a limit
  std::optional<bool> growth;                               // none: nobody asked

  // What counts: the call, else the setting gpu_growth; the CPU always grows.
  bool grows() const;
};

struct ConfigState {
  std::mutex mutex;                     // guards all below; held while the runtime is made
  std::vector<PhysicalState> physical;  // the CPU first
  std::vector<std::size_t> visible;     // indices of the above, in the order asked for
  int intra_op_threads = 0;
  int inter_op_threads = 0;
  std::optional<std::uint64_t> budget;  // of memory::set_budget, before the start
};

// Finds the physical devices at the first call. throws: InvalidArgumentError for bad settings.
ConfigState& config_state();

}  // namespace plimsoll
