// The runtime of the process: its devices and their budgets. Made at the first use, from the
// settings and from what the configuration calls asked for until then.
//
// Budgets form one tree. Nodes in brackets are there only if needed:
//   [machine, if devices are simulated: what this machine really has]
//     process (PLIMSOLL_BUDGET)
//       [pool: the memory that CPU and GPU share]
//         CPU:0, or [physical CPU:0] > CPU:0, CPU:1, ...   > scopes, staging
//         GPU:0 of unified memory                           > scopes
//     GPU:0 of memory of its own                            > scopes
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.h"

namespace plimsoll {

struct ConfigState;
struct DeviceName;
struct PhysicalState;
class Staging;

class Context {
 public:
  // Starts the runtime if it does not run yet.
  // throws: NotFoundError, InvalidArgumentError, ResourceExhaustedError; it can be tried again.
  static Context& get() {
    Context* running = running_.load(std::memory_order_acquire);
    return running ? *running : start();
  }
  static bool is_initialized() noexcept { return running_.load() != nullptr; }

  const memory::Budget& root_budget() const noexcept { return *root_; }  // above everything
  const memory::Budget& process_budget() const noexcept { return *process_; }
  const std::vector<std::unique_ptr<Device>>& devices() const noexcept { return devices_; }
  Device& cpu() noexcept { return *devices_.front(); }
  // Where an op goes that nothing else places: the first GPU if there is one, else the CPU.
  Device& default_device() noexcept { return *default_device_; }
  // The device of that type and index (the first one if there is no index); null if there is none.
  Device* find_device(const DeviceName& name) noexcept;
  Staging& staging() noexcept { return *staging_; }

  // One device, and nothing to set per thread: ops need no placing unless there is a scope.
  bool is_plain() const noexcept { return is_plain_; }
  int intra_op_threads() const noexcept { return intra_op_threads_; }  // 0: as OpenMP has it

 private:
  explicit Context(const ConfigState& config);
  static Context& start();
  void make_devices(const ConfigState& config);
  void make_logical(const PhysicalState& physical, const memory::Budget& parent);
  void make_staging();

  inline static std::atomic<Context*> running_{
      nullptr};  // never destroyed: tensors may outlive main()

  std::optional<memory::Budget> root_;
  std::optional<memory::Budget> process_;
  std::vector<std::unique_ptr<Device>> devices_;  // CPUs first
  std::unique_ptr<Staging> staging_;
  Device* default_device_ = nullptr;
  bool is_plain_ = true;
  int intra_op_threads_ = 0;
};

}  // namespace plimsoll
