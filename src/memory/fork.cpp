#include "memory/fork.h"

#include <pthread.h>

#include <algorithm>
#include <new>
#include <vector>

#include "memory/budget_tree.h"
#include "memory/purger.h"

namespace plimsoll::memory {
namespace {

struct Registry {
  Mutex mutex;  // outermost of all
  std::vector<std::weak_ptr<BudgetTree>> trees;
  std::vector<std::shared_ptr<BudgetTree>> held;  // while forking

  Registry();
};

Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}

// Takes everything, in the order of budget_tree.h.
void before_fork() {
  Registry& r = registry();
  Purger& purger = Purger::instance();
  r.mutex.lock();
  for (const auto& weak : r.trees) {
    if (auto tree = weak.lock()) r.held.push_back(std::move(tree));
  }
  purger.run_mutex().lock();
  for (const auto& tree : r.held) tree->reclaim_mutex.lock();
  purger.list_mutex().lock();
  for (const auto& tree : r.held) {
    for (Reclaimer* reclaimer : tree->reclaimers) reclaimer->mutex().lock();
  }
  for (const auto& tree : r.held) tree->wait_mutex.lock();
  for (const auto& tree : r.held) tree->mutex.lock();
  owner_names_mutex().lock();
  trace_mutex().lock();
}

void after_fork(bool is_child) {
  Registry& r = registry();
  Purger& purger = Purger::instance();
  trace_mutex().unlock();
  owner_names_mutex().unlock();
  for (const auto& tree : r.held) {
    if (is_child) tree->num_waiters = 0;  // their threads are not here
    tree->mutex.unlock();
    tree->wait_mutex.unlock();
    if (is_child) new (&tree->released) std::condition_variable;
  }
  for (const auto& tree : r.held) {
    for (Reclaimer* reclaimer : tree->reclaimers) {
      if (is_child) reclaimer->forget_threads();
      reclaimer->mutex().unlock();
    }
  }
  if (is_child) purger.reset_in_child();
  purger.list_mutex().unlock();
  for (const auto& tree : r.held) tree->reclaim_mutex.unlock();
  purger.run_mutex().unlock();
  r.held.clear();
  r.mutex.unlock();
}

Registry::Registry() {
  pthread_atfork(
      before_fork, [] { after_fork(false); }, [] { after_fork(true); });
}

}  // namespace

void register_tree(const std::shared_ptr<BudgetTree>& tree) {
  Registry& r = registry();
  std::scoped_lock lock(r.mutex);
  std::erase_if(r.trees, [](const auto& weak) { return weak.expired(); });
  r.trees.push_back(tree);
}

}  // namespace plimsoll::memory
