// A Budget is a hard limit: every byte is reserved here before it exists.
//
//   Budget process({.name = "process", .limit = 2_GiB});
//   Budget gpu(process, {.name = "GPU:0", .limit = 512_MiB, .origin = "memory_limit of GPU:0"});
//   Reservation claim = gpu.reserve(100_MiB, Owner(Tag::kWeights, "dense_1"));   // or throws
//   gpu.in_use();   // 100 MiB, and so process.in_use()
//
// Budgets form a tree: process > physical device > logical device > scope. A reservation is booked
// on its budget and on all above, all or none, under the one mutex of the tree: the counts are
// exact at any moment, and a refused request is never visible to others. Sizes count rounded up to
// 64 bytes.
//
// Pages behind reservations are counted beside them (`committed`): memory that was freed but is
// still warm is returned to the system before a limit is passed by it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/memory/host.h"
#include "plimsoll/memory/owner.h"

namespace plimsoll::memory {

struct BudgetNode;  // internal

// Why a request was refused. Plain numbers, taken while the lock was held; turned into words later.
struct Refusal {
  enum class Why : std::uint8_t { kLimit, kSource, kAddressSpace, kHoles, kSize };

  std::uint64_t asked = 0;
  Owner owner;
  Why why = Why::kLimit;
  BudgetNode* node = nullptr;  // internal: whose numbers these are
  std::uint64_t limit = 0;
  std::uint64_t in_use = 0;
  TagBytes by_tag{};

  std::string budget;  // filled in by describe() and by the throwing calls
  std::string origin;

  std::uint64_t free() const noexcept { return limit > in_use ? limit - in_use : 0; }
};

// The details of an out-of-memory report: what was asked, the limit and who set it, who holds what.
std::string describe(const Refusal& refusal);

// A move-only claim on a budget; released by its destructor.
class Reservation {
 public:
  Reservation() noexcept = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  explicit operator bool() const noexcept { return node_ != nullptr; }
  std::uint64_t nbytes() const noexcept { return nbytes_; }  // as booked: a multiple of 64
  Owner owner() const noexcept { return owner_; }

  void release() noexcept;
  // Changes the size in place. Growing may be refused: false, and nothing has changed.
  bool try_resize(std::uint64_t nbytes) noexcept;

 private:
  friend class Budget;
  Reservation(BudgetNode* node, std::uint64_t nbytes, Owner owner) noexcept;

  BudgetNode* node_ = nullptr;
  std::uint64_t nbytes_ = 0;
  std::uint64_t trace_id_ = 0;  // 0: no trace is written
  Owner owner_;
};

struct Claim {
  std::uint64_t nbytes = 0;
  Owner owner;
};

// One line of "who holds what". The rows of a budget add up to its in_use.
struct LedgerRow {
  std::string budget;  // where it was reserved
  Owner owner;
  std::uint64_t nbytes = 0;
  std::uint64_t count = 0;  // reservations
};

struct BudgetStats {
  std::string name;
  std::string origin;  // who set the limit
  std::uint64_t limit = kNoLimit;
  std::uint64_t in_use = 0;
  std::uint64_t peak = 0;
  std::uint64_t committed = 0;  // bytes of pages held by heaps and arenas below, warm ones included
  std::uint64_t count = 0;      // reservations alive, here and below
  std::uint64_t refused = 0;    // requests that this budget's own limit refused
  TagBytes by_tag{};
  TagBytes by_tag_at_peak{};
};

struct BudgetOptions {
  std::string name;
  std::uint64_t limit = kNoLimit;
  std::string origin;    // who set the limit, for messages: "memory_limit of GPU:0"
  bool prepaid = false;  // takes the whole limit from its parent now, and keeps it
};

// A handle; copies speak of the same budget, which lives as long as handles, children or
// reservations do. All calls are thread-safe.
class Budget {
 public:
  // throws: InvalidArgumentError for an empty name or a limit above 2^63 - 1.
  explicit Budget(BudgetOptions options);
  // throws: ResourceExhaustedError if a prepaid limit is not free above.
  Budget(const Budget& parent, BudgetOptions options);
  Budget(const Budget& other) noexcept;
  Budget& operator=(const Budget& other) noexcept;
  ~Budget();

  // memory: books nbytes, rounded up to 64, here and above until the reservation dies.
  // throws: ResourceExhaustedError, at once; InvalidArgumentError for sizes above 2^63 - 64.
  Reservation reserve(std::uint64_t nbytes, Owner owner) const;
  // An empty reservation if refused; `why` then says what refused it.
  Reservation try_reserve(std::uint64_t nbytes, Owner owner, Refusal* why = nullptr) const noexcept;
  // All claims or none, into `out`, which is as long as `claims`.
  bool try_reserve_all(std::span<const Claim> claims, std::span<Reservation> out,
                       Refusal* why = nullptr) const noexcept;
  // Waits up to `patience` for others to release. Who frees never waits for who waits.
  // throws: ResourceExhaustedError when the time is up, or at once if it can never fit.
  Reservation reserve_for(std::uint64_t nbytes, Owner owner,
                          std::chrono::milliseconds patience) const;

  enum class Lowering { kRefuse, kAsReleased };
  // Raising is immediate. Lowering below what is in use is refused (FailedPreconditionError), or,
  // asked for kAsReleased, holds for new requests now and is reached as memory is released.
  void set_limit(std::uint64_t limit, Lowering lowering = Lowering::kRefuse,
                 const std::string& origin = "");

  std::string name() const;
  std::uint64_t limit() const noexcept;
  std::uint64_t in_use() const noexcept;
  std::uint64_t peak() const noexcept;
  std::uint64_t committed() const noexcept;
  // Bytes that a request here could get now: the smallest room on the way to the root.
  std::uint64_t available() const noexcept;
  BudgetStats stats() const;
  void reset_peak() noexcept;

  // Who holds what, here and below, largest first.
  std::vector<LedgerRow> ledger() const;

  // Returns warm pages of the heaps at and below this budget to the system: at least `nbytes` if
  // there are so many; kNoLimit for all. Returns the bytes given back.
  std::uint64_t reclaim(std::uint64_t nbytes) const noexcept;

  // For walkers: whether the counts of the whole tree agree with each other.
  bool is_valid() const noexcept;

  BudgetNode* node() const noexcept { return node_; }  // internal

 private:
  BudgetNode* node_;
};

}  // namespace plimsoll::memory
