#include "runtime/placement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <vector>

#include "base/check.h"
#include "plimsoll/debugging.h"
#include "plimsoll/device.h"
#include "runtime/backends.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

constinit thread_local ScopeState* current_scope = nullptr;

namespace {

constexpr std::array<std::string_view, 5> kDeviceTypes = {"CPU", "GPU", "TPU", "CUSTOM", "EPU"};
constexpr std::int64_t kSmallElements = 64;  // integers that few stay on the host

// Soft placement in the lowest bit; the rest counts its changes, so that scopes look again.
std::atomic<std::uint64_t> soft_placement{1};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

// A number, or none for "*".
std::optional<int> parse_index(std::string_view text, std::string_view spec) {
  if (text == "*") return std::nullopt;
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  PLIMSOLL_CHECK(error == std::errc{} && stop == end && number >= 0, InvalidArgumentError,
                 "'{}' is not a number in the device spec: '{}'.", text, spec);
  return number;
}

void set_type(DeviceName& name, std::string_view type, std::string_view spec) {
  PLIMSOLL_CHECK(name.type.empty(), InvalidArgumentError,
                 "Multiple device types are not allowed while parsing the device spec: {}.", spec);
  name.type = upper(type);
}

DeviceName merge(const DeviceName& outer, const DeviceName& inner) {
  DeviceName merged = outer;
  if (!inner.job.empty()) merged.job = inner.job;
  if (inner.replica) merged.replica = inner.replica;
  if (inner.task) merged.task = inner.task;
  if (!inner.type.empty() && inner.type != outer.type) merged.index.reset();
  if (!inner.type.empty()) merged.type = inner.type;
  if (inner.index) merged.index = inner.index;
  return merged;
}

[[noreturn]] void throw_no_device(const Context& context, const DeviceName& name) {
  std::string types, devices;
  for (auto it = context.devices().rbegin(); it != context.devices().rend(); ++it) {
    if (types.find((*it)->type()) == std::string::npos)
      types += (types.empty() ? "" : ", ") + (*it)->type();
  }
  for (const auto& device : context.devices())
    devices += (devices.empty() ? "" : ", ") + device->full_name();
  throw InvalidArgumentError(
      fmt::format("Could not satisfy device specification '{}'. enable_soft_placement=0. Supported "
                  "device types "
                  "[{}]. All available devices [{}].",
                  name.to_string(), types, devices));
}

// The device that the thread's scope names; null if it names none.
Device* scope_device(Context& context) {
  ScopeState* scope = current_scope;
  if (!scope || scope->name.type.empty()) return nullptr;
  const std::uint64_t now = soft_placement.load(std::memory_order_relaxed);
  if (scope->resolved && scope->generation == now) return scope->resolved;
  Device* found = context.find_device(scope->name);
  if (!found && !(now & 1U)) throw_no_device(context, scope->name);
  scope->resolved = found ? found : &context.cpu();
  scope->generation = now;
  return scope->resolved;
}

bool is_small_integer(DType dtype, std::int64_t num_elements) noexcept {
  return (dtype == DType::kInt32 || dtype == DType::kInt64) && num_elements <= kSmallElements;
}

bool all_small_on_host(const Device& cpu, std::span<const Tensor> in) noexcept {
  return !in.empty() && std::ranges::all_of(in, [&](const Tensor& t) {
    return is_small_integer(t.dtype(), t.num_elements()) && t.impl()->buffer->device == &cpu;
  });
}

void apply_threads(const Context& context) noexcept {
  thread_local bool is_done = false;
  if (is_done || context.intra_op_threads() == 0) return;
  set_threads_here(context.intra_op_threads());
  is_done = true;
}

}  // namespace

bool DeviceName::is_local() const noexcept {
  return (job.empty() || job == "localhost") && replica.value_or(0) == 0 && task.value_or(0) == 0;
}

std::string DeviceName::to_string() const {
  return fmt::format("/job:{}/replica:{}/task:{}/device:{}:{}", job.empty() ? "localhost" : job,
                     replica.value_or(0), task.value_or(0), type,
                     index ? std::to_string(*index) : "*");
}

