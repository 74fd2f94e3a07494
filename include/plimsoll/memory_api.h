// The memory of the running process: its budget, scopes with a budget of their own, who holds what.
//
//   tf::memory::set_budget("2GiB");
//   {
//     tf::memory::BudgetScope scope("256MiB");   // what this thread allocates from here on
//     y = tf::matmul(x, x);                      // ResourceExhaustedError if it needs more
//   }
//   std::puts(tf::memory::report().to_string().c_str());
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/memory/budget.h"

namespace plimsoll::memory {

// The limit for the host's memory, whoever uses it: CPUs, staging, caches, and GPUs that share it.
// GPUs with memory of their own have their own limits (config.h). Before the runtime starts the
// last call wins, over PLIMSOLL_BUDGET too; afterwards it changes at once.
// throws: InvalidArgumentError for what is no size; FailedPreconditionError if more is in use.
void set_budget(std::string_view limit);  // "2GiB"
void set_budget(std::uint64_t limit_bytes);
std::optional<std::uint64_t> get_budget();  // none: no limit but the devices' own

struct BudgetScopeState;  // internal

// While it lives, what this thread allocates counts against `limit` as well, on each device by
// itself: a budget below the logical device's. Scopes nest. Threads of a dataset count against the
// scope in which its iteration began. What is allocated may outlive the scope and counts against
// it as long.
class [[nodiscard]] BudgetScope {
 public:
  explicit BudgetScope(std::string_view limit);  // "256MiB"
  explicit BudgetScope(std::uint64_t limit_bytes);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

  // Of all devices together.
  std::uint64_t in_use() const;
  std::uint64_t peak() const;  // the sum of each device's peak

 private:
  std::shared_ptr<BudgetScopeState> state_;
};

struct ReportRow {
  std::string device;  // "GPU:0"
  std::string budget;  // where it is booked: the device, or "GPU:0/scope", "CPU:0/staging"
  Tag tag = Tag::kActivations;
  std::string owner;  // op, layer or variable; "" if it has no name
  std::uint64_t nbytes = 0;
  std::uint64_t count = 0;  // tensors or other reservations
};

struct ReportDevice {
  std::string name;
  std::uint64_t limit = kNoLimit;
  std::string limit_origin;
  std::uint64_t in_use = 0;
  std::uint64_t peak = 0;
  std::uint64_t committed = 0;  // pages held, warm ones included
};

struct Report {
  std::vector<ReportDevice> devices;
  std::vector<ReportRow> rows;  // largest first
  std::uint64_t total = 0;      // of all rows: what the process holds on all devices
  // Borrowed from the caller, as arrays that fit reads: in no row and on no budget.
  std::uint64_t external = 0;
  std::uint64_t external_count = 0;

  std::string to_string() const;  // a table
  std::string to_json() const;
};

// Who holds what now. A device whose memory was taken up front has a row for the part that nobody
// uses. Empty if the runtime has not started.
Report report();

// Gives back everything that nobody uses: warm pages, idle arenas of functions, prepared kernels.
// Returns the bytes.
std::uint64_t trim() noexcept;

// Limit, use and peak of a logical device, "GPU:0", or of everything together.
// throws: InvalidArgumentError if there is no such device.
BudgetStats stats(std::string_view device = "");

// Another limit for a logical device, "GPU:0", of the runtime that has started. `origin` says who
// wants it, for messages.
// throws: InvalidArgumentError if there is no such device; FailedPreconditionError if more is in
// use.
void set_limit(std::string_view device, std::uint64_t limit_bytes, const std::string& origin);

}  // namespace plimsoll::memory
