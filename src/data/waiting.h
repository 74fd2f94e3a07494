// What steps with threads share: waits that can be ended, runs that a fork left without threads.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "plimsoll/data/dataset.h"
#include "plimsoll/error.h"
#include "runtime/budget_scope.h"

namespace plimsoll::data {

extern std::atomic<WaitCheck> wait_check;

// Waits until is_ready(), and now and then asks whether to go on. throws: what the check throws.
template <class F>
void wait_checked(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  F is_ready) {
  while (true) {
    const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(50);
    if (changed.wait_until(lock, until, is_ready)) return;
    if (const WaitCheck check = wait_check.load()) {
      lock.unlock();
      check();
      lock.lock();
    }
  }
}

// Waits of a thread that works ahead, until is_ready(). While its scope is held back, nobody says
// when that ends: it looks by itself.
template <class F>
void wait_ahead(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                const BudgetScopePtr& scope, F is_ready) {
  while (!is_ready()) {
    if (is_held_back(scope)) {
      changed.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(1));
    } else {
      changed.wait(lock);
    }
  }
}

// The state of a run that has threads. In a child of fork the threads are not there and locks may
// be held for ever: the child leaves the state alone.
template <class State>
class Threaded {
 public:
  template <class... A>
  explicit Threaded(A&&... args)
      : state_(new State(std::forward<A>(args)...)), process_(::getpid()) {}
  ~Threaded() {
    if (process_ == ::getpid()) delete state_;
  }
  Threaded(const Threaded&) = delete;
  Threaded& operator=(const Threaded&) = delete;

  // throws: FailedPreconditionError in a child of fork.
  State* operator->() const {
    if (process_ != ::getpid()) {
      throw FailedPreconditionError(
          "this run through a dataset was begun before fork(), and its threads are in the parent: "
          "begin a new one");
    }
    return state_;
  }

 private:
  State* const state_;
  const ::pid_t process_;
};

}  // namespace plimsoll::data
