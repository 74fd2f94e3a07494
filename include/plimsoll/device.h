// Where ops run.
//
//   {
//     auto scope = tf::device("/GPU:1");
//     y = tf::matmul(x, x);             // on GPU:1, and x is copied there if it is elsewhere
//   }
//   tf::Tensor z = tf::identity(y);     // on the default device again
//
// Without a scope ops go to the first GPU if there is one and it has the kernel, else to the CPU;
// small integers (64 elements at most) that are on the CPU stay there.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

namespace plimsoll {

struct ScopeState;  // internal

// Holds for the thread that made it, until it goes. Scopes nest; the innermost counts.
class [[nodiscard]] DeviceScope {
 public:
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  friend DeviceScope device(std::optional<std::string_view> device_name);
  explicit DeviceScope(std::optional<std::string_view> device_name);
  std::unique_ptr<ScopeState> state_;
};

// "/GPU:0", "GPU", "/device:CPU:1" or "/job:localhost/replica:0/task:0/device:GPU:0"; parts that
// are missing come from the scope around. None: ops are placed as if there were no scope. throws:
// InvalidArgumentError for a name that cannot be read. That the device exists is checked when an op
// runs: see config::set_soft_device_placement.
DeviceScope device(std::optional<std::string_view> device_name);

}  // namespace plimsoll
