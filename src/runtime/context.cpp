#include "runtime/context.h"

#include "plimsoll/settings.h"
#include "runtime/backends.h"

namespace plimsoll {
namespace {

std::atomic<bool> is_running{false};

memory::Budget make_process_budget() {
  memory::BudgetOptions options{.name = "process"};
  if (const auto limit = settings::get_bytes("budget")) {
    options.limit = *limit;
    options.origin = settings::origin("budget").text;
  }
  return memory::Budget(options);
}

memory::Budget make_cpu_budget(const memory::Budget& process) {
  if (const auto limit = settings::get_bytes("cpu_limit")) {
    return memory::Budget(
        process, {.name = "CPU:0", .limit = *limit, .origin = settings::origin("cpu_limit").text});
  }
  const memory::HostLimit room = memory::default_host_limit();
  return memory::Budget(process, {.name = "CPU:0", .limit = room.bytes, .origin = room.origin});
}

}  // namespace

Context& Context::get() {
  static Context& context = *new Context;  // never destroyed: tensors may outlive main()
  return context;
}

bool Context::is_initialized() noexcept {
  return is_running.load();
}

Context::Context() : process_(make_process_budget()) {
  devices_.push_back(std::make_unique<Device>(Device::Options{.type = "CPU",
                                                              .index = 0,
                                                              .source = memory::make_host_source(),
                                                              .budget = make_cpu_budget(process_),
                                                              .kernels = &cpu_kernels()}));
  default_device_ = devices_.front().get();
  is_running = true;
}

}  // namespace plimsoll
