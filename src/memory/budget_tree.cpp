#include "memory/budget_tree.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace plimsoll::memory {
namespace {

std::uint64_t room_of(const BudgetNode& node) noexcept {
  return node.limit > node.in_use ? node.limit - node.in_use : 0;
}

// Bytes that exist below a node: pages held, and what reservations without pages stand for.
std::uint64_t physical_of(const BudgetNode& node) noexcept {
  return node.committed + (node.in_use - node.backed);
}

// By how much `more` bytes would take the pages of a node on the way up past its limit, at worst.
Excess excess_locked(BudgetNode* node, std::uint64_t more) noexcept {
  Excess worst;
  for (BudgetNode* n = node; n; n = n->payer) {
    if (n->limit == kNoLimit) continue;
    const std::uint64_t physical = physical_of(*n) + more;
    if (physical > n->limit && physical - n->limit > worst.nbytes) {
      worst = {physical - n->limit, n};
    }
  }
  return worst;
}

template <class Give>
std::uint64_t reclaim(BudgetNode* node, std::uint64_t nbytes, Give give) noexcept {
  BudgetTree& tree = *node->tree;
  std::scoped_lock lock(tree.reclaim_mutex);
  std::uint64_t given = 0;
  for (Reclaimer* r : tree.reclaimers) {
    if (given >= nbytes) break;
    const BudgetNode* n = r->reclaim_node();
    while (n && n != node) n = n->payer;
    if (n) given += give(*r, nbytes - given);
  }
  return given;
}

bool is_dead_locked(const BudgetNode& node) noexcept {
  return node.num_handles == 0 && node.num_children == 0 && node.own_count == 0;
}

// Deletes `node` if nothing holds it, then what only it held.
void bury(BudgetNode* node) noexcept {
  while (node) {
    const std::shared_ptr<BudgetTree> tree = node->tree;
    BudgetNode* parent = node->parent;
    bool waiting = false;
    {
      std::scoped_lock lock(tree->mutex);
      if (!is_dead_locked(*node)) return;
      if (parent) {
        --parent->num_children;
        if (node->prepaid_bytes) {
          unbook_locked(parent, node->prepaid_bytes, Owner(Tag::kCache, node->name),
                        Backing::kElsewhere);
          waiting = tree->num_waiters > 0;
        }
      }
      std::erase(tree->nodes, node);
    }
    if (waiting) wake_waiters(*tree);
    delete node;
    node = parent;
  }
}

enum class Outcome { kBooked, kRefused, kTryIdle };

// One attempt under the lock. `missing`, if kTryIdle: idle reservations that have to go; if
// kBooked: warm pages that have to go.
Outcome book_once(BudgetNode* node, std::span<const Claim> claims, std::uint64_t total,
                  Backing backing, Refusal* why, Excess* missing) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  for (const Claim& claim : claims) {
    if (ensure_row_locked(node, claim.owner)) continue;
    fill_refusal_locked(node, total, claim.owner, why);
    if (why) why->why = Refusal::Why::kSource;
    return Outcome::kRefused;
  }
  BudgetNode* full = find_full_locked(node, total);
  if (!full) {
    for (const Claim& claim : claims) {
      book_locked(node, round_up(claim.nbytes, kGrain), claim.owner, backing);
    }
    *missing = backing == Backing::kElsewhere ? excess_locked(node, 0) : Excess{};
    return Outcome::kBooked;
  }
  *missing = {total - room_of(*full), full};
  if (missing->nbytes <= full->idle) return Outcome::kTryIdle;
  ++full->refused;
  fill_refusal_locked(full, total, claims.front().owner, why);
  return Outcome::kRefused;
}

}  // namespace

