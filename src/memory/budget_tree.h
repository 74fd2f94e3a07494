// Inside of the budget tree: the counts, and the operations on them that the heap shares.
//
// Locks of the memory layer, in the order in which they may be held together:
//   purger run > tree reclaim > purger list > heap or arena > tree mutex
// The tree mutex is the innermost: nothing is called while it is held.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "base/mutex.h"
#include "memory/rounding.h"
#include "plimsoll/memory/budget.h"
#include "plimsoll/memory/trace.h"

namespace plimsoll::memory {

inline constexpr std::uint64_t kMaxRequest = kNoLimit - (kGrain - 1);  // larger ones overflow

// Something that holds pages or reservations which it can do without.
class Reclaimer {
 public:
  virtual ~Reclaimer() = default;
  virtual BudgetNode* reclaim_node() const noexcept = 0;  // whose counts fall by it
  // Gives back about `nbytes` of warm pages, oldest first; returns what was given back.
  virtual std::uint64_t reclaim_pages(std::uint64_t nbytes) noexcept = 0;
  // Gives back idle reservations (an arena that nobody runs in); returns the bytes.
  virtual std::uint64_t reclaim_idle(std::uint64_t) noexcept { return 0; }
  // Its lock, which comes before the tree mutex in order; held across fork().
  virtual Mutex& mutex() noexcept = 0;
  // In the child of a fork, all locks held: the threads that worked for it are gone.
  virtual void forget_threads() noexcept {}
};

struct BudgetTree {
  TraceWriter* trace = nullptr;  // null: no trace is written
  Mutex mutex;                   // guards all nodes below
  std::vector<BudgetNode*> nodes;
  std::uint64_t num_waiters = 0;   // threads inside reserve_for
  std::uint64_t num_releases = 0;  // grows with every release while somebody waits

  Mutex reclaim_mutex;  // guards reclaimers, and is held while they work
  std::vector<Reclaimer*> reclaimers;

  std::mutex wait_mutex;  // only for the condition below; never held while working
  std::condition_variable released;
};

struct LedgerCount {
  std::uint64_t nbytes = 0;
  std::uint64_t count = 0;
};

struct BudgetNode {
  std::shared_ptr<BudgetTree> tree;
  BudgetNode* parent = nullptr;  // for the shape of the tree and for lifetime
  BudgetNode* payer = nullptr;   // next node to book on: the parent, unless this one is prepaid
  std::string name;
  std::string origin;

  std::uint64_t limit = kNoLimit;
  std::uint64_t in_use = 0;  // <= limit, unless the limit was lowered below it on request
  std::uint64_t peak = 0;
  std::uint64_t backed = 0;     // part of in_use whose pages are counted in `committed`
  std::uint64_t committed = 0;  // pages of heaps and arenas, here and below
  std::uint64_t idle = 0;       // part of in_use that a reclaimer would give back at once
  std::uint64_t count = 0;      // reservations booked here or below
  std::uint64_t refused = 0;
  TagBytes by_tag{};
  TagBytes by_tag_at_peak{};
  std::vector<LedgerCount> rows;  // by Owner::id(), only of reservations made at this very node

  std::uint64_t num_handles = 1;  // Budget objects
  std::uint64_t num_children = 0;
  std::uint64_t own_count = 0;      // reservations made at this very node
  std::uint64_t prepaid_bytes = 0;  // booked on the parent for this node as a whole
};

// Whether pages behind a booking are reported by note_commit (heaps, arenas) or exist elsewhere.
enum class Backing : bool { kElsewhere, kPages };

// Makes room for the ledger row of `owner`, so that booking cannot fail later. false: no memory.
bool ensure_row_locked(BudgetNode* node, Owner owner) noexcept;
// The first node from `node` up whose limit has no room for nbytes; null if it fits.
BudgetNode* find_full_locked(BudgetNode* node, std::uint64_t nbytes) noexcept;
// pre: fits, and the row exists.
void book_locked(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept;
void unbook_locked(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept;
void fill_refusal_locked(BudgetNode* full, std::uint64_t asked, Owner owner, Refusal* why) noexcept;

// Books claims, all or none; gives idle reservations back where that is what is missing.
bool try_book_all(BudgetNode* node, std::span<const Claim> claims, Backing backing,
                  Refusal* why) noexcept;
inline bool try_book(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing,
                     Refusal* why) noexcept {
  const Claim claim{nbytes, owner};
  return try_book_all(node, {&claim, 1}, backing, why);
}
void unbook(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept;
// From one owner to another, in one step. false: no memory for the ledger row.
bool rebook(BudgetNode* node, std::uint64_t nbytes, Owner from, Owner to, Backing backing) noexcept;

// Wakes reserve_for after memory was released. pre: no lock held; tells by num_waiters seen before.
void wake_waiters(BudgetTree& tree) noexcept;

// Pages that a limit has no room for.
struct Excess {
  std::uint64_t nbytes = 0;
  BudgetNode* node = nullptr;  // whose limit
};
// Counts pages that are about to exist. Unless forced, where they would pass a limit nothing is
// counted and the largest excess is returned.
Excess note_commit(BudgetNode* node, std::uint64_t nbytes, bool force) noexcept;
Excess note_commit_locked(BudgetNode* node, std::uint64_t nbytes, bool force) noexcept;
void note_decommit(BudgetNode* node, std::uint64_t nbytes) noexcept;
void note_decommit_locked(BudgetNode* node, std::uint64_t nbytes) noexcept;
// Marks reservations as idle (delta > 0) or as needed again.
void note_idle(BudgetNode* node, std::int64_t delta) noexcept;

void add_reclaimer(BudgetTree& tree, Reclaimer* reclaimer);
void remove_reclaimer(BudgetTree& tree, Reclaimer* reclaimer) noexcept;
// Has about `nbytes` given back by those whose counts are part of `node`'s; returns the bytes.
std::uint64_t reclaim_pages(BudgetNode* node, std::uint64_t nbytes) noexcept;
std::uint64_t reclaim_idle(BudgetNode* node, std::uint64_t nbytes) noexcept;

void add_handle(BudgetNode* node) noexcept;
void drop_handle(BudgetNode* node) noexcept;  // deletes the node when nothing holds it any more

// Fills in the words of a refusal; then throws.
[[noreturn]] void throw_refusal(Refusal refusal, const std::string& what);

}  // namespace plimsoll::memory
