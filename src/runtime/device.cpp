#include "runtime/device.h"

#include <fmt/core.h>

#include <cstring>

#include "runtime/context.h"
#include "runtime/copies.h"

namespace plimsoll {

Device::Device(Options options)
    : options_(std::move(options)),
      is_host_(options_.type == "CPU"),
      short_name_(fmt::format("{}:{}", options_.type, options_.index)),
      full_name_("/job:localhost/replica:0/task:0/device:" + short_name_),
      heap_(options_.source, options_.budget,
            {.name = short_name_, .up_front = options_.up_front}) {}

void Device::copy_to_host(const memory::Block& block, std::uint64_t offset, void* to,
                          std::uint64_t nbytes) const {
  const StagingLease lease =
      is_host_ ? StagingLease() : StagingLease(Context::get().staging(), nbytes);
  plimsoll::copy_to_host(*this, block.address() + offset, to, nbytes, lease);
}

// Every device so far has memory that the host can address: the CPU, and simulated devices.
void Device::read(void* to, memory::Address from, std::uint64_t nbytes) const noexcept {
  std::memcpy(to, reinterpret_cast<const void*>(from), nbytes);
}
void Device::write(memory::Address to, const void* from, std::uint64_t nbytes) const noexcept {
  std::memcpy(reinterpret_cast<void*>(to), from, nbytes);
}
void Device::move(memory::Address to, memory::Address from, std::uint64_t nbytes) const noexcept {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), nbytes);
}

}  // namespace plimsoll
