// Elements computed ahead by a thread. Where memory is short, fewer of them.
#include <algorithm>
#include <deque>
#include <exception>
#include <thread>

#include "base/log.h"
#include "data/node.h"
#include "data/waiting.h"

namespace plimsoll::data {

std::atomic<WaitCheck> wait_check{nullptr};

void set_wait_check(WaitCheck check) noexcept {
  wait_check = check;
}

void check_going() {
  StopScope::check();
  if (StopScope::is_any()) return;
  using Clock = std::chrono::steady_clock;
  static constinit thread_local int num_calls = 0;
  static thread_local Clock::time_point asked = Clock::now();
  if (++num_calls % 64) return;
  const Clock::time_point now = Clock::now();
  if (now - asked < std::chrono::milliseconds(50)) return;
  asked = now;
  if (const WaitCheck check = wait_check.load()) check();
}

namespace {

// A queue of at most `capacity` elements that one thread fills and another empties.
class Queue {
 public:
  Queue(std::unique_ptr<Iterator> in, std::size_t capacity)
      : in_(std::move(in)), capacity_(capacity), scope_(share_work_scope()), thread_([this] {
          const AdoptedScope scope(scope_.get());
          const StopScope stop(is_over_);
          fill();
        }) {}
  ~Queue() {
    {
      std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::optional<Element> next() {
    std::unique_lock lock(mutex_);
    is_wanted_ = true;
    changed_.notify_all();
    wait_checked(lock, changed_, [&] { return !queue_.empty() || error_ || is_done_; });
    is_wanted_ = false;
    if (queue_.empty()) {
      if (!error_) return std::nullopt;
      const std::exception_ptr error = std::exchange(error_, nullptr);
      lock.unlock();
      changed_.notify_all();
      std::rethrow_exception(error);
    }
    Element element = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return element;
  }

 private:
  // An error comes behind what was there before it. Who asks again gets what the input then gives:
  // the same element, if there was no memory for it.
  void fill() noexcept {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wait_ahead(lock, changed_, scope_, [&] {
          const bool may_fill = !is_held_back(scope_) || (queue_.empty() && is_wanted_);
          return (queue_.size() < capacity_ && may_fill && !error_) || is_over_;
        });
        if (is_over_) break;
      }
      try {
        auto element = next_in();
        if (!element) break;
        std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(*element));
      } catch (...) {
        std::scoped_lock lock(mutex_);
        error_ = std::current_exception();
      }
      changed_.notify_all();
    }
    std::scoped_lock lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }

  // Without memory for one more: what waits goes first, and from then on fewer wait.
  std::optional<Element> next_in() {
    bool is_last_try = false;  // nobody else holds elements
    try {
      {
        std::scoped_lock lock(mutex_);
        is_last_try = queue_.empty() && is_wanted_;
      }
      return in_->next();
    } catch (const ResourceExhaustedError&) {
      if (is_last_try) throw;
      std::unique_lock lock(mutex_);
      const std::size_t fewer = std::max<std::size_t>(queue_.size(), 1);
      if (fewer < capacity_) {
        if (!std::exchange(is_said_, true))
          log_once(LogLevel::kWarning,
                   fmt::format("dataset: prefetch holds {} elements instead of {}: memory is short",
                               fewer, capacity_));
        capacity_ = fewer;
      }
      changed_.wait(lock, [&] { return (queue_.empty() && is_wanted_) || is_over_; });
      if (is_over_) return std::nullopt;
    }
    return in_->next();
  }

  const std::unique_ptr<Iterator> in_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::size_t capacity_;
  std::deque<Element> queue_;
  std::exception_ptr error_;          // what came instead of an element, behind those in the queue
  bool is_wanted_ = false;            // somebody waits for an element
  bool is_said_ = false;              // that memory is short
  bool is_done_ = false;              // nothing comes any more
  std::atomic<bool> is_over_{false};  // nobody wants any more
  const BudgetScopePtr scope_;
  std::thread thread_;
};

class PrefetchRun : public Iterator {
 public:
  PrefetchRun(std::unique_ptr<Iterator> in, std::size_t capacity)
      : queue_(std::move(in), capacity) {}
  std::optional<Element> next() override { return queue_->next(); }

 private:
  const Threaded<Queue> queue_;
};

struct PrefetchNode : DatasetNode {
  NodePtr in;
  std::size_t capacity = 1;

  std::unique_ptr<Iterator> iterate() const override {
    return std::make_unique<PrefetchRun>(in->rows() ? iterate_elements(in) : in->iterate(),
                                         capacity);
  }
  std::int64_t cardinality() const override { return in->cardinality(); }
  Holds holds(const Use& use) const override {
    Holds holds = in->holds(use.taking_more(static_cast<std::int64_t>(capacity)));
    if (use.depth == Depth::kLeast) return holds;
    // All wait, or all but one, which is being made; and somebody has another.
    holds.kept =
        std::max(holds.kept + capacity * holds.owned, (capacity - 1) * holds.owned + holds.busy);
    holds.given = holds.owned;  // others were made since
    holds.busy = holds.kept + holds.given;
    holds.keeps_last = holds.may_keep_last = false;
    holds.trust = std::max(holds.trust, Trust::kMost);
    return holds;
  }
  BatchRows batch_rows() const override { return in->batch_rows(); }
  bool can_begin_again() const override { return in->can_begin_again(); }
};

}  // namespace

NodePtr make_prefetch(NodePtr in, std::int64_t buffer_size) {
  constexpr std::size_t kChosenDepth = 2;
  auto node = std::make_shared<PrefetchNode>();
  node->in = std::move(in);
  node->capacity = buffer_size == kAutotune ? kChosenDepth : static_cast<std::size_t>(buffer_size);
  return node;
}

}  // namespace plimsoll::data
