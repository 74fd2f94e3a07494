// Devices and their limits: tf.config in C++, with TensorFlow's names.
//
//   namespace tf = plimsoll;
//   auto gpu = tf::config::list_physical_devices("GPU").at(0);
//   tf::config::set_memory_growth(gpu, true);
//   tf::config::set_logical_device_configuration(gpu, {{.memory_limit = 512}});   // MiB
//   tf::Tensor x = tf::ones({1024, 1024});                  // the runtime starts here
//   tf::config::get_memory_info("GPU:0").current;           // 4194304
//
// The runtime starts with the first tensor, op or call that needs logical devices. Until then the
// last call wins; afterwards only what is set already is accepted. TensorFlow's ValueError is
// InvalidArgumentError here, its RuntimeError FailedPreconditionError, with the same words.
//
// Limits hold on every device, the CPU included, and together with growth. They form one tree:
//   process (PLIMSOLL_BUDGET) > physical device > logical device > scope (memory::BudgetScope)
// A GPU with memory of its own stands beside the process and not below it: PLIMSOLL_BUDGET is about
// the host's memory. Where host and GPU share their memory (a Jetson), both draw on one pool below
// the process. docs/devices.md says more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plimsoll::config {

struct PhysicalDevice {
  std::string name;         // "/physical_device:GPU:0"
  std::string device_type;  // "CPU", "GPU"

  std::string to_string() const;  // PhysicalDevice(name='...', device_type='...')
  friend bool operator==(const PhysicalDevice&, const PhysicalDevice&) = default;
};

struct LogicalDevice {
  std::string name;  // "/device:GPU:0"
  std::string device_type;

  friend bool operator==(const LogicalDevice&, const LogicalDevice&) = default;
};

struct LogicalDeviceConfiguration {
  std::optional<std::int64_t> memory_limit = std::nullopt;  // MiB; GPUs need one

  friend bool operator==(const LogicalDeviceConfiguration&,
                         const LogicalDeviceConfiguration&) = default;
};

struct MemoryInfo {
  std::uint64_t current = 0;  // bytes in use, each tensor rounded up to 64
  std::uint64_t peak = 0;     // since the start, or the last reset_memory_stats
};

struct DeviceDetails {
  std::string device_name;                                // "" for the CPU
  std::optional<std::pair<int, int>> compute_capability;  // of a CUDA device or what simulates one
  std::optional<std::uint64_t> memory_bytes;              // usable capacity; none for the CPU
};

// All of these may be called from any thread. A device that is none of list_physical_devices() is
// InvalidArgumentError "Unrecognized device: ...".

// Does not start the runtime; an unknown type gives an empty list.
std::vector<PhysicalDevice> list_physical_devices(std::string_view device_type = "");
// Starts the runtime. throws: NotFoundError if no CPU is visible; ResourceExhaustedError if memory
// that is to be taken up front is not there.
std::vector<LogicalDevice> list_logical_devices(std::string_view device_type = "");

// Only visible devices become logical ones. With a type, the devices of other types stay as they
// are. throws: FailedPreconditionError after the start, if it would change something.
void set_visible_devices(const std::vector<PhysicalDevice>& devices,
                         std::string_view device_type = "");
void set_visible_devices(const PhysicalDevice& device, std::string_view device_type = "");
std::vector<PhysicalDevice> get_visible_devices(std::string_view device_type = "");

// One logical device per entry, each with its limit; an empty list means one that has the whole
// device. throws: InvalidArgumentError for a limit below 1 MiB or beyond what can be addressed, and
// for a GPU without one; FailedPreconditionError after the start.
void set_logical_device_configuration(
    const PhysicalDevice& device, const std::vector<LogicalDeviceConfiguration>& logical_devices);
std::vector<LogicalDeviceConfiguration> get_logical_device_configuration(
    const PhysicalDevice& device);

// true (where GPUs start, unless the setting gpu_growth says otherwise): memory is taken as it is
// needed. false: the whole limit is taken when the runtime starts, and kept.
// throws: InvalidArgumentError for false on the CPU; FailedPreconditionError after the start.
void set_memory_growth(const PhysicalDevice& device, bool enable);
bool get_memory_growth(const PhysicalDevice& device);

// `device` is the name of a logical device with its index: "GPU:0", "/device:GPU:0".
MemoryInfo get_memory_info(std::string_view device);
void reset_memory_stats(std::string_view device);

DeviceDetails get_device_details(const PhysicalDevice& device);

// A GPU that can be simulated: settings::set("sim_devices", name) before the runtime starts.
struct SimulatedProfile {
  std::string name;                // "jetson-nano-4gb"
  std::string device_name;         // as the vendor's driver calls it
  std::uint64_t memory_bytes = 0;  // usable capacity
  bool is_unified = false;         // shares its memory with the CPU
};
std::vector<SimulatedProfile> list_simulated_profiles();

// true (the start): an op that is asked onto a device that does not exist, or that has no kernel
// for it, runs on the CPU. false: InvalidArgumentError. May change at any time.
void set_soft_device_placement(bool enabled);
bool get_soft_device_placement();

namespace threading {
// Threads of one op; 0 is one per core. throws: FailedPreconditionError after the start.
void set_intra_op_parallelism_threads(int num_threads);
int get_intra_op_parallelism_threads();
// Ops run one after the other, so this is kept but changes nothing.
void set_inter_op_parallelism_threads(int num_threads);
int get_inter_op_parallelism_threads();
}  // namespace threading

// The names under which TensorFlow had these first.
namespace experimental {
using config::get_device_details;
using config::get_memory_growth;
using config::get_memory_info;
using config::get_visible_devices;
using config::list_logical_devices;
using config::list_physical_devices;
using config::reset_memory_stats;
using config::set_memory_growth;
using config::set_visible_devices;
using VirtualDeviceConfiguration = LogicalDeviceConfiguration;
inline void set_virtual_device_configuration(
    const PhysicalDevice& device, const std::vector<LogicalDeviceConfiguration>& virtual_devices) {
  set_logical_device_configuration(device, virtual_devices);
}
inline std::vector<LogicalDeviceConfiguration> get_virtual_device_configuration(
    const PhysicalDevice& device) {
  return get_logical_device_configuration(device);
}
}  // namespace experimental

}  // namespace plimsoll::config
