#include "plimsoll/memory/budget.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "memory/budget_tree.h"
#include "memory/fork.h"
#include "plimsoll/bytes.h"

namespace plimsoll::memory {
namespace {

BudgetNode* make_node(std::shared_ptr<BudgetTree> tree, BudgetNode* parent, BudgetOptions options) {
  PLIMSOLL_CHECK(!options.name.empty(), InvalidArgumentError, "a budget needs a name, got ''");
  PLIMSOLL_CHECK(options.limit <= kNoLimit, InvalidArgumentError,
                 "limit of budget '{}' must be at most 2^63 - 1 bytes, got {}", options.name,
                 options.limit);
  PLIMSOLL_CHECK(!options.prepaid || (parent && options.limit < kNoLimit), InvalidArgumentError,
                 "budget '{}' can only be prepaid with a parent and a limit", options.name);
  auto node = std::make_unique<BudgetNode>();
  node->tree = std::move(tree);
  node->parent = parent;
  node->payer = options.prepaid ? nullptr : parent;
  node->name = std::move(options.name);
  node->origin = std::move(options.origin);
  node->limit = options.limit;
  std::scoped_lock lock(node->tree->mutex);
  node->tree->nodes.push_back(node.get());
  if (parent) ++parent->num_children;
  return node.release();
}

bool is_below(const BudgetNode* node, const BudgetNode* top) {
  for (; node; node = node->parent) {
    if (node == top) return true;
  }
  return false;
}

std::string describe_use(const Refusal& r) {
  std::vector<std::pair<std::uint64_t, Tag>> shares;
  for (std::size_t i = 0; i < kNumTags; ++i) {
    if (r.by_tag[i]) shares.emplace_back(r.by_tag[i], static_cast<Tag>(i));
  }
  std::sort(shares.begin(), shares.end(), [](auto& a, auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [nbytes, tag] : shares) {
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", tag_name(tag), format_bytes(nbytes));
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

std::string describe(const Refusal& refusal) {
  Refusal r = refusal;
  if (r.node && r.budget.empty()) {
    std::scoped_lock lock(r.node->tree->mutex);
    r.budget = r.node->name;
    r.origin = r.node->origin;
  }
  const std::string asked =
      fmt::format("{} asked for {}", format_bytes(r.asked), r.owner.to_string());
  if (r.why == Refusal::Why::kSize) {
    return fmt::format("  {} bytes asked for {}: more than any device can address", r.asked,
                       r.owner.to_string());
  }
  std::string text =
      fmt::format("  {}; limit {} ({})\n  in use {}{}; largest free {}", asked,
                  format_bytes(r.limit), r.origin.empty() ? "limit of " + r.budget : r.origin,
                  format_bytes(r.in_use), describe_use(r), format_bytes(r.free()));
  if (r.why == Refusal::Why::kSource) {
    text += "\n  the limit has room, but the device or the system gave no more pages";
  } else if (r.why == Refusal::Why::kAddressSpace) {
    text += "\n  the limit has room, but no address range is left (RLIMIT_AS, ulimit -v)";
  } else if (r.why == Refusal::Why::kHoles) {
    text +=
        "\n  the limit has room, but only between small blocks: the device's memory comes in whole "
        "buffers";
  }
  return text;
}

void throw_refusal(Refusal refusal, const std::string& what) {
  if (refusal.why == Refusal::Why::kSize) {
    throw InvalidArgumentError(what + "\n" + describe(refusal));
  }
  throw ResourceExhaustedError(what + "\n" + describe(refusal));
}

Reservation::Reservation(BudgetNode* node, std::uint64_t nbytes, Owner owner) noexcept
    : node_(node), nbytes_(nbytes), owner_(owner) {
  if (node->tree->trace) trace_id_ = node->tree->trace->reserve(nbytes, owner);
}

Reservation::Reservation(Reservation&& other) noexcept
    : node_(std::exchange(other.node_, nullptr)),
      nbytes_(std::exchange(other.nbytes_, 0)),
      trace_id_(std::exchange(other.trace_id_, 0)),
      owner_(other.owner_) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this != &other) {
    release();
    node_ = std::exchange(other.node_, nullptr);
    nbytes_ = std::exchange(other.nbytes_, 0);
    trace_id_ = std::exchange(other.trace_id_, 0);
    owner_ = other.owner_;
  }
  return *this;
}

void Reservation::release() noexcept {
  if (BudgetNode* node = std::exchange(node_, nullptr)) {
    if (trace_id_) node->tree->trace->free(std::exchange(trace_id_, 0));
    unbook(node, std::exchange(nbytes_, 0), owner_, Backing::kElsewhere);
  }
}

bool Reservation::try_resize(std::uint64_t nbytes) noexcept {
  if (!node_ || nbytes > kMaxRequest) return false;
  const std::uint64_t wanted = round_up(nbytes, kGrain);
  if (wanted > nbytes_) {
    if (!try_book(node_, wanted - nbytes_, owner_, Backing::kElsewhere, nullptr)) return false;
    std::scoped_lock lock(node_->tree->mutex);  // one reservation, not two
    --node_->rows[owner_.id()].count;
    --node_->own_count;
    for (BudgetNode* n = node_; n; n = n->payer) --n->count;
  } else if (wanted < nbytes_) {
    bool waiting = false;
    {
      std::scoped_lock lock(node_->tree->mutex);
      unbook_locked(node_, nbytes_ - wanted, owner_, Backing::kElsewhere);
      ++node_->rows[owner_.id()].count;
      ++node_->own_count;
      for (BudgetNode* n = node_; n; n = n->payer) ++n->count;
      waiting = node_->tree->num_waiters > 0;
    }
    if (waiting) wake_waiters(*node_->tree);
  }
  nbytes_ = wanted;
  if (trace_id_) {  // a trace knows no growth: the old size goes, the new one comes
    node_->tree->trace->free(trace_id_);
    trace_id_ = node_->tree->trace->reserve(nbytes_, owner_);
  }
  return true;
}

Budget::Budget(BudgetOptions options)
    : node_(make_node(std::make_shared<BudgetTree>(), nullptr, std::move(options))) {
  node_->tree->trace = TraceWriter::process_trace();
  register_tree(node_->tree);
}

Budget::Budget(const Budget& parent, BudgetOptions options)
    : node_(make_node(parent.node_->tree, parent.node_, options)) {
  if (!options.prepaid) return;
  Refusal why;
  const std::uint64_t share = round_down(options.limit, kGrain);
  if (try_book(parent.node_, share, Owner(Tag::kCache, options.name), Backing::kElsewhere, &why)) {
    node_->prepaid_bytes = share;
    return;
  }
  drop_handle(node_);
  throw_refusal(
      why, fmt::format("OOM when taking {} up front for {}", format_bytes(share), options.name));
}

Budget::Budget(const Budget& other) noexcept : node_(other.node_) {
  add_handle(node_);
}

Budget& Budget::operator=(const Budget& other) noexcept {
  if (node_ != other.node_) {
    add_handle(other.node_);
    drop_handle(std::exchange(node_, other.node_));
  }
  return *this;
}

Budget::~Budget() {
  drop_handle(node_);
}

Reservation Budget::reserve(std::uint64_t nbytes, Owner owner) const {
  Refusal why;
  Reservation claim = try_reserve(nbytes, owner, &why);
  if (!claim)
    throw_refusal(why, fmt::format("OOM when reserving {} on {}", format_bytes(nbytes), name()));
  return claim;
}

Reservation Budget::try_reserve(std::uint64_t nbytes, Owner owner, Refusal* why) const noexcept {
  if (!try_book(node_, nbytes, owner, Backing::kElsewhere, why)) return {};
  return {node_, round_up(nbytes, kGrain), owner};
}

bool Budget::try_reserve_all(std::span<const Claim> claims, std::span<Reservation> out,
                             Refusal* why) const noexcept {
  PLIMSOLL_ASSERT(claims.size() == out.size());
  if (!try_book_all(node_, claims, Backing::kElsewhere, why)) return false;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    out[i] = {node_, round_up(claims[i].nbytes, kGrain), claims[i].owner};
  }
  return true;
}

Reservation Budget::reserve_for(std::uint64_t nbytes, Owner owner,
                                std::chrono::milliseconds patience) const {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  BudgetTree& tree = *node_->tree;
  std::uint64_t seen = 0;
  bool can_ever_fit = true;
  {
    std::scoped_lock lock(tree.mutex);
    ++tree.num_waiters;
    seen = tree.num_releases;
    for (BudgetNode* n = node_; n; n = n->payer) can_ever_fit &= nbytes <= n->limit;
  }
  Refusal why;
  Reservation claim = try_reserve(nbytes, owner, &why);
  while (!claim && can_ever_fit) {
    std::unique_lock wait(tree.wait_mutex);
    const bool woken = tree.released.wait_until(wait, deadline, [&] {
      std::scoped_lock lock(tree.mutex);
      return std::exchange(seen, tree.num_releases) != tree.num_releases;
    });
    wait.unlock();
    claim = try_reserve(nbytes, owner, &why);
    if (!woken) break;
  }
  {
    std::scoped_lock lock(tree.mutex);
    --tree.num_waiters;
  }
  if (!claim) {
    throw_refusal(why, fmt::format("OOM when reserving {} on {} within {} ms", format_bytes(nbytes),
                                   name(), patience.count()));
  }
  return claim;
}

void Budget::set_limit(std::uint64_t limit, Lowering lowering, const std::string& origin) {
  PLIMSOLL_CHECK(limit <= kNoLimit, InvalidArgumentError,
                 "limit of budget '{}' must be at most 2^63 - 1 bytes, got {}", name(), limit);
  PLIMSOLL_CHECK(node_->prepaid_bytes == 0, FailedPreconditionError,
                 "budget '{}' was taken up front; its limit cannot be changed to {}", name(),
                 format_bytes(limit));
  std::uint64_t in_use = 0;
  bool refused = false;
  bool raised = false;
  {
    std::scoped_lock lock(node_->tree->mutex);
    in_use = node_->in_use;
    refused = limit < in_use && lowering == Lowering::kRefuse;
    if (!refused) {
      raised = limit > node_->limit && node_->tree->num_waiters > 0;
      if (raised) ++node_->tree->num_releases;
      node_->limit = limit;
      if (!origin.empty()) node_->origin = origin;
    }
  }
  PLIMSOLL_CHECK(!refused, FailedPreconditionError,
                 "cannot lower the limit of '{}' to {}: {} are in use (free some, or ask for "
                 "Lowering::kAsReleased)",
                 name(), format_bytes(limit), format_bytes(in_use));
  if (raised) wake_waiters(*node_->tree);
  // Warm pages above the new limit go back now.
  if (const std::uint64_t held = committed(); held > limit) reclaim(held - limit);
}

#define PLIMSOLL_READ_LOCKED(field)            \
  do {                                         \
    std::scoped_lock lock(node_->tree->mutex); \
    return node_->field;                       \
  } while (false)
std::string Budget::name() const {
  PLIMSOLL_READ_LOCKED(name);
}
std::uint64_t Budget::limit() const noexcept {
  PLIMSOLL_READ_LOCKED(limit);
}
std::uint64_t Budget::in_use() const noexcept {
  PLIMSOLL_READ_LOCKED(in_use);
}
std::uint64_t Budget::peak() const noexcept {
  PLIMSOLL_READ_LOCKED(peak);
}
std::uint64_t Budget::committed() const noexcept {
  PLIMSOLL_READ_LOCKED(committed);
}
#undef PLIMSOLL_READ_LOCKED

std::uint64_t Budget::available() const noexcept {
  std::scoped_lock lock(node_->tree->mutex);
  std::uint64_t room = kNoLimit;
  for (BudgetNode* n = node_; n; n = n->payer) {
    room = std::min(room, n->limit > n->in_use ? n->limit - n->in_use : 0);
  }
  return room;
}

BudgetStats Budget::stats() const {
  std::scoped_lock lock(node_->tree->mutex);
  return {.name = node_->name,
          .origin = node_->origin,
          .limit = node_->limit,
          .in_use = node_->in_use,
          .peak = node_->peak,
          .committed = node_->committed,
          .count = node_->count,
          .refused = node_->refused,
          .by_tag = node_->by_tag,
          .by_tag_at_peak = node_->by_tag_at_peak};
}

void Budget::reset_peak() noexcept {
  std::scoped_lock lock(node_->tree->mutex);
  node_->peak = node_->in_use;
  node_->by_tag_at_peak = node_->by_tag;
}

std::vector<LedgerRow> Budget::ledger() const {
  std::vector<LedgerRow> rows;
  {
    std::scoped_lock lock(node_->tree->mutex);
    for (const BudgetNode* n : node_->tree->nodes) {
      // What a prepaid child holds is inside the one row that its parent has for it.
      bool counted = is_below(n, node_);
      for (const BudgetNode* m = n; counted && m != node_; m = m->parent)
        counted = m->payer != nullptr;
      if (!counted) continue;
      for (std::uint32_t id = 0; id < n->rows.size(); ++id) {
        if (n->rows[id].count) {
          rows.push_back({n->name, Owner::from_id(id), n->rows[id].nbytes, n->rows[id].count});
        }
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LedgerRow& a, const LedgerRow& b) { return a.nbytes > b.nbytes; });
  return rows;
}

std::uint64_t Budget::reclaim(std::uint64_t nbytes) const noexcept {
  return reclaim_pages(node_, nbytes);
}

bool Budget::is_valid() const noexcept {
  std::scoped_lock lock(node_->tree->mutex);
  for (const BudgetNode* n : node_->tree->nodes) {
    std::uint64_t tags = 0, rows = 0, below = 0, own = 0;
    for (const std::uint64_t t : n->by_tag) tags += t;
    for (const LedgerCount& row : n->rows) {
      rows += row.nbytes;
      own += row.count;
    }
    for (const BudgetNode* m : node_->tree->nodes) {
      if (m->payer == n) below += m->in_use;
    }
    if (tags != n->in_use || rows + below != n->in_use || own != n->own_count) return false;
    if (n->backed > n->in_use || n->peak < n->in_use) return false;
  }
  return true;
}

}  // namespace plimsoll::memory
