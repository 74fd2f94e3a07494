#include "memory/purger.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <new>

#include "memory/heap_impl.h"

namespace plimsoll::memory {
namespace {

constexpr long kPeriodMs = 60;  // how often the thread looks

}  // namespace

Purger& Purger::instance() {
  static Purger& purger = *new Purger;
  return purger;
}

bool Purger::start_thread() noexcept {
  // A small detached thread that takes no signals meant for the program.
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 256U << 10);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void*) -> void* {
        instance().run();
        return nullptr;
      },
      nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

void Purger::add(HeapImpl* heap) noexcept {
  bool is_listed = false;
  {
    std::scoped_lock lock(list_mutex_);
    try {
      if (std::find(heaps_.begin(), heaps_.end(), heap) == heaps_.end()) heaps_.push_back(heap);
      is_listed = true;
      if (is_running_) return;
      is_running_ = start_thread();
      if (is_running_) return;
    } catch (const std::bad_alloc&) {
    }
    if (is_listed) std::erase(heaps_, heap);
  }
  // No thread to be had: give everything back now rather than never.
  heap->trim();
}

void Purger::remove(HeapImpl* heap) noexcept {
  std::scoped_lock run_lock(run_mutex_);
  std::scoped_lock lock(list_mutex_);
  std::erase(heaps_, heap);
}

void Purger::purge_all() noexcept {
  std::size_t num_heaps = 0;
  {
    std::scoped_lock lock(list_mutex_);
    num_heaps = heaps_.size();
  }
  // The list may change under way; a heap that is missed now is met in the next round.
  for (std::size_t i = 0; i < num_heaps; ++i) {
    std::scoped_lock run_lock(run_mutex_);
    HeapImpl* heap = nullptr;
    {
      std::scoped_lock lock(list_mutex_);
      if (heaps_.empty()) return;
      heap = heaps_.front();
      heaps_.erase(heaps_.begin());
    }
    if (heap->purge_old()) add(heap);
  }
}

void Purger::run() noexcept {
  while (true) {
    const timespec period{0, kPeriodMs * 1000000};
    nanosleep(&period, nullptr);
    purge_all();
    std::scoped_lock lock(list_mutex_);
    if (heaps_.empty()) {
      is_running_ = false;
      return;
    }
  }
}

void Purger::reset_in_child() noexcept {
  is_running_ = false;
  heaps_.clear();
}

}  // namespace plimsoll::memory
