// Which device an op runs on.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ops/op_def.h"
#include "plimsoll/tensor.h"
#include "runtime/context.h"

namespace plimsoll {

// A device's name in parts; what is missing is empty.
struct DeviceName {
  std::string job;
  std::optional<int> replica, task;
  std::string type;  // "CPU", "GPU", in capitals
  std::optional<int> index;

  bool is_local() const noexcept;  // names no other job, replica or task than this process
  std::string to_string() const;   // "/job:localhost/replica:0/task:0/device:GPU:0"
};

// What tf::device takes. throws: InvalidArgumentError in TensorFlow's words.
DeviceName parse_device_spec(std::string_view spec);
// What get_memory_info takes: type and index are required.
DeviceName parse_device_name(std::string_view name);

// A device scope of this thread.
struct ScopeState {
  ScopeState* outer = nullptr;
  DeviceName name;               // merged with the scopes around; no type: automatic placement
  Device* resolved = nullptr;    // null: not looked up yet, or automatic
  std::uint64_t generation = 0;  // of the soft placement for which it was looked up
};
extern constinit thread_local ScopeState* current_scope;

void set_soft_placement(bool enabled) noexcept;
bool is_soft_placement() noexcept;

// Whether a backend has a row for the op and for the type of its first input.
bool has_kernel(const KernelTable& table, OpId op, std::span<const Tensor> in) noexcept;

Device& place_slow(Context& context, OpId op, std::span<const Tensor> in);
// Where an op with these inputs runs. throws: InvalidArgumentError if there is no such device and
// placement is not soft.
inline Device& place(OpId op, std::span<const Tensor> in) {
  Context& context = Context::get();
  if (context.is_plain() && !current_scope) [[likely]]
    return context.cpu();
  return place_slow(context, op, in);
}
// Where a new value goes that comes from the host.
Device& place_value(DType dtype, std::int64_t num_elements);

// Set by debugging::set_log_device_placement.
inline std::atomic<bool> is_logging_placement{false};
void log_placement(std::string_view op, const Device& device) noexcept;

}  // namespace plimsoll
