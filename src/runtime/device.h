// A logical device: a budget, a heap and kernels.
#pragma once

#include <memory>
#include <string>

#include "backend/api/kernel.h"
#include "plimsoll/memory/heap.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {

class Device final : public TensorDevice {
 public:
  struct Options {
    std::string type;  // "CPU", "GPU"
    int index = 0;     // among its type
    memory::SourcePtr source;
    memory::Budget budget;
    bool up_front = false;  // the whole limit is taken at the start
    const KernelTable* kernels = nullptr;
  };
  explicit Device(Options options);

  const std::string& type() const noexcept { return options_.type; }
  int index() const noexcept { return options_.index; }
  bool is_host() const noexcept { return is_host_; }
  bool is_up_front() const noexcept { return options_.up_front; }
  const std::string& short_name() const noexcept { return short_name_; }  // "GPU:0"
  const std::string& full_name() const noexcept override { return full_name_; }
  const KernelTable& kernels() const noexcept { return *options_.kernels; }
  const memory::Budget& budget() const noexcept { return options_.budget; }
  memory::Heap& heap() noexcept { return heap_; }

  void copy_to_host(const memory::Block& block, std::uint64_t offset, void* to,
                    std::uint64_t nbytes) const override;

  // Bytes of this device, from and to memory that it reaches: its own, or staging
  // (runtime/copies.h).
  // throws: InternalError if the device has failed; never on the host.
  void read(void* to, memory::Address from, std::uint64_t nbytes) const;
  void write(memory::Address to, const void* from, std::uint64_t nbytes) const;
  void move(memory::Address to, memory::Address from, std::uint64_t nbytes) const;

 private:
  const Options options_;
  const bool is_host_;
  const std::string short_name_;
  const std::string full_name_;
  memory::Heap heap_;
};

// The device that a tensor is on. pre: it has a buffer.
inline Device* owner_of(const Tensor& tensor) noexcept {
  // Every TensorDevice is a Device, and none of them is const.
  return const_cast<Device*>(static_cast<const Device*>(tensor.impl()->buffer->device));
}
inline memory::Address address_of(const Tensor& tensor) noexcept {
  return tensor.impl()->buffer->block.address() + tensor.impl()->offset;
}

}  // namespace plimsoll
