// Prepared kernels of eager calls, kept by (backend, op, attributes, specs): a bounded cache,
// counted under the `cache` tag, that trims what was not used for longest.
#pragma once

#include <memory>

#include "backend/api/kernel.h"

namespace plimsoll {

class PreparedKernel {
 public:
  struct Entry {
    const KernelDef* def = nullptr;
    KernelStatePtr state;
    ScratchBook scratch;
  };

  explicit PreparedKernel(const KernelDef* def) noexcept : def_(def) {}  // needs no preparation
  explicit PreparedKernel(std::shared_ptr<const Entry> entry) noexcept
      : def_(entry->def), entry_(std::move(entry)) {}

  std::uint64_t scratch_bytes() const noexcept {
    return entry_ ? entry_->scratch.total_bytes() : 0;
  }
  std::span<const DeviceSpan> grant(memory::Address block,
                                    DeviceSpan (&spans)[ScratchBook::kMaxSlots]) const noexcept {
    return entry_ ? entry_->scratch.grant(block, spans) : std::span<const DeviceSpan>();
  }
  const ScratchBook* scratch() const noexcept { return entry_ ? &entry_->scratch : nullptr; }
  const KernelState* state() const noexcept { return entry_ ? entry_->state.get() : nullptr; }
  Status run(const RunArgs& args) const noexcept { return def_->run(args); }

 private:
  const KernelDef* def_;
  std::shared_ptr<const Entry> entry_;
};

// The kernel for a call. throws: UnimplementedError that names op, types and backend, with the
// reasons of the kernels that refused.
PreparedKernel find_kernel(const KernelTable& table, const KernelCall& call);
// The same without the cache, for those who keep their kernels themselves.
PreparedKernel prepare_kernel(const KernelTable& table, const KernelCall& call);

struct KernelCacheStats {
  std::uint64_t num_entries = 0;
  std::uint64_t nbytes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};
KernelCacheStats kernel_cache_stats();
void clear_kernel_cache() noexcept;

}  // namespace plimsoll
