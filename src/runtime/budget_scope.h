// The budget that a thread's allocations are booked on, besides the device's.
#pragma once

#include <memory>
#include <string>

#include "plimsoll/memory/budget.h"
#include "runtime/device.h"

namespace plimsoll {

namespace memory {
struct BudgetScopeState;
}

extern constinit thread_local memory::BudgetScopeState* current_budget_scope;
using BudgetScopePtr = std::shared_ptr<memory::BudgetScopeState>;

// A scope for work that goes on beside its maker, in threads or piece by piece: within the scope of
// the thread that makes it, if it has one. It keeps arenas of functions for the next call.
BudgetScopePtr make_work_scope(std::uint64_t limit, std::string origin);
// The scope that threads of a dataset share: the thread's own if it is for work, one within it if
// it is the user's, null if there is none.
BudgetScopePtr share_work_scope();
// While a scope is held back, threads in it make only what somebody waits for.
void hold_back(memory::BudgetScopeState& scope, bool is_held_back) noexcept;
bool is_held_back(const BudgetScopePtr& scope) noexcept;
// Requests on the host from now on; what is held beyond it stays.
void set_host_limit(memory::BudgetScopeState& scope, std::uint64_t limit);
// Of the host.
const memory::Budget& host_budget_of(memory::BudgetScopeState& scope);
bool keeps_arenas(const memory::BudgetScopeState& scope) noexcept;

// While it lives, the thread is in a scope; null: in that which it is in.
class AdoptedScope {
 public:
  explicit AdoptedScope(memory::BudgetScopeState* scope) noexcept : outer_(current_budget_scope) {
    if (scope) current_budget_scope = scope;
  }
  ~AdoptedScope() { current_budget_scope = outer_; }
  AdoptedScope(const AdoptedScope&) = delete;
  AdoptedScope& operator=(const AdoptedScope&) = delete;

 private:
  memory::BudgetScopeState* const outer_;
};

// throws: std::bad_alloc.
const memory::Budget& scope_budget_slow(const Device& device);
// Null if there is no scope.
inline const memory::Budget* scope_budget(const Device& device) {
  return current_budget_scope ? &scope_budget_slow(device) : nullptr;
}
// What this thread takes on the host counts here.
const memory::Budget& host_budget();

}  // namespace plimsoll
