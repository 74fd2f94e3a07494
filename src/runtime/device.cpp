#include "runtime/device.h"

#include <fmt/core.h>

#include <cstring>

namespace plimsoll {

Device::Device(Options options)
    : options_(std::move(options)),
      short_name_(fmt::format("{}:{}", options_.type, options_.index)),
      full_name_("/job:localhost/replica:0/task:0/device:" + short_name_),
      heap_(options_.source, options_.budget,
            {.name = short_name_, .up_front = options_.up_front}) {}

// Every device so far has memory that the host can address: the CPU, and simulated devices.
void Device::copy_to_host(const memory::Block& block, std::uint64_t offset, void* to,
                          std::uint64_t nbytes) const {
  std::memcpy(to, static_cast<const char*>(block.data()) + offset, nbytes);
}

void Device::copy_from_host(const memory::Block& block, std::uint64_t offset, const void* from,
                            std::uint64_t nbytes) const {
  std::memcpy(static_cast<char*>(block.data()) + offset, from, nbytes);
}

}  // namespace plimsoll