DeviceName parse_device_spec(std::string_view spec) {
  DeviceName name;
  for (const std::string_view part : split(spec, '/')) {
    const auto words = split(part, ':');
    const bool is_type = std::ranges::find(kDeviceTypes, upper(words[0])) != kDeviceTypes.end();
    if (words.size() == 2 && words[0] == "job") {
      name.job = words[1];
    } else if (words.size() == 2 && words[0] == "replica") {
      name.replica = parse_index(words[1], spec);
    } else if (words.size() == 2 && words[0] == "task") {
      name.task = parse_index(words[1], spec);
    } else if (words.size() <= 2 && is_type) {
      set_type(name, words[0], spec);
      if (words.size() == 2) name.index = parse_index(words[1], spec);
    } else if (words.size() == 3 && words[0] == "device") {
      set_type(name, words[1], spec);
      name.index = parse_index(words[2], spec);
    } else {
      PLIMSOLL_CHECK(words[0].empty(), InvalidArgumentError,
                     "Unknown attribute '{}' is encountered while parsing the device spec: '{}'.",
                     words[0], spec);
    }
  }
  return name;
}

DeviceName parse_device_name(std::string_view text) {
  DeviceName name;
  try {
    name = parse_device_spec(text);
  } catch (const InvalidArgumentError&) {
    name = {};
  }
  PLIMSOLL_CHECK(!name.type.empty() && name.index, InvalidArgumentError,
                 "Failed parsing device name: '{}'. Note a valid device string should at least "
                 "contain a device type and a device index, like \"GPU:0\".",
                 text);
  return name;
}

void set_soft_placement(bool enabled) noexcept {
  std::uint64_t now = soft_placement.load();
  while ((now & 1U) != enabled && !soft_placement.compare_exchange_weak(now, now + 1)) {
  }
}
bool is_soft_placement() noexcept {
  return soft_placement.load() & 1U;
}

bool has_kernel(const KernelTable& table, OpId op, std::span<const Tensor> in) noexcept {
  return std::ranges::any_of(table.rows(op), [&](const KernelDef* row) {
    return in.empty() || row->dtypes.has(in[0].dtype());
  });
}

Device& place_slow(Context& context, OpId op, std::span<const Tensor> in) {
  apply_threads(context);
  const bool has_strings =
      std::ranges::any_of(in, [](const Tensor& t) { return t.dtype() == DType::kString; });
  if (has_strings) return context.cpu();
  const bool is_view = op_def(op).is_view;
  if (Device* asked = scope_device(context)) {
    if (is_view || has_kernel(asked->kernels(), op, in)) return *asked;
    // Without soft placement the look-up of the kernel will say what is missing.
    return is_soft_placement() ? context.cpu() : *asked;
  }
  if (is_view) return *owner_of(in[0]);
  if (all_small_on_host(context.cpu(), in)) return context.cpu();
  Device& device = context.default_device();
  return has_kernel(device.kernels(), op, in) ? device : context.cpu();
}

Device& place_value(DType dtype, std::int64_t num_elements) {
  Context& context = Context::get();
  if (dtype == DType::kString) return context.cpu();
  if (Device* asked = scope_device(context)) return *asked;
  return is_small_integer(dtype, num_elements) ? context.cpu() : context.default_device();
}

// Asked for by the user, so the level of the log does not matter.
void log_placement(std::string_view op, const Device& device) noexcept {
  try {
    const std::string line = fmt::format("Executing op {} in device {}\n", op, device.full_name());
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (...) {  // no memory for the line: the op goes on without it
  }
}

DeviceScope::DeviceScope(std::optional<std::string_view> device_name)
    : state_(std::make_unique<ScopeState>()) {
  if (device_name) {
    const DeviceName own = parse_device_spec(*device_name);
    state_->name = current_scope ? merge(current_scope->name, own) : own;
  }
  state_->outer = current_scope;
  current_scope = state_.get();
}

DeviceScope::~DeviceScope() {
  current_scope = state_->outer;
}

DeviceScope device(std::optional<std::string_view> device_name) {
  return DeviceScope(device_name);
}

namespace debugging {
void set_log_device_placement(bool enabled) {
  is_logging_placement.store(enabled);
}
bool get_log_device_placement() {
  return is_logging_placement.load();
}
}  // namespace debugging

}  // namespace plimsoll
