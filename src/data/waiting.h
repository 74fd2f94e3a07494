// What steps with threads share: waits that can be ended, runs that a fork left without threads.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "plimsoll/data/dataset.h"
#include "plimsoll/error.h"
#include "runtime/budget_scope.h"

namespace plimsoll::data {

extern std::atomic<WaitCheck> wait_check;

// What ends a thread whose elements nobody wants any more. Nobody sees it.
struct Stopped : std::exception {};

// While one lives, its thread works for somebody who may want no more: that ends its loops.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>& is_over) noexcept { is_over_ = &is_over; }
  ~StopScope() { is_over_ = nullptr; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static bool is_any() noexcept { return is_over_ != nullptr; }
  // throws: Stopped.
  static void check() {
    if (is_over_ && is_over_->load(std::memory_order_relaxed)) throw Stopped();
  }

 private:
  inline static constinit thread_local const std::atomic<bool>* is_over_ = nullptr;
};

// For loops that may take many elements before they give one: asks now and then whether to go on.
// throws: Stopped, or what the check throws.
void check_going();

// Waits until is_ready(), and now and then asks whether to go on. throws: what the check throws.
template <class F>
void wait_checked(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                  F is_ready) {
  while (true) {
    const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(50);
    if (changed.wait_until(lock, until, is_ready)) return;
    StopScope::check();
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
