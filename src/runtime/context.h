// The runtime of the process: its devices and their budgets. Made at the first use, from the
// settings and from what the configuration calls asked for until then.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace plimsoll {

class Context {
 public:
  static Context& get();  // starts the runtime if it does not run yet
  static bool is_initialized() noexcept;

  const memory::Budget& process_budget() const noexcept { return process_; }
  const std::vector<std::unique_ptr<Device>>& devices() const noexcept { return devices_; }
  Device& cpu() noexcept { return *devices_.front(); }
  // Where an op goes that nothing else places: the first GPU if there is one, else the CPU.
  Device& default_device() noexcept { return *default_device_; }

 private:
  Context();

  memory::Budget process_;
  std::vector<std::unique_ptr<Device>> devices_;  // the CPU's first
  Device* default_device_ = nullptr;
};

}  // namespace plimsoll