bool ensure_row_locked(BudgetNode* node, Owner owner) noexcept {
  if (owner.id() < node->rows.size()) [[likely]]
    return true;
  try {
    node->rows.resize(std::max<std::size_t>(owner.id() + 1, node->rows.size() * 2));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

BudgetNode* find_full_locked(BudgetNode* node, std::uint64_t nbytes) noexcept {
  for (BudgetNode* n = node; n; n = n->payer) {
    if (nbytes > room_of(*n)) [[unlikely]]
      return n;
  }
  return nullptr;
}

void book_locked(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept {
  const auto tag = static_cast<std::size_t>(owner.tag());
  LedgerCount& row = node->rows[owner.id()];
  row.nbytes += nbytes;
  ++row.count;
  ++node->own_count;
  for (BudgetNode* n = node; n; n = n->payer) {
    n->in_use += nbytes;
    n->by_tag[tag] += nbytes;
    ++n->count;
    if (backing == Backing::kPages) n->backed += nbytes;
    if (n->in_use > n->peak) {
      n->peak = n->in_use;
      n->by_tag_at_peak = n->by_tag;
    }
  }
}

void unbook_locked(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept {
  const auto tag = static_cast<std::size_t>(owner.tag());
  LedgerCount& row = node->rows[owner.id()];
  PLIMSOLL_ASSERT(row.nbytes >= nbytes && row.count > 0);
  row.nbytes -= nbytes;
  --row.count;
  --node->own_count;
  for (BudgetNode* n = node; n; n = n->payer) {
    n->in_use -= nbytes;
    n->by_tag[tag] -= nbytes;
    --n->count;
    if (backing == Backing::kPages) n->backed -= nbytes;
  }
  if (node->tree->num_waiters) ++node->tree->num_releases;
}

void fill_refusal_locked(BudgetNode* full, std::uint64_t asked, Owner owner,
                         Refusal* why) noexcept {
  if (!why) return;
  why->asked = asked;
  why->owner = owner;
  why->why = Refusal::Why::kLimit;
  why->node = full;
  why->limit = full->limit;
  why->in_use = full->in_use;
  why->by_tag = full->by_tag;
}

bool try_book_all(BudgetNode* node, std::span<const Claim> claims, Backing backing,
                  Refusal* why) noexcept {
  std::uint64_t total = 0;
  for (const Claim& claim : claims) {
    const bool fits =
        claim.nbytes <= kMaxRequest && round_up(claim.nbytes, kGrain) <= kNoLimit - total;
    if (!fits) {
      if (why)
        *why = {
            .asked = claim.nbytes, .owner = claim.owner, .why = Refusal::Why::kSize, .node = node};
      return false;
    }
    total += round_up(claim.nbytes, kGrain);
  }
  if (claims.empty()) return true;
  while (true) {
    Excess missing;
    switch (book_once(node, claims, total, backing, why, &missing)) {
      case Outcome::kBooked:
        if (missing.node) reclaim_pages(missing.node, missing.nbytes);
        return true;
      case Outcome::kRefused:
        return false;
      case Outcome::kTryIdle:
        // Somebody may have taken the idle memory into use meanwhile: then the next look says so.
        reclaim_idle(missing.node, missing.nbytes);
    }
  }
}

bool rebook(BudgetNode* node, std::uint64_t nbytes, Owner from, Owner to,
            Backing backing) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  if (!ensure_row_locked(node, to)) return false;
  unbook_locked(node, nbytes, from, backing);
  book_locked(node, nbytes, to, backing);
  return true;
}

void unbook(BudgetNode* node, std::uint64_t nbytes, Owner owner, Backing backing) noexcept {
  std::shared_ptr<BudgetTree> waiting;
  bool dead = false;
  {
    std::scoped_lock lock(node->tree->mutex);
    unbook_locked(node, nbytes, owner, backing);
    dead = is_dead_locked(*node);
    if (node->tree->num_waiters) [[unlikely]]
      waiting = node->tree;
  }
  if (waiting) wake_waiters(*waiting);
  if (dead) [[unlikely]]
    bury(node);
}

void wake_waiters(BudgetTree& tree) noexcept {
  // Passing through the mutex makes sure that a waiter is either asleep or has yet to look.
  { std::scoped_lock lock(tree.wait_mutex); }
  tree.released.notify_all();
}

Excess note_commit(BudgetNode* node, std::uint64_t nbytes, bool force) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  return note_commit_locked(node, nbytes, force);
}

Excess note_commit_locked(BudgetNode* node, std::uint64_t nbytes, bool force) noexcept {
  if (!force) {
    if (const Excess excess = excess_locked(node, nbytes); excess.node) return excess;
  }
  for (BudgetNode* n = node; n; n = n->payer) n->committed += nbytes;
  return {};
}

void note_decommit(BudgetNode* node, std::uint64_t nbytes) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  note_decommit_locked(node, nbytes);
}

void note_decommit_locked(BudgetNode* node, std::uint64_t nbytes) noexcept {
  for (BudgetNode* n = node; n; n = n->payer) n->committed -= nbytes;
}

void note_idle(BudgetNode* node, std::int64_t delta) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  for (BudgetNode* n = node; n; n = n->payer) n->idle += static_cast<std::uint64_t>(delta);
}

void add_reclaimer(BudgetTree& tree, Reclaimer* reclaimer) {
  std::scoped_lock lock(tree.reclaim_mutex);
  tree.reclaimers.push_back(reclaimer);
}

void remove_reclaimer(BudgetTree& tree, Reclaimer* reclaimer) noexcept {
  std::scoped_lock lock(tree.reclaim_mutex);
  std::erase(tree.reclaimers, reclaimer);
}

std::uint64_t reclaim_pages(BudgetNode* node, std::uint64_t nbytes) noexcept {
  return reclaim(node, nbytes, [](Reclaimer& r, std::uint64_t n) { return r.reclaim_pages(n); });
}

std::uint64_t reclaim_idle(BudgetNode* node, std::uint64_t nbytes) noexcept {
  return reclaim(node, nbytes, [](Reclaimer& r, std::uint64_t n) { return r.reclaim_idle(n); });
}

void add_handle(BudgetNode* node) noexcept {
  std::scoped_lock lock(node->tree->mutex);
  ++node->num_handles;
}

void drop_handle(BudgetNode* node) noexcept {
  bool dead = false;
  {
    std::scoped_lock lock(node->tree->mutex);
    --node->num_handles;
    dead = is_dead_locked(*node);
  }
  if (dead) bury(node);
}

}  // namespace plimsoll::memory
