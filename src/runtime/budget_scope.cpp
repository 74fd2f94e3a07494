#include "runtime/budget_scope.h"

#include <deque>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"
#include "runtime/context.h"

namespace plimsoll {

constinit thread_local memory::BudgetScopeState* current_budget_scope = nullptr;

namespace memory {

struct BudgetScopeState {
  struct Node {
    const Device* device;
    Budget budget;
  };
  BudgetScopeState* outer = nullptr;
  std::uint64_t limit = kNoLimit;
  std::deque<Node> nodes;  // one for each device that was used; they stay where they are

  const Budget& on(const Device& device) {
    for (const Node& node : nodes) {
      if (node.device == &device) return node.budget;
    }
    const Budget& parent = outer ? outer->on(device) : device.budget();
    nodes.push_back({&device, Budget(parent, {.name = device.short_name() + "/scope",
                                              .limit = limit,
                                              .origin = fmt::format("BudgetScope of {}",
                                                                    format_bytes(limit))})});
    return nodes.back().budget;
  }
};

BudgetScope::BudgetScope(std::string_view limit) : BudgetScope(parse_bytes(limit)) {}

BudgetScope::BudgetScope(std::uint64_t limit_bytes) : state_(std::make_unique<BudgetScopeState>()) {
  PLIMSOLL_CHECK(limit_bytes <= kNoLimit, InvalidArgumentError,
                 "the limit of a BudgetScope must be at most 2^63 - 1 bytes, got {}", limit_bytes);
  state_->limit = limit_bytes;
  state_->outer = current_budget_scope;
  current_budget_scope = state_.get();
}

BudgetScope::~BudgetScope() {
  current_budget_scope = state_->outer;
}

std::uint64_t BudgetScope::in_use() const {
  std::uint64_t sum = 0;
  for (const BudgetScopeState::Node& node : state_->nodes) sum += node.budget.in_use();
  return sum;
}
std::uint64_t BudgetScope::peak() const {
  std::uint64_t sum = 0;
  for (const BudgetScopeState::Node& node : state_->nodes) sum += node.budget.peak();
  return sum;
}

}  // namespace memory

const memory::Budget& scope_budget_slow(const Device& device) {
  return current_budget_scope->on(device);
}

}  // namespace plimsoll
