#include "base/mutex.h"

#include <sched.h>

namespace plimsoll {
namespace {

void pause_cpu() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

}  // namespace

void Mutex::lock_slow() noexcept {
  // Backing off far beyond a critical section's length lets the owner lock and unlock many times
  // without losing its cache line, which is where the throughput of a hot lock comes from.
  constexpr int kLongestPause = 256;
  constexpr int kYields = 8;
  for (int pause = 4; pause <= kLongestPause; pause *= 2) {
    for (int i = 0; i < pause; ++i) pause_cpu();
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
  }
  for (int i = 0; i < kYields; ++i) {
    sched_yield();
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
  }
  while (state_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
    state_.wait(kHeldWithSleepers, std::memory_order_relaxed);
  }
}

}  // namespace plimsoll
