// The background thread that gives warm pages back.
//
// It exists only while some heap has warm pages. In the child of a fork it is gone; the next free
// there starts another one.
#pragma once

#include <mutex>
#include <vector>

#include "base/mutex.h"

namespace plimsoll::memory {

class HeapImpl;

class Purger {
 public:
  static Purger& instance();  // never destroyed

  // Has the heap's purge_old() called every now and then until it says that nothing is warm.
  void add(HeapImpl* heap) noexcept;
  // pre: nothing is freed into the heap any more. Waits if the heap is being purged.
  void remove(HeapImpl* heap) noexcept;

  // For fork().
  Mutex& run_mutex() noexcept { return run_mutex_; }
  Mutex& list_mutex() noexcept { return list_mutex_; }
  void reset_in_child() noexcept;  // pre: both mutexes are held

 private:
  void run() noexcept;
  void purge_all() noexcept;
  static bool start_thread() noexcept;

  Mutex run_mutex_;  // held while a heap is purged
  Mutex list_mutex_;
  std::vector<HeapImpl*> heaps_;
  bool is_running_ = false;
};

}  // namespace plimsoll::memory
