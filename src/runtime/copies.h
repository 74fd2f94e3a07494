// Copies between devices, and between a device and the host. What does not go from CPU to CPU goes
// through staging: host memory with a limit and a tag of its own, in pieces, so that the limit
// holds however large the tensor is. One copy uses it at a time.
#pragma once

#include <cstdint>
#include <mutex>

#include "plimsoll/memory/heap.h"
#include "plimsoll/tensor.h"
#include "runtime/device.h"

namespace plimsoll {

class Staging {
 public:
  Staging(memory::SourcePtr source, const memory::Budget& budget);

  const memory::Budget& budget() const noexcept { return budget_; }
  memory::Heap& heap() noexcept { return heap_; }

 private:
  friend class StagingLease;
  const memory::Budget budget_;
  memory::Heap heap_;
  std::mutex mutex_;  // held by the copy that uses the buffer
};

// The staging buffer, for copies of at most `largest` bytes. Take it before anything changes: once
// it is there, copies do not fail.
class StagingLease {
 public:
  StagingLease() noexcept = default;  // none: for copies inside the host
  // memory: a piece of up to 4 MiB, tagged `staging`; less if there is not so much.
  // throws: ResourceExhaustedError.
  StagingLease(Staging& staging, std::uint64_t largest);
  // A lease if copies between these two need one.
  static StagingLease between(const Device& src, const Device& dst, std::uint64_t largest);

  void* data() const noexcept { return block_.data(); }
  std::uint64_t nbytes() const noexcept { return block_.nbytes(); }

 private:
  std::unique_lock<std::mutex> lock_;
  memory::Block block_;  // after the lock: given back before it is opened
};

// pre: the lease is of the kind that between() gives for the two. Copies fail only where a device
// does. throws: InternalError.
void copy_between(const Device& src, memory::Address from, const Device& dst, memory::Address to,
                  std::uint64_t nbytes, const StagingLease& lease);
void copy_from_host(const void* from, const Device& dst, memory::Address to, std::uint64_t nbytes,
                    const StagingLease& lease);
void copy_to_host(const Device& src, memory::Address from, void* to, std::uint64_t nbytes,
                  const StagingLease& lease);

// A new tensor on `dst` with the elements of `src`. throws: ResourceExhaustedError.
Tensor copy_to(Device& dst, const Tensor& src, memory::Owner owner);

}  // namespace plimsoll
