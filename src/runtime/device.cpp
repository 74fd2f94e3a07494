#include "runtime/device.h"

#include <fmt/core.h>

#include <cstring>

#include "runtime/context.h"
#include "runtime/copies.h"

namespace plimsoll {
namespace {

void check_copy(const Status& status, const char* what, const std::string& device) {
  if (!status.ok()) status.throw_if_error(fmt::format("{} {}", what, device));
}

}  // namespace

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

void Device::read(void* to, memory::Address from, std::uint64_t nbytes) const {
  if (nbytes == 0) return;
  if (RemoteDevice* remote = kernels().device()) {
    check_copy(remote->read(to, from, nbytes), "copy from", short_name_);
  } else {
    std::memcpy(to, reinterpret_cast<const void*>(from), nbytes);
  }
}
void Device::write(memory::Address to, const void* from, std::uint64_t nbytes) const {
  if (nbytes == 0) return;
  if (RemoteDevice* remote = kernels().device()) {
    check_copy(remote->write(to, from, nbytes), "copy to", short_name_);
  } else {
    std::memcpy(reinterpret_cast<void*>(to), from, nbytes);
  }
}
void Device::move(memory::Address to, memory::Address from, std::uint64_t nbytes) const {
  if (nbytes == 0) return;
  if (RemoteDevice* remote = kernels().device()) {
    check_copy(remote->move(to, from, nbytes), "copy on", short_name_);
  } else {
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), nbytes);
  }
}

}  // namespace plimsoll
