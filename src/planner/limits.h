// When a solve must end: time, nodes, or someone asked.
#pragma once

#include <atomic>
#include <chrono>

#include "plimsoll/planner.h"

namespace plimsoll::planner {

class Limits {
 public:
  explicit Limits(const Options& options)
      : start_(Clock::now()),
        seconds_(options.seconds),
        nodes_(options.nodes),
        stop_(options.stop) {}

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double seconds_left() const { return seconds_ - elapsed(); }
  // Safe from any thread.
  bool interrupted() const {
    return (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) || elapsed() >= seconds_;
  }
  int64_t nodes_used() const { return used_; }
  int64_t nodes_left() const { return nodes_ - used_; }
  void add_nodes(int64_t nodes) { used_ += nodes; }
  bool reached() const { return nodes_left() <= 0 || interrupted(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
  double seconds_;
  int64_t nodes_;
  int64_t used_ = 0;
  const std::atomic<bool>* stop_;
};

}  // namespace plimsoll::planner
