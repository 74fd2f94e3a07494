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
    bool up_front = false;
    const KernelTable* kernels = nullptr;
  };
  explicit Device(Options options);

  const std::string& type() const noexcept { return options_.type; }
  int index() const noexcept { return options_.index; }
  const std::string& short_name() const noexcept { return short_name_; }  // "GPU:0"
  const std::string& full_name() const noexcept override { return full_name_; }
  const KernelTable& kernels() const noexcept { return *options_.kernels; }
  const memory::Budget& budget() const noexcept { return options_.budget; }
  memory::Heap& heap() noexcept { return heap_; }

  void copy_to_host(const memory::Block& block, std::uint64_t offset, void* to,
                    std::uint64_t nbytes) const override;
  void copy_from_host(const memory::Block& block, std::uint64_t offset, const void* from,
                      std::uint64_t nbytes) const;

 private:
  const Options options_;
  const std::string short_name_;
  const std::string full_name_;
  memory::Heap heap_;
};

}  // namespace plimsoll
