#include "runtime/budget_scope.h"

#include <atomic>
#include <deque>
#include <mutex>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"
#include "runtime/context.h"

namespace plimsoll {

constinit thread_local memory::BudgetScopeState* current_budget_scope = nullptr;

namespace memory {

struct BudgetScopeState : std::enable_shared_from_this<BudgetScopeState> {
  struct Node {
    const Device* device;
    Budget budget;
  };
  BudgetScopePtr outer;
  std::uint64_t limit = kNoLimit;
  std::string origin;
  bool is_for_work = false;
  std::atomic<bool> is_held_back{false};
  mutable std::mutex mutex;  // guards nodes
  std::deque<Node> nodes;    // one for each device that was used; they stay where they are

  const Budget& on(const Device& device) {
    std::scoped_lock lock(mutex);
    for (const Node& node : nodes) {
      if (node.device == &device) return node.budget;
    }
    const Budget& parent = outer ? outer->on(device) : device.budget();
    nodes.push_back({&device, Budget(parent, {.name = device.short_name() + "/scope",
                                              .limit = limit,
                                              .origin = origin})});
    return nodes.back().budget;
  }
  std::uint64_t sum(std::uint64_t (Budget::*of)() const noexcept) const {
    std::scoped_lock lock(mutex);
    std::uint64_t all = 0;
    for (const Node& node : nodes) all += (node.budget.*of)();
    return all;
  }
};

namespace {
BudgetScopePtr current_scope() {
  return current_budget_scope ? current_budget_scope->shared_from_this() : nullptr;
}
}  // namespace

BudgetScope::BudgetScope(std::string_view limit) : BudgetScope(parse_bytes(limit)) {}

BudgetScope::BudgetScope(std::uint64_t limit_bytes) : state_(std::make_shared<BudgetScopeState>()) {
  PLIMSOLL_CHECK(limit_bytes <= kNoLimit, InvalidArgumentError,
                 "the limit of a BudgetScope must be at most 2^63 - 1 bytes, got {}", limit_bytes);
  state_->limit = limit_bytes;
  state_->origin = fmt::format("BudgetScope of {}", format_bytes(limit_bytes));
  state_->outer = current_scope();
  current_budget_scope = state_.get();
}

BudgetScope::~BudgetScope() {
  current_budget_scope = state_->outer.get();
}

std::uint64_t BudgetScope::in_use() const {
  return state_->sum(&Budget::in_use);
}
std::uint64_t BudgetScope::peak() const {
  return state_->sum(&Budget::peak);
}

}  // namespace memory

const memory::Budget& scope_budget_slow(const Device& device) {
  return current_budget_scope->on(device);
}
const memory::Budget& host_budget() {
  Device& cpu = Context::get().cpu();
  const memory::Budget* scope = scope_budget(cpu);
  return scope ? *scope : cpu.budget();
}

BudgetScopePtr make_work_scope(std::uint64_t limit, std::string origin) {
  auto scope = std::make_shared<memory::BudgetScopeState>();
  scope->limit = limit;
  scope->origin = std::move(origin);
  scope->is_for_work = true;
  scope->outer = memory::current_scope();
  return scope;
}
BudgetScopePtr share_work_scope() {
  BudgetScopePtr scope = memory::current_scope();
  if (!scope || scope->is_for_work) return scope;
  return make_work_scope(memory::kNoLimit, "");
}
void hold_back(memory::BudgetScopeState& scope, bool is_held_back) noexcept {
  scope.is_held_back = is_held_back;
}
bool is_held_back(const BudgetScopePtr& scope) noexcept {
  return scope && scope->is_held_back;
}
const memory::Budget& host_budget_of(memory::BudgetScopeState& scope) {
  return scope.on(Context::get().cpu());
}
void set_host_limit(memory::BudgetScopeState& scope, std::uint64_t limit) {
  memory::Budget budget = host_budget_of(scope);
  budget.set_limit(limit, memory::Budget::Lowering::kAsReleased);
}
bool keeps_arenas(const memory::BudgetScopeState& scope) noexcept {
  return scope.is_for_work;
}

}  // namespace plimsoll
