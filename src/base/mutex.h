// A small mutex for critical sections of some tens of nanoseconds.
//
// Under contention it backs off in growing steps (so that the owner keeps its cache line and gets
// on), then sleeps in the kernel. It is one word without hidden state, so the memory layer can hold
// all of its locks across fork() and simply unlock them in the child.
#pragma once

#include <atomic>

namespace plimsoll {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slow();
  }
  bool try_lock() noexcept {
    int expected = kFree;
    return state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) [[unlikely]]
      state_.notify_one();
  }

 private:
  enum : int { kFree = 0, kHeld = 1, kHeldWithSleepers = 2 };

  void lock_slow() noexcept;

  std::atomic<int> state_{kFree};
};

}  // namespace plimsoll
