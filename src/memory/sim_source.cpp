#include <bit>

#include "base/check.h"
#include "memory/rounding.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory/host.h"
#include "plimsoll/memory/source.h"

namespace plimsoll::memory {
namespace {

class SimSource final : public Source {
 public:
  SimSource(SimOptions options, SourcePtr host)
      : options_(std::move(options)),
        limited_(make_limit_source(host, round_down(options_.capacity, options_.granularity))),
        host_(std::move(host)) {}

  std::string name() const override { return options_.name; }
  std::uint64_t capacity() const noexcept override { return limited_->capacity(); }
  std::uint64_t granularity() const noexcept override { return options_.granularity; }
  std::uint64_t address_step() const noexcept override { return host_->address_step(); }

  Address try_reserve(std::uint64_t nbytes) noexcept override {
    // Host ranges start at multiples of 2 MiB; a coarser granularity aligns them by padding.
    const std::uint64_t padding = options_.granularity > (2U << 20) ? options_.granularity : 0;
    if (nbytes > kNoLimit - padding) return 0;
    const Address raw = host_->try_reserve(nbytes + padding);
    if (!raw || !padding) return raw;
    const Address start = round_up(raw, padding);
    if (start > raw) host_->release(raw, start - raw);
    const std::uint64_t rest = raw + padding - start;
    if (rest) host_->release(start + nbytes, rest);
    return start;
  }
  bool try_commit(Address address, std::uint64_t nbytes) noexcept override {
    return limited_->try_commit(address, nbytes);
  }
  void decommit(Address address, std::uint64_t nbytes) noexcept override {
    limited_->decommit(address, nbytes);
  }
  void release(Address address, std::uint64_t nbytes) noexcept override {
    host_->release(address, nbytes);
  }
  bool populate(Address address, std::uint64_t nbytes) noexcept override {
    return host_->populate(address, nbytes);
  }

 private:
  const SimOptions options_;
  const SourcePtr limited_;  // counts what is committed
  const SourcePtr host_;
};

}  // namespace

SourcePtr make_sim_source(SimOptions options) {
  SourcePtr host = make_host_source({.huge_pages = false});
  PLIMSOLL_CHECK(
      std::has_single_bit(options.granularity) && options.granularity >= host->granularity() &&
          options.granularity <= 1_GiB,
      InvalidArgumentError,
      "granularity of simulated device '{}' must be a power of two from {} to 1 GiB, got {}",
      options.name, format_bytes(host->granularity()), options.granularity);
  PLIMSOLL_CHECK(options.capacity >= options.granularity && options.capacity <= kNoLimit,
                 InvalidArgumentError,
                 "capacity of simulated device '{}' must be at least its granularity {}, got {}",
                 options.name, options.granularity, options.capacity);
  return std::make_shared<SimSource>(std::move(options), std::move(host));
}

}  // namespace plimsoll::memory
