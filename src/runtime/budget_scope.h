// The budget that a thread's allocations are booked on, besides the device's.
#pragma once

#include "plimsoll/memory/budget.h"
#include "runtime/device.h"

namespace plimsoll {

namespace memory {
struct BudgetScopeState;
}

extern constinit thread_local memory::BudgetScopeState* current_budget_scope;

// throws: std::bad_alloc.
const memory::Budget& scope_budget_slow(const Device& device);
// Null if there is no scope.
inline const memory::Budget* scope_budget(const Device& device) {
  return current_budget_scope ? &scope_budget_slow(device) : nullptr;
}

}  // namespace plimsoll
